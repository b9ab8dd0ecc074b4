"""The place where a command runs."""

import os
from pathlib import Path

import pytest

from reprobridge_launcher import cparts, inventory, workspace
from reprobridge_launcher.extraction import parse as parse_extractor
from reprobridge_launcher.layout import Layout, of_root
from reprobridge_launcher.manifest import Environment
from support.file_times import let_it_tick
from support.nearly_full import nearly_full
from support.ordinary_user import as_ordinary_user, ordinary_folder

EXTRACTOR = parse_extractor({"kind": "json", "file": "results/*.json", "json": "/a"}, "extract")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    code = tmp_path / "rra" / "code"
    (code / "results").mkdir(parents=True)
    (code / "results/old.json").write_text('{"a": 1}')
    (code / "run.sh").write_text("#!/bin/sh\n")
    (code / "run.sh").chmod(0o555)
    (code / "link").symlink_to("run.sh")
    return of_root(str(tmp_path / "rra"))


@pytest.fixture
def space(layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> workspace.Workspace:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return workspace.prepare(layout, EXTRACTOR)


def test_the_copy_is_writable_executable_and_linked_as_the_original(space: workspace.Workspace) -> None:
    code = Path(space.code)
    assert (code / "link").readlink() == Path("run.sh")
    assert (code / "run.sh").stat().st_mode & 0o777 == 0o755
    with (code / "run.sh").open("a") as stream:
        stream.write("# mine")


def test_its_tree_is_that_of_the_original(space: workspace.Workspace, layout: Layout) -> None:
    code = Path(layout.code)
    digest = cparts.file_digest
    entries = [
        inventory.file_entry("/c/results/old.json", 0o644, digest(str(code / "results/old.json"))[0]),
        inventory.file_entry("/c/run.sh", 0o555, digest(str(code / "run.sh"))[0]),
        inventory.link_entry("/c/link", "run.sh"),
    ]
    assert space.tree == inventory.tree_digest(entries, "/c")


class TestHarvest:
    def test_results_that_were_shipped_are_no_results(
        self, space: workspace.Workspace, tmp_path: Path
    ) -> None:
        workspace.harvest(space, EXTRACTOR, str(tmp_path / "outputs"))
        assert not (tmp_path / "outputs").exists()

    def test_a_touched_time_does_not_hide_a_rewritten_file(
        self, space: workspace.Workspace, tmp_path: Path
    ) -> None:
        path = Path(space.code) / "results/old.json"
        status = path.stat()
        let_it_tick(tmp_path)
        path.write_text('{"a": 2}')
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        workspace.harvest(space, EXTRACTOR, str(tmp_path / "outputs"))
        assert (tmp_path / "outputs/results/old.json").read_text() == '{"a": 2}'

    def test_a_result_in_the_outputs_wins(self, space: workspace.Workspace, tmp_path: Path) -> None:
        (Path(space.code) / "results/new.json").write_text("{}")
        (tmp_path / "outputs/results").mkdir(parents=True)
        (tmp_path / "outputs/results/mine.json").write_text("{}")
        workspace.harvest(space, EXTRACTOR, str(tmp_path / "outputs"))
        assert [path.name for path in (tmp_path / "outputs/results").iterdir()] == ["mine.json"]


def test_only_declared_variables_reach_a_task(
    space: workspace.Workspace, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/evil")
    monkeypatch.setenv("LD_PRELOAD", "/evil.so")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    environment = Environment(
        python="/opt/env/bin/python",
        variables=(("A", "b"), ("LANG", "de")),
        locks=(),
        distributions=(),
        gpu=None,
    )
    made = dict(workspace.variables(environment, layout, space, {"RRA_OUT": "/o"}))
    assert made["PATH"].startswith("/opt/env/bin:/usr/local/sbin:")
    assert (made["A"], made["LANG"], made["RRA_OUT"], made["CUDA_VISIBLE_DEVICES"]) == ("b", "de", "/o", "1")
    assert not {"PYTHONPATH", "LD_PRELOAD"} & set(made)
    caches = [made[variable] for variable, _part in workspace.CACHES]
    assert all(path.startswith(space.folder + "/home/") for path in caches)


def test_what_looks_for_xdgs_folders_finds_them_where_their_defaults_are(
    space: workspace.Workspace, layout: Layout
) -> None:
    environment = Environment(python=None, variables=(), locks=(), distributions=(), gpu=None)
    made = dict(workspace.variables(environment, layout, space, {}))
    folders = {name: path for name, path in made.items() if name.startswith("XDG_")}
    defaults = {"CACHE": ".cache", "CONFIG": ".config", "DATA": ".local/share", "STATE": ".local/state"}
    assert folders == {f"XDG_{name}_HOME": f"{made['HOME']}/{path}" for name, path in defaults.items()}


def test_a_relative_temporary_folder_is_that_of_the_launcher_and_not_of_the_task(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", "scratch")
    assert workspace.prepare(layout, None).folder.startswith(f"{tmp_path}/scratch/rra-")


def test_a_copy_that_does_not_fit_is_no_copy(tmp_path: Path) -> None:
    (tmp_path / "whole").write_bytes(b"x" * 3000)
    with nearly_full(1000), pytest.raises(OSError, match="too large"):
        workspace.copy_file(str(tmp_path / "whole"), str(tmp_path / "copy"))


def test_code_that_does_not_fit_leaves_no_scratch(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (Path(layout.code) / "big").write_bytes(b"x" * 3000)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    with nearly_full(1000), pytest.raises(OSError, match="too large"):
        workspace.prepare(layout, None)
    assert list(scratch.iterdir()) == []


def test_scratch_is_removed_with_folders_that_their_owner_may_not_change() -> None:
    def left() -> list[str]:
        place = folder / "scratch"
        for name, mode in (("read-only", 0o555), ("closed", 0)):
            (place / name / "inner").mkdir(parents=True)
            (place / name / "file").touch()
            (place / name).chmod(mode)
        workspace.remove(str(place))
        return [path.name for path in folder.iterdir()]

    with ordinary_folder() as folder:
        assert as_ordinary_user(left) == []


def test_scratch_is_removed_with_links_and_without_following_them(
    space: workspace.Workspace, tmp_path: Path
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_text("")
    (Path(space.code) / "out").symlink_to(tmp_path / "kept")
    workspace.remove(space.folder)
    assert not Path(space.folder).exists()
    assert (tmp_path / "kept/file").exists()
