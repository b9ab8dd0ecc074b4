"""Locking packages that have no wheel: with the real uv and an index of our own; rooms stand for real ones."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, LockError
from reprobridge.frozen import replace
from reprobridge.lock.model import LockedPython, LockedWheel
from reprobridge.lock.pypi import KeptPython
from reprobridge.lock.sdist.kept import FOLDER
from reprobridge.lock.sdist.rebuild import obtain_built
from reprobridge.lock.sdist.source import obtain_source
from reprobridge.store.store import Store
from support.build_rooms import ProjectSource
from support.file_server import FileServer
from support.git_repository import GitRepository
from support.package_index import serve_index
from support.sdist_author import CHANGING, Author, sdist
from support.specs import PLATFORM, sample_deb
from support.wheels import simple_wheel


@pytest.fixture
def author(tmp_path: Path, file_server: FileServer) -> Author:
    """An author of an artifact."""
    return Author(tmp_path, file_server)


def versions(wheels: Iterable[LockedWheel]) -> dict[str, str]:
    """Version by name."""
    return {wheel.name: wheel.version for wheel in wheels}


# releases


def test_a_release_without_a_wheel_is_built_twice_and_locked_by_all_that_it_was_made_of(
    author: Author,
) -> None:
    source = ProjectSource(name="solver", requires=("dep",))
    author.publish(source, simple_wheel("dep"))
    locked = author.lock("solver\n")
    assert versions(locked.wheels) == {"dep": "1.0", "solver": "1.0"}
    ((build, wheel),) = locked.built
    published = sdist(source)
    assert build.file is not None
    assert (build.file.name, build.file.sha256.hex, build.file.size) == (
        published.filename,
        published.sha256,
        len(published.data),
    )
    assert (build.kind, build.origin, build.index, build.commit) == ("sdist", "solver==1.0", None, None)
    assert (build.repeatable, build.base, build.requires) == (True, author.ground.digest(), ())
    assert (wheel.requested, wheel.url, wheel.index) == (True, None, None)
    assert author.doors.store.size(wheel.file.sha256) == wheel.file.size
    assert len(author.rooms.shells) == 3  # what the backend asks for, and two builds


def test_what_a_built_package_depends_on_may_have_to_be_built_itself(author: Author) -> None:
    author.publish(
        ProjectSource(name="top", requires=("middle>=1",)),
        ProjectSource(name="middle", requires=("bottom",)),
        simple_wheel("bottom"),
    )
    locked = author.lock("top\n")
    assert versions(locked.wheels) == {"bottom": "1.0", "middle": "1.0", "top": "1.0"}
    assert [build.name for build in locked.builds] == ["middle", "top"]
    assert {wheel.name for wheel in locked.wheels if wheel.requested} == {"top"}


def test_a_release_whose_requirements_cannot_be_met_gives_way_to_an_older_one(author: Author) -> None:
    author.publish(
        ProjectSource(name="solver", version="2.0", requires=("absent",)),
        ProjectSource(name="solver", version="1.0"),
    )
    assert versions(author.lock("solver\n").wheels) == {"solver": "1.0"}


def test_nothing_is_built_while_a_wheel_answers(author: Author) -> None:
    author.publish(simple_wheel("solver", "1.0"), ProjectSource(name="solver", version="2.0"))
    assert versions(author.lock("solver\n").wheels) == {"solver": "1.0"}
    assert author.rooms.shells == []


def test_an_extra_index_of_the_spec_is_noted_with_the_build(author: Author) -> None:
    index = serve_index(author.server, [sdist(ProjectSource(name="solver"))], at="/extra")
    author.publish(simple_wheel("dep"))
    (build,) = author.lock("solver\ndep\n", indexes=(index,)).builds
    assert build.index == index
    fresh = author.with_store(author.ground.folder.parent / "fresh")
    assert obtain_source(build, author.ground.folder, fresh) == build.tree


def test_equal_inputs_are_built_once_a_store(author: Author) -> None:
    author.publish(ProjectSource(name="solver"))
    first = author.lock("solver\n")
    author.rooms.shells.clear()
    assert author.lock("solver\n") == first
    assert author.rooms.shells == []


# what builds need


def test_build_requirements_are_resolved_and_locked_but_no_part_of_the_image(author: Author) -> None:
    source = ProjectSource(name="solver", build_requires=("tool<2",), wants=("asked",))
    author.publish(
        source, simple_wheel("tool", "1.0", requires=["below"]), simple_wheel("tool", "2.0"),
        simple_wheel("below"), simple_wheel("asked"),
    )  # fmt: skip
    locked = author.lock("solver\n")
    assert versions(locked.wheels) == {"solver": "1.0"}
    assert versions(locked.build_wheels) == {"asked": "1.0", "below": "1.0", "tool": "1.0"}
    (build,) = locked.builds
    assert set(build.requires) == {wheel.file.sha256 for wheel in locked.build_wheels}
    asking, *building = [versions(room.locked.python.wheels) for room in author.rooms.rooms]
    assert set(asking) == {"tool", "below"}
    assert building == [{"asked": "1.0", "below": "1.0", "tool": "1.0"}] * 2


def test_constraints_and_dates_hold_for_build_requirements_too(author: Author) -> None:
    author.publish(ProjectSource(name="solver", build_requires=("tool",)))
    tools = [simple_wheel("tool", version) for version in ("1.0", "2.0")]
    author.publish(*tools)
    assert versions(author.lock("solver\n", constraints="tool<2\n").build_wheels) == {"tool": "1.0"}
    author.publish(*tools, uploaded="2026-01-01T00:00:00Z")
    error = author.failure("solver\n", exclude_newer="2025-06-01")
    assert "solver" in str(error.where)
    assert "tool" in str(error.found)


def test_build_requirements_stay_until_they_are_upgraded(author: Author) -> None:
    source = ProjectSource(name="solver", build_requires=("tool",))
    author.publish(source, simple_wheel("tool", "1.0"))
    before = author.lock("solver\n")
    author.publish(simple_wheel("tool", "1.0"), simple_wheel("tool", "2.0"), simple_wheel("other"))
    kept = author.lock("solver\nother\n", KeptPython.of(before, ()))
    assert versions(kept.build_wheels) == {"tool": "1.0"}
    upgraded = author.lock("solver\nother\n", KeptPython.of(before, ("solver",)))
    assert versions(upgraded.build_wheels) == {"tool": "2.0"}


def test_a_build_requirement_without_a_wheel_is_refused_with_the_package_that_needs_it(
    author: Author,
) -> None:
    author.publish(ProjectSource(name="solver", build_requires=("tool",)), ProjectSource(name="tool"))
    error = author.failure("solver\n")
    assert ("solver" in str(error.where), "tool" in str(error.found)) == (True, True)


# sources that requirements name


def test_a_folder_is_built_and_an_edit_of_it_makes_the_lock_stale(author: Author) -> None:
    folder = ProjectSource(name="ours", requires=("dep", "more; extra == 'plot'")).write(
        author.ground.folder / "libs/ours"
    )
    author.publish(simple_wheel("dep"), simple_wheel("more"))
    locked = author.lock("./libs/ours\n./absent ; python_version < '3'\n")
    assert versions(locked.wheels) == {"dep": "1.0", "ours": "1.0"}
    assert {wheel.name for wheel in locked.wheels if wheel.requested} == {"ours"}
    (build,) = locked.builds
    assert (build.kind, build.origin, build.file) == ("path", "libs/ours", None)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/x.pyc").write_text("")
    assert author.stale(locked) == []
    (folder / "new.py").write_text("x = 1\n")
    assert author.stale(locked) == [f"platforms.{PLATFORM}.python.builds.ours.tree"]


def test_a_folder_that_is_not_there_is_refused_with_the_line_that_names_it(author: Author) -> None:
    with pytest.raises(LockError, match="no such folder to build") as caught:
        author.lock("# ours\n./nothere\n")
    assert str(caught.value.where).endswith(", line 2")


def test_a_link_out_of_a_packages_folder_is_refused_with_what_can_be_done(author: Author) -> None:
    folder = ProjectSource(name="ours").write(author.ground.folder / "ours")
    (folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(ArtifactError, match="'link': one to /etc/passwd") as caught:
        author.lock("./ours\n")
    assert "move it out" in str(caught.value.hint)


def test_extras_of_a_folder_are_followed(author: Author) -> None:
    extra = ProjectSource(name="ours", requires=("more ; extra == 'plot'",))
    extra.write(author.ground.folder / "ours")
    author.publish(simple_wheel("more"))
    assert versions(author.lock("./ours[plot]\n").wheels) == {"more": "1.0", "ours": "1.0"}


def test_a_commit_is_built_below_its_subdirectory(author: Author, tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "repository")
    ProjectSource(name="ours").write(repository.folder / "py")
    commit, url = repository.commit(), repository.url
    (build,) = author.lock(f"git+{url}@{commit}#subdirectory=py\n").builds
    assert (build.kind, build.origin, build.commit, build.subdirectory) == ("git", url, commit, "py")
    fresh = author.with_store(tmp_path / "fresh")
    assert obtain_source(build, author.ground.folder, fresh) == build.tree


def test_an_sdist_at_an_address_is_built_when_it_has_the_digest_that_is_asked_for(author: Author) -> None:
    made = sdist(ProjectSource(name="ours"))
    url = author.server.put("/ours-1.0.tar.gz", made.data)
    assert author.lock(f"ours @ {url}#sha256={made.sha256}\n").builds == author.lock(f"ours @ {url}\n").builds
    (build,) = author.lock(f"ours @ {url}\n").builds
    assert build.file is not None
    assert (build.kind, build.origin, build.file.sha256.hex) == ("archive", url, made.sha256)
    with pytest.raises(ArtifactError, match="sha256:00"):
        author.answer(f"ours @ {url}#sha256={'00' * 32}\n")


def test_a_source_that_builds_another_project_is_refused(author: Author) -> None:
    url = author.server.put("/ours-1.0.tar.gz", sdist(ProjectSource(name="other")).data)
    error = author.failure(f"ours @ {url}\n")
    assert (error.expected, error.found) == ("ours", "other")


@pytest.mark.parametrize("tag", ["cp313-cp313-linux_x86_64", "cp311-cp311-linux_aarch64"])
def test_a_wheel_for_another_interpreter_or_machine_is_refused(author: Author, tag: str) -> None:
    ProjectSource(name="ours", tag=tag).write(author.ground.folder / "ours")
    error = author.failure("./ours\n")
    assert tag in str(error.found)


def test_two_requirements_for_one_project_are_refused(author: Author) -> None:
    for name in ("a", "b"):
        ProjectSource(name="ours").write(author.ground.folder / name)
    assert author.failure("./a\n./b\n").found == "ours"


def test_another_base_system_makes_the_build_stale(author: Author) -> None:
    author.publish(ProjectSource(name="solver"))
    locked = author.lock("solver\n")
    assert author.stale(locked) == []
    extra = replace(author.ground.debian, extra=(sample_deb("gcc"),))
    author.ground = replace(author.ground, debian=extra)
    assert author.stale(locked) == [f"platforms.{PLATFORM}.python.builds.solver.base"]


# building again


def rebuild(author: Author, locked: LockedPython, store: Path, **settings: str) -> Store:
    """Have the built wheels in another store."""
    doors = author.with_store(store, **settings)
    obtain_built(locked, {wheel.file.sha256 for wheel in locked.wheels}, author.ground, doors)
    return doors.store


def test_an_empty_store_builds_the_locked_wheel_again(author: Author, tmp_path: Path) -> None:
    author.publish(ProjectSource(name="solver", build_requires=("tool",)), simple_wheel("tool"))
    locked = author.lock("solver\n")
    author.rooms.rooms.clear()
    assert rebuild(author, locked, tmp_path / "other").has(locked.wheels[0].file.sha256)
    (room,) = author.rooms.rooms
    assert room.locked.python.wheels == locked.build_wheels


def test_a_wheel_that_comes_out_different_is_refused(author: Author, tmp_path: Path) -> None:
    author.publish(ProjectSource(name="solver"))
    locked = author.lock("solver\n")
    wheel = locked.wheels[0]
    other = replace(wheel, file=replace(wheel.file, sha256=Digest.of(b"other")))
    with pytest.raises(LockError, match=str(wheel.file.sha256)):
        rebuild(author, replace(locked, wheels=(other,)), tmp_path / "other")


def test_a_vendored_wheel_is_taken_without_building(author: Author, tmp_path: Path) -> None:
    author.publish(ProjectSource(name="solver"))
    locked = author.lock("solver\n")
    file = locked.wheels[0].file
    folder = tmp_path / "vendor"
    folder.mkdir()
    (folder / file.name).write_bytes(author.doors.store.read(file.sha256))
    author.rooms.rooms.clear()
    rebuild(author, locked, tmp_path / "other", REPROBRIDGE_VENDOR=str(folder))
    assert author.rooms.rooms == []


def test_an_edited_folder_is_not_built_for_an_old_lock(author: Author, tmp_path: Path) -> None:
    folder = ProjectSource(name="ours").write(author.ground.folder / "ours")
    locked = author.lock("./ours\n")
    (folder / "new.py").write_text("")
    with pytest.raises(LockError, match="not the locked one"):
        rebuild(author, locked, tmp_path / "other")


def test_what_two_builds_make_differently_is_kept_beside_the_lock_and_said(
    author: Author, tmp_path: Path
) -> None:
    author.publish(ProjectSource(name="dice", code=CHANGING))
    locked, warnings = author.answer("dice\n")
    ((build, wheel),) = locked.built
    assert not build.repeatable
    (warning,) = warnings
    assert "dice.py" in warning
    beside = author.ground.folder / FOLDER / wheel.file.name
    assert Digest.of(beside.read_bytes()) == wheel.file.sha256
    author.rooms.rooms.clear()
    assert rebuild(author, locked, tmp_path / "other").has(wheel.file.sha256)
    assert author.rooms.rooms == []
    beside.unlink()
    with pytest.raises(LockError, match="cannot be built again"):
        rebuild(author, locked, tmp_path / "third")


def test_what_cannot_be_built_again_stays_while_its_inputs_do(author: Author, tmp_path: Path) -> None:
    author.publish(ProjectSource(name="dice", code=CHANGING), simple_wheel("other"))
    before, _ = author.answer("dice\n")
    author.doors = author.with_store(tmp_path / "another machine")
    kept = author.lock("dice\nother\n", KeptPython.of(before, ()))
    assert kept.builds == before.builds
    assert set(before.wheels) < set(kept.wheels)
    upgraded, warnings = author.answer("dice\nother\n", KeptPython.of(before, ("dice",)))
    assert len(warnings) == 1
    assert upgraded.wheels[0].file != before.wheels[0].file


def test_a_folders_build_requirements_stay_when_it_is_edited(author: Author) -> None:
    folder = ProjectSource(name="ours", build_requires=("tool",)).write(author.ground.folder / "ours")
    author.publish(simple_wheel("tool", "1.0"))
    before = author.lock("./ours\n")
    author.publish(simple_wheel("tool", "1.0"), simple_wheel("tool", "2.0"))
    (folder / "new.py").write_text("")
    assert versions(author.lock("./ours\n", KeptPython.of(before, ())).build_wheels) == {"tool": "1.0"}
