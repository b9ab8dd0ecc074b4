"""YAML files become trees of texts; what the format has no use for is refused with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.spec.named import LARGEST_FILE
from reprobridge.spec.nodes import Entries, Node, Scalar, Sequence, is_null
from reprobridge.spec.tree import LARGEST, BrokenYamlError
from reprobridge.spec.yaml_tree import DEEPEST, read_tree
from support.artifact_on_disk import ArtifactOnDisk


def refusal(data: bytes) -> str:
    """The problem of a broken file, in one line."""
    with pytest.raises(BrokenYamlError) as caught:
        read_tree(data, "x.yaml")
    return str(caught.value.problem)


def test_places_and_lines_are_those_of_the_file() -> None:
    root = read_tree(b'a:\n  - b: 1\n    "c d": 2\n  - x\n', "x.yaml")
    assert root == Entries(
        "",
        1,
        {
            "a": Sequence(
                "a",
                2,
                (
                    Entries(
                        "a[0]",
                        2,
                        {
                            "b": Scalar("a[0].b", 2, "1", plain=True),
                            "c d": Scalar('a[0]["c d"]', 3, "2", plain=True),
                        },
                    ),
                    Scalar("a[1]", 4, "x", plain=True),
                ),
            )
        },
    )


@pytest.mark.parametrize(
    ("text", "null"),
    [
        ("a:", True),
        ("a: ~", True),
        ("a: null", True),
        ("a: 'null'", False),
        ("a: ''", False),
        ("a: no", False),
    ],
)
def test_only_plain_nothing_is_null(text: str, null: bool) -> None:
    root = read_tree(text.encode(), "x.yaml")
    assert isinstance(root, Entries)
    assert is_null(root.items["a"]) is null


@pytest.mark.parametrize(
    ("data", "where", "found"),
    [
        (b"a: 1\nb: 2\na: 3\n", "x.yaml, line 3, column 1", '"a" again (first in line 1)'),
        (b"a: &x [1]\nb: *x\n", "x.yaml, line 1, column 4", "the YAML anchor &x"),
        (b"a: *x\n", "x.yaml, line 1, column 4", "the YAML reference *x"),
        (b"&a [*a]\n", "x.yaml, line 1, column 1", "the YAML anchor &a"),
        (b"a: !!python/object:os.system x\n", "x.yaml, line 1, column 4", "python/object"),
        (b"a: 1\n---\nb: 2\n", "x.yaml, line 2, column 1", "a second one"),
        (b"", "x.yaml, line 1, column 1", "an empty file"),
        (b"# nothing\n", "x.yaml", "an empty file"),
        (b"[a]: b\n", "x.yaml, line 1, column 1", "a list or mapping as key"),
        (b"a: [\n", "x.yaml, line 2, column 1", "did not find"),
        (b"a: b: c\n", "x.yaml, line 1, column 5", "mapping values are not allowed"),
        (b"a: 1\n\tb: 2\n", "x.yaml, line 2", ""),
        (b"a: 1\nb: \x01\n", "x.yaml, line 2", "control characters are not allowed"),
        (b"a: 1\nb: \xff\n", "x.yaml", "the byte 0xff in line 2"),
        ("a: 1".encode("utf-16"), "x.yaml", "the byte 0xff in line 1"),
        (b"[" * (DEEPEST + 2) + b"]" * (DEEPEST + 2), "x.yaml, line 1", "more"),
        (b"[" * 100_000, "x.yaml, line 1", ""),
        (b"#" * (LARGEST + 1), "x.yaml", f"{LARGEST + 1} bytes"),
    ],
)
def test_what_the_format_has_no_use_for_is_refused_with_its_line(data: bytes, where: str, found: str) -> None:
    text = refusal(data)
    assert text.startswith(where)
    assert found in text.partition("found ")[2]


def test_a_file_of_which_only_the_head_was_read_is_not_told_the_heads_size() -> None:
    assert "at most 1 MiB, found more than 16 MiB" in refusal(b"#" * (LARGEST_FILE + 1))


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (rb'a: "C:\x"', "use single quotes"),
        (rb'a: "\ud800"', "use single quotes"),
        (b'a: 1\nb: "x\n\n', "close the quote that opens in line 2"),
        (b"a: 'it's'\n", "'' is one within '"),
        (b"a:\n  - b\n c: 1\n", "in one column"),
        (b"- a\nb: 1\n", "in one column"),
        (b"a: [1,\n", "close each bracket"),
        (b"a: {b: c: d}\n", "close each bracket"),
        (b"%YAML 2.0\n---\na: 1\n", "take the line with %YAML out"),
        (b"%FOO bar\n---\na: 1\n", "take the line with % out"),
        (b"a: b\n...\nc: d\n", "take the line with ... out"),
        (b"a: @x\n", "quote a value"),
        (b"a: b: c\n", "quote a value"),
        ("a: 1\nb: c\u2028d\ne: f\n".encode(), "in place of U+2028 (LINE SEPARATOR) in line 2"),
        ("a: c\x85d\ne: f\n".encode(), "in place of U+0085 (which has no name) in line 1"),
        ("a:\n  b: c\n\xa0\xa0d: e\n  f: g\n".encode(), "in place of U+00A0 (NO-BREAK SPACE) in line 3"),
        ("a: |\n  b\n  \xa0c\nd: e\nf: g\nh: i: j\n".encode(), "quote a value"),
    ],
)
def test_a_syntax_error_advises_what_helps_against_it(data: bytes, hint: str) -> None:
    text = refusal(data)
    assert hint in text.partition("hint: ")[2]
    assert "found found" not in text


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert read_tree(b"\xef\xbb\xbfa: 1\n", "x.yaml") == read_tree(b"a: 1\n", "x.yaml")


def test_long_keys_do_not_make_long_places() -> None:
    root = read_tree(b"? " + b"k" * 10_000 + b"\n: [x]\n", "x.yaml")
    assert isinstance(root, Entries)
    (value,) = root.items.values()
    assert len(value.place) < 100


def test_a_syntax_error_is_the_one_problem_of_a_specification(artifact: ArtifactOnDisk) -> None:
    assert artifact.problem("schema: [\n").where == "reprobridge.yaml, line 2, column 1"


@pytest.mark.parametrize("text", ["just text", "[1, 2]", "''"])
def test_a_specification_is_a_mapping(artifact: ArtifactOnDisk, text: str) -> None:
    problem = artifact.problem(text)
    assert (problem.where, problem.expected) == ("reprobridge.yaml", "a mapping")


def texts(node: Node) -> object:
    """A tree without places."""
    match node:
        case Scalar():
            return node.text
        case Sequence():
            return [texts(item) for item in node.items]
        case Entries():
            return {key: texts(item) for key, item in node.items.items()}


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co")), max_size=8)


@given(
    st.recursive(
        WORDS, lambda x: st.lists(x, max_size=3) | st.dictionaries(WORDS, x, max_size=3), max_leaves=8
    )
)
def test_json_with_texts_is_read_as_it_is(value: object) -> None:
    import json

    def depth(value: object) -> int:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return 1 + max(map(depth, inner), default=0)

    data = json.dumps(value, ensure_ascii=False).encode()
    if depth(value) <= DEEPEST and "\\" not in data.decode():
        assert texts(read_tree(data, "x.yaml")) == value


def test_a_tab_is_called_by_its_name() -> None:
    assert "tabs" in refusal(b"a:\n\tb: 1\n")
    assert "tabs" not in refusal(b"a:\n  b: @x\n")
