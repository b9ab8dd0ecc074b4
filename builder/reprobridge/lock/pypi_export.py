"""A lock's Python packages for other tools: pylock.toml (PEP 751) and a requirements file with digests.

Neither names a host. PEP 751 wants an address or a path for each wheel, so wheels stand as paths in the
folder `wheels` beside the file, which `reprobridge vendor` or `pip download` fills; their names, sizes and
digests are what counts. Direct references keep the address that the author wrote.
"""

import json
from collections.abc import Iterator
from typing import Literal

from reprobridge.lock.model import LockedPython, LockedWheel

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
            return "".join(_requirement(wheel) for wheel in python.wheels)
        case _:
            raise ValueError(f"expected pylock.toml or requirements.txt, found {form!r}")


def _pylock(python: LockedPython) -> Iterator[str]:
    yield 'lock-version = "1.0"'
    yield 'created-by = "reprobridge"'
    yield f'requires-python = "=={python.version}.*"'
    yield ""
    for wheel in python.wheels:
        yield "[[packages]]"
        yield f'name = "{wheel.name}"'
        yield f'version = "{wheel.version}"'
        if wheel.index is not None:
            yield f"index = {json.dumps(wheel.index)}"
        hashes = f'hashes = {{ sha256 = "{wheel.file.sha256.hex}" }}'
        if wheel.url is not None:
            yield f"archive = {{ url = {json.dumps(wheel.url)}, size = {wheel.file.size}, {hashes} }}"
        else:
            path = f'name = "{wheel.file.name}", path = "{FOLDER}/{wheel.file.name}"'
            yield f"wheels = [{{ {path}, size = {wheel.file.size}, {hashes} }}]"
        yield ""


def _requirement(wheel: LockedWheel) -> str:
    what = f"{wheel.name}=={wheel.version}" if wheel.url is None else f"{wheel.name} @ {wheel.url}"
    return f"{what} \\\n    --hash=sha256:{wheel.file.sha256.hex}\n"
