"""A lock's Python packages for other tools: pylock.toml (PEP 751) and a requirements file with digests.

Neither names a host. PEP 751 wants an address or a path for each wheel, so wheels stand as paths in the
folder `wheels` beside the file, which `reprobridge vendor` or `pip download` fills; their names, sizes and
digests are what counts. Direct references keep the address that the author wrote.
A package that was built stands there as the wheel that came out, and with its sdist where it is a release: what
another tool builds from that may differ.
"""

import json
from collections.abc import Iterator
from typing import Literal

from reprobridge.lock.model import LockedFile, LockedPython, LockedWheel

Form = Literal["pylock.toml", "requirements.txt"]
"""What can be written."""

FOLDER = "wheels"
"""Where the exported pylock.toml expects the files, relative to itself."""


def export(python: LockedPython, form: Form | str) -> str:
    """The packages in one of the forms. Raises ValueError for an unknown one."""
    match form:
        case "pylock.toml":
            return "\n".join(_pylock(python))
        case "requirements.txt":
            sdists = _sdists(python)
            return "".join(_requirement(wheel, sdists.get(wheel.name)) for wheel in python.wheels)
        case _:
            raise ValueError(f"expected pylock.toml or requirements.txt, found {form!r}")


def _sdists(python: LockedPython) -> dict[str, LockedFile]:
    """The sdists of releases that were built, by name."""
    return {build.name: build.file for build in python.builds if build.kind == "sdist" and build.file}


def _pylock(python: LockedPython) -> Iterator[str]:
    yield 'lock-version = "1.0"'
    yield 'created-by = "reprobridge"'
    yield f'requires-python = "=={python.version}.*"'
    yield ""
    sdists = _sdists(python)
    for wheel in python.wheels:
        yield "[[packages]]"
        yield f'name = "{wheel.name}"'
        yield f'version = "{wheel.version}"'
        if wheel.index is not None:
            yield f"index = {json.dumps(wheel.index)}"
        if wheel.url is not None:
            yield f"archive = {{ url = {json.dumps(wheel.url)}, {_identity(wheel.file)} }}"
        else:
            yield f"wheels = [{_file(wheel.file)}]"
        if sdist := sdists.get(wheel.name):
            yield f"sdist = {_file(sdist)}"
        yield ""


def _file(file: LockedFile) -> str:
    return f'{{ name = "{file.name}", path = "{FOLDER}/{file.name}", {_identity(file)} }}'


def _identity(file: LockedFile) -> str:
    return f'size = {file.size}, hashes = {{ sha256 = "{file.sha256.hex}" }}'


def _requirement(wheel: LockedWheel, sdist: LockedFile | None) -> str:
    what = f"{wheel.name}=={wheel.version}" if wheel.url is None else f"{wheel.name} @ {wheel.url}"
    files = [wheel.file, *([sdist] if sdist else [])]
    return what + "".join(f" \\\n    --hash=sha256:{file.sha256.hex}" for file in files) + "\n"
