"""`reprobridge init`: a new artifact that is right as it is."""

from pathlib import Path

import pytest

from reprobridge.errors import UsageError
from reprobridge.spec.parse import read_spec
from reprobridge.spec.scaffold import create_artifact


def tree(folder: Path) -> list[str]:
    """Files below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_new_artifact_has_all_its_parts_and_its_name(tmp_path: Path) -> None:
    create_artifact(tmp_path / "my-paper", today="2026-01-31")
    assert tree(tmp_path / "my-paper") == [
        "GUIDE.md",
        "README.md",
        "reprobridge.yaml",
        "requirements.in",
        "src/points.csv",
        "src/run.py",
    ]
    spec = read_spec(tmp_path / "my-paper")
    assert spec.paper.id == "my-paper"
    assert spec.decisions.ambiguities[0].decided == "2026-01-31"
    assert all(task.smoke for task in spec.tasks)


def test_a_new_artifact_is_the_same_each_time(tmp_path: Path) -> None:
    for place in ("one", "two"):
        create_artifact(tmp_path / place / "my-paper", today="2026-01-31")
    assert read_spec(tmp_path / "one/my-paper") == read_spec(tmp_path / "two/my-paper")


def test_nothing_stays_beside_it_and_the_home_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    create_artifact(tmp_path / "work/my-paper", today="2026-01-31")
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["my-paper"]
    assert list(home.iterdir()) == []


def test_a_way_through_a_folder_that_is_not_there_does_not_make_it(tmp_path: Path) -> None:
    create_artifact(tmp_path / "a" / ".." / "my-paper", today="2026-01-31")
    assert [path.name for path in tmp_path.iterdir()] == ["my-paper"]
    with pytest.raises(UsageError, match="exists already"):
        create_artifact(tmp_path / "a" / ".." / "my-paper", today="2026-01-31")


def test_a_way_through_a_linked_folder_leads_where_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "far/away").mkdir(parents=True)
    (tmp_path / "a").symlink_to("far/away")
    create_artifact(tmp_path / "a" / ".." / "my-paper", today="2026-01-31")
    assert (tmp_path / "far/my-paper/reprobridge.yaml").is_file()


@pytest.mark.parametrize("name", ["My-Paper", "a_b", "-a", "a--b", "a b", "ä", "..", "{{x}}"])
def test_a_name_that_no_image_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        create_artifact(tmp_path / name, today="2026-01-31")
    assert caught.value.found == name
    assert caught.value.hint is not None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link"])
def test_what_exists_is_left_alone(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "my-paper"
    if kind == "folder":
        target.mkdir()
    elif kind == "file":
        target.write_text("mine")
    else:
        target.symlink_to("nowhere")
    with pytest.raises(UsageError, match="exists already"):
        create_artifact(target, today="2026-01-31")
    assert [path.name for path in tmp_path.iterdir()] == ["my-paper"]
    assert not (target.is_dir() and list(target.iterdir()))


def test_a_place_where_nothing_can_be_made_is_an_error_with_its_reason_and_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="can't be made") as caught:
        create_artifact(tmp_path / "file/my-paper", today="2026-01-31")
    assert caught.value.where == str(tmp_path / "file/my-paper")
    assert caught.value.found
    assert "`reprobridge init FOLDER/my-paper`" in str(caught.value.hint)
