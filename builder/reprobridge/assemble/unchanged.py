"""Recognising an artifact in which nothing changed: everything that its build looked at is compared, nothing parsed.

That a specification holds together, that the lock answers it and that this release honours the lock follow from
the bytes of reprobridge.yaml and reprobridge.lock, the bytes of the files that the first names, the paths below the
artifact's folder that have to be there, the tree of a source folder, and the state of this installation. A build
that went well remembers them; another one that finds all of them equal has the same image. Whatever else it
finds, it says nothing: the build then goes the long way, which knows how to say it.
An artifact with packages that are built from folders of its own is never recognised.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from reprobridge.assemble.image_memory import remembered_image
from reprobridge.assemble.model import BuiltImage
from reprobridge.digest import Digest, Json, digest_json
from reprobridge.errors import ReproBridgeError
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.file import FILE_NAME as LOCK
from reprobridge.spec.named import FILE_NAME as SPEC
from reprobridge.spec.named import LARGEST_FILE, read_regular, real_path

RESULT = "unchanged"
"""Kind of the store's results that say what a build looked at, by `_key`."""


@frozen(kw_only=True)
class SourceFolder:
    """A source that is a folder of the artifact's."""

    path: str
    """Below the artifact's folder."""
    exclude: tuple[str, ...]
    """Globs of what is no part of it."""
    tree: Digest
    """What it held."""


@frozen(kw_only=True)
class Looked:
    """What a build looked at besides specification, lock and installation."""

    files: Mapping[str, Digest]
    """Path below the artifact's folder -> digest of the file that the specification names."""
    places: tuple[str, ...]
    """Paths below the artifact's folder that have to be there, whatever they hold."""
    source: SourceFolder | None
    """The source, where it is a folder."""


def remember_looked(
    doors: Doors, written: tuple[Digest, Digest], tool: Digest, looked: Looked, image: Digest
) -> None:
    """Remember what the build of an image (its key) looked at; `written` are specification and lock."""
    source = looked.source
    folder: Json = [source.path, source.exclude, str(source.tree)] if source else None
    value: dict[str, Json] = {
        "files": {path: str(digest) for path, digest in looked.files.items()},
        "places": looked.places,
        "source": folder,
        "image": str(image),
    }
    doors.store.remember(RESULT, _key(written, tool), value)


def recognised(folder: Path, doors: Doors, tool: Digest, *, elsewhere: bool) -> BuiltImage | None:
    """The image of an artifact in which nothing changed since it was built; None: that isn't known."""
    with contextlib.suppress(OSError, ValueError, ReproBridgeError):
        written = (_digest(f"{folder}/{SPEC}"), _digest(f"{folder}/{LOCK}"))
        match doors.store.result(RESULT, _key(written, tool)):
            case {"files": dict(files), "places": [*places], "source": source, "image": str(image)}:
                if _has_files(folder, files, places) and _has_source(folder, source, doors):
                    return remembered_image(doors.store, Digest.parse(image), elsewhere=elsewhere)
    return None


def _key(written: tuple[Digest, Digest], tool: Digest) -> Digest:
    spec, lock = written
    return digest_json({"spec": str(spec), "lock": str(lock), "tool": str(tool)})


def _digest(path: str) -> Digest:
    """Of a file's bytes. Raises OSError; ValueError where the parser would refuse the file."""
    data = read_regular(path)
    if data is None or len(data) > LARGEST_FILE:
        raise ValueError(f"no file to read: {path}")
    return Digest.of(data)


def _has_files(folder: Path, files: Mapping[str, str], places: list[str]) -> bool:
    """Whether all of these are below the folder, the files with these digests. Raises OSError, ValueError."""
    for place in places:
        real_path(str(folder), place)
    return all(str(_digest(real_path(str(folder), path))) == digest for path, digest in files.items())


def _has_source(folder: Path, source: object, doors: Doors) -> bool:
    """Whether the source folder holds the same. Raises OSError, ValueError, ReproBridgeError."""
    match source:
        case None:
            return True
        case [str(path), [*exclude], str(tree)]:
            if real_path(str(folder), path) == real_path(str(folder), "."):
                return False
            return str(doors.read_folder(folder / path, tuple(map(str, exclude))).kept.tree) == tree
    return False
