"""Builds in a lock: written, read, vendored and exported; a lock without them is as it always was."""

import json
import tomllib

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.frozen import replace
from reprobridge.lock.file import lock_bytes, parse_lock
from reprobridge.lock.model import Lock, LockedBuild, LockedFile, LockedPython
from reprobridge.lock.pypi import KeptPython
from reprobridge.lock.pypi_export import export
from reprobridge.lock.vendor import locked_files, locked_trees
from support.artifacts import EVERY
from support.specs import PLATFORM, sample_lock, sample_wheel

TOOL = replace(sample_wheel("tool"), requested=False)
SDIST = LockedFile("solver-1.0.tar.gz", Digest.of(b"sdist"), 7)


def build(name: str, kind: str, **more: object) -> LockedBuild:
    """A build's entry."""
    fields: dict[str, object] = {
        "name": name,
        "kind": kind,
        "origin": f"{name}==1.0",
        "index": None,
        "commit": None,
        "subdirectory": None,
        "file": None,
        "tree": Digest.of(name.encode()),
        "requires": (TOOL.file.sha256,),
        "base": Digest.of(b"base"),
        "repeatable": True,
        **more,
    }
    return LockedBuild(**fields)  # type: ignore[arg-type]  # the fields are the model's


def with_python(**changes: object) -> Lock:
    """A lock with builds of two of its three wheels; keyword arguments replace fields of its Python section."""
    lock = sample_lock((sample_wheel("ours"), sample_wheel("plain"), sample_wheel("solver")))
    platform = lock.platforms[PLATFORM]
    builds = (build("ours", "git", commit="0" * 40), build("solver", "sdist", file=SDIST))
    fields: dict[str, object] = {"builds": builds, "build_wheels": (TOOL,), **changes}
    python = replace(platform.python, **fields)
    return replace(lock, platforms={PLATFORM: replace(platform, python=python)})


LOCK = with_python()
PYTHON: LockedPython = LOCK.platforms[PLATFORM].python


@pytest.mark.parametrize("name", EVERY)
def test_a_lock_without_builds_keeps_its_bytes(name: str) -> None:
    data = (EVERY[name] / "reprobridge.lock").read_bytes()
    assert lock_bytes(parse_lock(data, name)) == data
    assert b"build" not in data


def test_builds_read_back_as_written_one_a_line() -> None:
    data = lock_bytes(LOCK)
    assert parse_lock(data, "lock") == LOCK
    assert len([line for line in data.decode().splitlines() if '"repeatable"' in line]) == 2


@pytest.mark.parametrize("missing", ["tree", "requires", "file", "repeatable"])
def test_a_build_lacks_nothing(missing: str) -> None:
    content = json.loads(lock_bytes(LOCK))
    del content["platforms"][PLATFORM]["python"]["builds"][0][missing]
    with pytest.raises(LockError, match=rf"builds\[0\]\.{missing}"):
        parse_lock(json.dumps(content).encode(), "lock")


@pytest.mark.parametrize(
    "changes", [{"builds": (build("stranger", "sdist"),)}, {"build_wheels": ()}, {"wheels": ()}]
)
def test_a_build_belongs_to_a_locked_wheel_and_requires_locked_ones(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="builds"):
        with_python(**changes)


def test_each_build_knows_its_wheel() -> None:
    assert [(one.name, wheel.name) for one, wheel in PYTHON.built] == [("ours", "ours"), ("solver", "solver")]


def test_a_vendor_folder_gets_what_was_built_and_what_it_was_built_from() -> None:
    names = {file.name for file in locked_files(LOCK)}
    assert {SDIST.name, TOOL.file.name, "ours-1.0-py3-none-any.whl", "solver-1.0-py3-none-any.whl"} <= names
    assert locked_trees(LOCK) == (PYTHON.builds[0].tree,)


def test_what_is_upgraded_is_not_kept_nor_what_it_was_built_with() -> None:
    kept = KeptPython.of(PYTHON, ("solver",))
    assert [wheel.name for wheel in kept.wheels] == ["ours", "plain"]
    (ours,) = kept.builds.values()
    assert (ours.build.name, ours.wheel.name, ours.requires) == ("ours", "ours", (TOOL,))


def test_an_exported_pylock_has_the_wheel_and_the_releases_sdist() -> None:
    from packaging.pylock import Pylock

    pylock = Pylock.from_dict(tomllib.loads(export(PYTHON, "pylock.toml")))
    pylock.validate()
    sdists = {package.name: package.sdist and package.sdist.filename for package in pylock.packages}
    assert sdists == {"ours": None, "plain": None, "solver": SDIST.name}
    assert all(package.wheels for package in pylock.packages)


def test_exported_requirements_accept_the_wheel_and_the_releases_sdist() -> None:
    lines = export(PYTHON, "requirements.txt").replace("\\\n", "").splitlines()
    assert [line.count("--hash=") for line in lines] == [1, 1, 2]
    assert str(SDIST.sha256) in lines[2]
