"""What comes with the tool besides its code: the folders `image-templates` and `lockfiles`; and which copy this is.

In a wheel they lie inside the package, below `_data`; in a clone (an editable install) at the repository's root.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import reprobridge_launcher
from reprobridge.digest import Digest
from reprobridge.errors import ReproBridgeError

_PACKAGE = Path(__file__).resolve().parent
_PLACES = (_PACKAGE / "_data", _PACKAGE.parents[1])


def data_folder(name: str) -> Path:
    """The folder of that name that was shipped with this release. Raises ReproBridgeError when it is missing."""
    for place in _PLACES:
        if (place / name).is_dir():
            return place / name
    raise ReproBridgeError(
        f"the installation of reprobridge is incomplete: the folder {name} is missing",
        expected=" or ".join(str(place / name) for place in _PLACES),
        found="neither",
        hint="install reprobridge again, or work in a whole clone of its repository",
    )


def installed_state() -> Digest:
    """A digest that changes whenever a file of this installation does: of names, sizes and times.

    For memories of whole results, which an edit of the code or a table must not outlive; it never reaches bytes.
    """
    places = (_PACKAGE, launcher_folder(), data_folder("image-templates"), data_folder("lockfiles"))
    return state_of(places)


def launcher_folder() -> Path:
    """Where the launcher's modules lie, which every image gets."""
    return Path(reprobridge_launcher.__file__).parent


def state_of(places: Iterable[Path]) -> Digest:
    """A digest of names, sizes and times of all files below some folders, compiled modules left out."""
    return Digest.of(
        "\0".join(row for place in places for row in sorted(_states(str(place)))).encode(
            "utf-8", "surrogateescape"
        )
    )


def _states(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _states(entry.path)
            elif entry.is_file():
                state = entry.stat()
                yield f"{entry.path}\0{state.st_size}\0{state.st_mtime_ns}"
