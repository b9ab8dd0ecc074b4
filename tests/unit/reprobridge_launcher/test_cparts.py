"""The C halves give what the public modules give."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reprobridge_launcher
from reprobridge_launcher import cparts

BUILDER = Path(reprobridge_launcher.__file__).parent.parent

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_what_is_written_reads_as_the_same_in_both_implementations(value: object) -> None:
    text = cparts.json_text(value)
    assert json.loads(text) == value
    assert cparts.read_json(text) == value
    assert cparts.read_json(json.dumps(value, indent=1)) == value
    assert text.isascii()


@pytest.mark.parametrize("broken", ["", "{", "[1,]", '{"a": 1} x', "nul", '"\n"', "[1 2]", "{'a': 1}"])
def test_broken_json_is_an_error_here_and_in_the_public_module(broken: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        json.loads(broken)
    with pytest.raises(ValueError, match=r"."):
        cparts.read_json(broken)


@pytest.mark.parametrize("cut", ["{", '{"a":1', '{"a": [{"b": "x', "[1", '"a', "tru"])
def test_cut_json_is_a_value_error_where_nobody_imported_json(cut: str) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from reprobridge_launcher import cparts\n"
        "assert 'json' not in sys.modules\n"
        "try: cparts.read_json(sys.argv[2])\n"
        "except ValueError as error: print(error)\n"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(BUILDER), cut]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert "char" in result.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": [1, -2.5e3, true, null, "\\u00e9"], "b": {"c": NaN}}', "value"),
        ("[1 2]", "error"),
        ('{"a": 1, "b": 2, "a": 3}', "error"),
        *((text, "error") for text in ("", "{", '{"a":1', "[1,", '"a', "tru", '{"a": 1} x')),
    ],
)
def test_an_interpreter_without_the_c_scanner_reads_and_refuses_the_same(text: str, said: str) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "if sys.argv[3] == 'hidden': sys.modules['_json'] = None\n"
        "from reprobridge_launcher import cparts\n"
        "try: print('value', repr(cparts.read_json(sys.argv[2])))\n"
        "except ValueError as error: print('error')\n"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(BUILDER), text]
    hidden, usual = (
        subprocess.run([*command, how], capture_output=True, text=True, check=True).stdout
        for how in ("hidden", "usual")
    )
    assert hidden == usual
    assert hidden.startswith(said)


def test_an_interpreter_without_the_c_scanner_measures_what_stands_in_json(tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs/r.json").write_text('{"x/y": [{"a": "\\u00e9"}, {"a": 98.5}], "b": [1, 2]}')
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.modules['_json'] = None\n"
        "from reprobridge_launcher import extraction\n"
        "rule = {'kind': 'json', 'file': 'r.json', 'json': '/x~1y/1/a'}\n"
        "print(extraction.extract(extraction.parse(rule, 'extract'), sys.argv[2]).value)\n"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(BUILDER), str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("98.5\n", "")


def test_a_name_that_occurs_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="a occurs twice"):
        cparts.read_json('{"a": 1, "b": {}, "a": 2}')


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_cannot_say_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON has no"):
        cparts.json_text({"x": value})


PATTERNS = [r"accuracy: (?P<value>[0-9.]+)", r"(?im)^acc\s*=\s*(?P<value>\d+)$", r"é(?P<value>.)|x"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_match_as_those_of_re_do_without_importing_it(pattern: str) -> None:
    text = "ACC = 5\naccuracy: 0.93 accuracy: 1\né7 x\n".encode()
    expected = [(m.span("value"), m.group()) for m in re.finditer(pattern.encode(), text)]
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from reprobridge_launcher import cparts\n"
        "pattern = cparts.compile_bytes_pattern(sys.argv[2])\n"
        "text = sys.argv[3].encode()\n"
        "print([(m.span('value'), m.group()) for m in pattern.finditer(text)])\n"
        "assert 're' not in sys.modules and 'enum' not in sys.modules, 'costly modules were imported'\n"
        "import re; assert re.search('a', 'ba') and re.IGNORECASE\n"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(BUILDER), pattern, text.decode()]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert result.stdout.strip() == repr(expected)


@pytest.mark.parametrize("pattern", ["(", "*", "(?P<value>", "[z-a]", "a{5,2}"])
def test_a_broken_pattern_is_a_value_error(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        cparts.compile_bytes_pattern(pattern)


@pytest.mark.parametrize("size", [0, 1, cparts.ONE_PIECE - 1, cparts.ONE_PIECE + 1])
def test_digest_and_size_of_files_are_those_of_hashlib(tmp_path: Path, size: int) -> None:
    data = b"x" * size
    (tmp_path / "f").write_bytes(data)
    assert cparts.file_digest(str(tmp_path / "f")) == (hashlib.sha256(data).hexdigest(), size)
