"""What `reprobridge run` shows of a task's output: all of it, but for the report that it prints itself."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.cli.main import main
from reprobridge.cli.run import HELD, TaskOutput
from reprobridge.errors import UsageError, ValidateError
from support.artifacts import MINIMAL, copy_of
from support.nearly_full import nearly_full

REPORT = b"lda: accuracy 98.9 percent\n  published  98.9 (Table 1)\n  evidence   /out/lda/1\n"


def shown(blocks: list[bytes], *, is_replaced: bool = True) -> bytes:
    """What a watcher sees of these blocks."""
    seen: list[bytes] = []
    output = TaskOutput("lda", seen.append)
    for block in blocks:
        output(block)
    output.close(is_replaced=is_replaced)
    return b"".join(seen)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The bytes in pieces."""
    bounds = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(bounds)]


@given(
    st.text(alphabet="lda: \n1", max_size=60)
    .map(str.encode)
    .filter(lambda text: text.endswith(b"\n") or not text),
    st.lists(st.integers(0, 300), max_size=6),
)
def test_the_launchers_report_is_left_out_however_it_arrives(before: bytes, places: list[int]) -> None:
    assert shown(cut(before + REPORT, places)) == before


def test_only_the_report_is_left_out() -> None:
    assert shown([b"lda: epoch 1\nloss 0.3\n", REPORT]) == b"lda: epoch 1\nloss 0.3\n"


@given(st.binary(max_size=80), st.lists(st.integers(0, 80), max_size=4))
def test_nothing_is_lost_when_nothing_replaces_the_report(data: bytes, places: list[int]) -> None:
    assert shown(cut(data, places), is_replaced=False) == data


@pytest.mark.parametrize(
    "line", [b"loss 0.3\n", b"lda:0.3\n", b"x lda: 1\n", b"\n", b"progress 10%\r", b"ldb"]
)
def test_a_line_that_is_no_report_is_shown_at_once(line: bytes) -> None:
    seen: list[bytes] = []
    TaskOutput("lda", seen.append)(line)
    assert b"".join(seen) == line


def test_the_middle_of_a_line_is_no_report() -> None:
    seen: list[bytes] = []
    output = TaskOutput("lda", seen.append)
    output(b"the best is ")
    output(b"lda: 3\n")
    assert b"".join(seen) == b"the best is lda: 3\n"


def test_a_task_that_prints_without_end_is_not_kept_in_memory() -> None:
    seen: list[bytes] = []
    output = TaskOutput("lda", seen.append)
    output(b"lda: x\n" + b" " * HELD)
    assert sum(map(len, seen)) > HELD


def test_an_evidence_folder_that_cannot_be_made_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    image = f"oci:{tmp_path / 'no such layout'}"
    out = ["--out", str(tmp_path / "file" / "out"), "--store", str(tmp_path / "store")]
    assert main(["run", image, "lda", *out]) == ValidateError.exit_code
    assert "the evidence cannot be written" in capsys.readouterr().err


def test_an_evidence_folder_without_room_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = f"oci:{tmp_path / 'no such layout'}"
    with nearly_full(1 << 10):
        status = main(
            ["run", image, "lda", "--out", str(tmp_path / "out"), "--store", str(tmp_path / "store")]
        )
    assert status == ValidateError.exit_code
    assert "the evidence cannot be written" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_nothing_is_made_for_an_image_that_is_not_there(tmp_path: Path) -> None:
    image = f"oci:{tmp_path / 'no such layout'}"
    status = main(["run", image, "lda", "--out", str(tmp_path / "a/b"), "--store", str(tmp_path / "store")])
    assert status == UsageError.exit_code
    assert not (tmp_path / "a").exists()


def test_an_evidence_folder_that_is_a_link_to_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("nowhere")
    image = f"oci:{tmp_path / 'no such layout'}"
    out = ["--out", str(tmp_path / "out"), "--store", str(tmp_path / "store")]
    assert main(["run", image, "lda", *out]) == ValidateError.exit_code


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("empty lda", "empty: 1 problem found\nreprobridge.yaml: "),
        ("empty", "empty: 1 problem found\nreprobridge.yaml: "),
        ("missing lda", "missing: no such image\n"),
        ("lda", ".: 1 problem found\nreprobridge.yaml: "),
    ],
)
def test_without_an_artifact_here_what_was_named_is_told(
    words: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["run", *words.split(), "--store", str(tmp_path / "store")]) == UsageError.exit_code
    assert capsys.readouterr().err.startswith(f"reprobridge: {told}")


def test_in_an_artifacts_folder_a_word_is_a_task_even_when_a_folder_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(copy_of(MINIMAL, tmp_path))
    Path("lda").mkdir()
    for words in (["lda"], ["lda", "qda"]):
        assert main(["run", *words, "--store", str(tmp_path / "store")]) == UsageError.exit_code
        told = capsys.readouterr().err
        assert told.startswith("reprobridge: no such task\n")
        assert f"found: {', '.join(words)}\n" in told
