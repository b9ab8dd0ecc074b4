"""Where the folders of data that come with the tool are: `image-templates` and `lockfiles`.

In a wheel they lie inside the package, below `_data`; in a clone (an editable install) at the repository's root.
"""

from pathlib import Path

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
