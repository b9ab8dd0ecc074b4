"""A lock's Python packages for other tools."""

import tomllib

import pytest

from reprobridge.frozen import replace
from reprobridge.lock.model import LockedPython
from reprobridge.lock.pypi_export import export
from support.specs import PLATFORM, sample_lock, sample_wheel

DIRECT = replace(sample_wheel("direct"), url="https://example.org/direct-1.0-py3-none-any.whl")
NAMED = replace(sample_wheel("named"), index="https://example.org/simple")
LOCKED: LockedPython = sample_lock((DIRECT, NAMED, sample_wheel("six-more"))).platforms[PLATFORM].python


def test_pylock_is_valid_and_complete() -> None:
    from packaging.pylock import PackageWheel, Pylock

    pylock = Pylock.from_dict(tomllib.loads(export(LOCKED, "pylock.toml")))
    pylock.validate()
    assert [str(package.name) for package in pylock.packages] == ["direct", "named", "six-more"]
    for package, wheel in zip(pylock.packages, LOCKED.wheels, strict=True):
        found = package.archive or (package.wheels or [])[0]
        assert (str(package.version), found.size) == (wheel.version, wheel.file.size)
        assert found.hashes == {"sha256": wheel.file.sha256.hex}
        if isinstance(found, PackageWheel):
            assert found.filename == wheel.file.name


def test_pylock_names_no_host_but_those_of_the_author() -> None:
    plain = sample_lock((sample_wheel("six"),)).platforms[PLATFORM].python
    assert "://" not in export(plain, "pylock.toml")
    assert export(LOCKED, "pylock.toml").count("://") == 2


def test_the_requirements_file_has_one_digest_for_each_package() -> None:
    lines = export(LOCKED, "requirements.txt").replace("\\\n", "").splitlines()
    assert [line.split("--hash=")[0].strip() for line in lines] == [
        "direct @ https://example.org/direct-1.0-py3-none-any.whl",
        "named==1.0",
        "six-more==1.0",
    ]
    assert [line.split("--hash=")[1] for line in lines] == [str(wheel.file.sha256) for wheel in LOCKED.wheels]


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="poetry"):
        export(LOCKED, "poetry.lock")
