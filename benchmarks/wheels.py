"""The wheels of a set in one folder, before anything is timed: every builder takes them from there."""

import hashlib
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.cases import PYTHON, PackageSet, wheel_platforms
from benchmarks.measure import Invocation, run


def collect(package_set: PackageSet, cache: Path, given: Path | None, environment: Mapping[str, str]) -> Path:
    """A folder below `cache` with the set's wheels: from the user's index (pip's settings), or from `given`.

    What was collected once is taken as it is. Raises CommandFailedError when pip finds no such wheels.
    """
    wished = [(*package_set.first, package_set.added), package_set.second]
    folder = cache / f"{package_set.name}-{hashlib.sha256(repr(wished).encode()).hexdigest()[:8]}"
    if folder.is_dir():
        return folder
    unfinished = folder.with_suffix(".unfinished")
    unfinished.mkdir(parents=True, exist_ok=True)
    for wheel in given.glob("*.whl") if given else ():
        shutil.copy2(wheel, unfinished)
    for requirements in wished:
        run(
            Invocation(
                argv=_pip_download(requirements, unfinished, only=bool(given)), environment=environment
            )
        )
    return unfinished.rename(folder)


def _pip_download(requirements: tuple[str, ...], folder: Path, *, only: bool) -> list[str]:
    """Pip's words; `only`: nothing but the folder is searched."""
    return [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--implementation=cp"),
        *(f"--platform={platform}" for platform in wheel_platforms()),
        *(f"--python-version={PYTHON}", f"--find-links={folder}", f"--dest={folder}"),
        *(["--no-index"] if only else []),
        *requirements,
    ]
