"""What happens in a build room and what is taken out of it; the room itself stands for a real one."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.frozen import replace
from reprobridge.lock.doors import Doors
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.sdist.ground import Ground, Room
from reprobridge.lock.sdist.project import read_build_system
from reprobridge.lock.sdist.room import EPOCH, Project, ask_requirements, build_once
from support.build_rooms import HostRooms, ProjectSource, keep_files
from support.lock_doors import doors as make_doors
from support.lock_doors import temporary_files
from support.specs import PLATFORM, sample_deb, sample_lock, sample_wheel

TARGET = PythonTarget(version="3.11", architecture="x86_64", glibc=(2, 36), interpreter="/usr/bin/python3.11")
GROUND = Ground(
    template="debian12-py311",
    platform=PLATFORM,
    debian=sample_lock().platforms[PLATFORM].debian,
    target=TARGET,
    folder=Path(),
)


@pytest.fixture
def rooms() -> HostRooms:
    """Rooms on this machine."""
    return HostRooms()


@pytest.fixture
def doors(store_folder: Path, rooms: HostRooms) -> Doors:
    """Doors to them."""
    return replace(make_doors(store_folder), rooms=rooms)


def project(doors: Doors, source: ProjectSource) -> Project:
    """A project in the store."""
    tree = keep_files(doors.store, source.files())
    system = read_build_system(doors.store, tree, None, "x 1.0")
    return Project(title="x 1.0", tree=tree, subdirectory=None, system=system)


def built_code(doors: Doors, code: str) -> str:
    """What a backend sees, by the text of the module that it writes."""
    import zipfile

    _, wheel = build_once(project(doors, ProjectSource(name="x", code=code)), GROUND.room(()), doors)
    with zipfile.ZipFile(doors.store.path(wheel)) as archive:
        return archive.read("x.py").decode()


def test_a_wheel_is_built_and_kept_and_nothing_else_stays(doors: Doors) -> None:
    name, wheel = build_once(project(doors, ProjectSource(name="x")), GROUND.room(()), doors)
    assert name == "x-1.0-py3-none-any.whl"
    assert doors.store.has(wheel)
    assert temporary_files(doors.store.root) == []


def test_equal_sources_give_equal_bytes_whatever_the_time_and_the_host(doors: Doors) -> None:
    code = "repr((os.getcwd()[-12:], sorted((p, os.stat(p).st_mode, os.stat(p).st_mtime) for p in os.listdir('.'))))"
    old = os.umask(0o077)
    try:
        closed = built_code(doors, code)
    finally:
        os.umask(old)
    assert built_code(doors, code) == closed
    assert closed.count(str(float(EPOCH))) == 2


def test_the_environment_is_fixed(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFLAGS", "-O9")
    names = built_code(doors, "' '.join(sorted(os.environ))").split()
    assert set(names) - {"LC_CTYPE"} == {
        "HOME", "LANG", "LC_ALL", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONNOUSERSITE",
        "SOURCE_DATE_EPOCH", "TZ",
    }  # fmt: skip
    assert built_code(doors, "os.environ['SOURCE_DATE_EPOCH'] + os.environ['PYTHONHASHSEED']") == f"{EPOCH}0"


def test_a_build_has_no_network_and_sees_nothing_of_the_host_but_its_own_files(
    doors: Doors, rooms: HostRooms
) -> None:
    build_once(project(doors, ProjectSource(name="x")), GROUND.room(()), doors)
    (shell,) = rooms.shells
    assert not shell.network
    assert sorted(shell.readonly) == ["/build/frontend.py", "/build/job.json", "/build/source.tar"]
    assert sorted(shell.writable) == ["/build/work"]
    assert shell.timeout is not None


def test_what_the_backend_asks_for_is_told(doors: Doors) -> None:
    found = ask_requirements(project(doors, ProjectSource(name="x", wants=("a>=1",))), GROUND.room(()), doors)
    assert found == ("a>=1",)


def test_a_backend_that_fails_shows_its_words(doors: Doors) -> None:
    with pytest.raises(LockError, match="unlucky"):
        build_once(
            project(doors, ProjectSource(name="x", code="1/0 if 'unlucky' else ''")), GROUND.room(()), doors
        )


def _link(work: Path) -> None:
    secret = work.parent / "secret"
    secret.write_text("secret")
    for path in work.glob("*.whl"):
        path.unlink()
        path.symlink_to(secret)


def _pipe(work: Path) -> None:
    for path in work.glob("*.whl"):
        path.unlink()
        os.mkfifo(path)


@pytest.mark.parametrize(
    "hostile",
    [
        _link,
        _pipe,
        lambda work: (work / "result.json").write_text('"../../x.whl"'),
        lambda work: (work / "result.json").write_text('"absent.whl"'),
        lambda work: (work / "result.json").write_text('"job.json"'),
        lambda work: (work / "result.json").write_text("[1]"),
        lambda work: (work / "result.json").write_text("{"),
        lambda work: (work / "result.json").write_text(r'"\u0000.whl"'),
        lambda work: (work / "result.json").write_text('"' + "x" * (2 << 20)),
        lambda work: (work / "result.json").unlink(),
    ],
)
def test_a_hostile_answer_is_refused_and_no_link_is_followed(
    doors: Doors, rooms: HostRooms, hostile: Callable[[Path], object]
) -> None:
    rooms.after = hostile
    made = project(doors, ProjectSource(name="x"))
    blobs = set(doors.store.root.rglob("blobs/*/*"))
    with pytest.raises(LockError, match=r"x 1\.0"):
        build_once(made, GROUND.room(()), doors)
    assert set(doors.store.root.rglob("blobs/*/*")) == blobs
    assert temporary_files(doors.store.root) == []


def test_without_rooms_nothing_is_built(store_folder: Path) -> None:
    doors = make_doors(store_folder)
    with pytest.raises(LockError, match="nothing can be built"):
        build_once(project(doors, ProjectSource(name="x")), GROUND.room(()), doors)


def test_a_room_is_known_by_all_that_reaches_its_bytes_and_by_nothing_else() -> None:
    more = replace(GROUND.debian, extra=(sample_deb("gcc"),))
    grounds = [GROUND, replace(GROUND, debian=more), replace(GROUND, target=replace(TARGET, version="3.13"))]
    assert len({ground.digest() for ground in grounds}) == 3
    assert replace(GROUND, folder=Path("/elsewhere")).digest() == GROUND.digest()
    wished = replace(GROUND, debian=replace(GROUND.debian, wish=Digest.of(b"other")))
    assert wished.digest() == GROUND.digest()
    wheels = (sample_wheel("a"), sample_wheel("b"))
    rooms: list[Room] = [GROUND.room(wheels), GROUND.room(wheels[::-1]), GROUND.room(())]
    assert rooms[0].to_json() == rooms[1].to_json()
    assert rooms[0].to_json() != rooms[2].to_json()
