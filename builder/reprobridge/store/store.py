"""The local store: disposable, shareable by several processes, never holding half an object.

Layout below the root:
    version                     "1"
    blobs/<2 hex>/<64 hex>      bytes by their SHA-256: downloads, fragments, layers, manifests, configs
    results/<kind>/<64 hex>     canonical JSON that a recipe evaluated to, by the recipe's key
    references/<name>/<tag>     digest of an image's manifest
    unpacked/layer-<64 hex>/    a layer's files for the sandbox, by diff_id, with a seal (`sandbox/sealed.py`)
    evidence/<name>/            runs whose evidence could not be written where it should; while a task runs, its files
    scratch/                    folders and files of running commands, gone when they end
    lock                        held shared by everybody who works, exclusively by `prune`
Invariants: an object appears by one rename; a blob's name is the digest of its bytes, computed while they
were written; deleting anything, at any time, costs work but never changes a result.
It does not fetch, does not know what a layer is, and never looks at the clock.
"""

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from reprobridge.digest import CHUNK, Digest, Hasher, Json, canonical_json, digest_stream
from reprobridge.errors import ArtifactError, StoreError
from reprobridge.system import files
from reprobridge.system.home import home_folder
from reprobridge.system.leftovers import TEMPORARY

VERSION = "1"
"""Of the layout above; a store of another version is refused."""

_OWN = frozenset({"version", "blobs", "results", "references", "unpacked", "evidence", "scratch", "lock"})
_NOBODYS = frozenset({"lost+found"})  # stands in each new volume


def default_root() -> Path:
    """`$REPROBRIDGE_STORE`, else `reprobridge` in the user's cache folder.

    As the XDG base directories have it, an empty variable counts as unset, and so does a relative XDG_CACHE_HOME.
    Raises StoreError for a user without a home, and for a path with a `~` that no shell has read.
    """
    if chosen := os.environ.get("REPROBRIDGE_STORE"):
        if chosen.startswith("~/"):
            raise StoreError(
                "there is no place for the store",
                where="REPROBRIDGE_STORE",
                expected="a path with ~ written out",
                found=chosen,
                hint="no shell read the ~: write the home folder's path",
            )
        return Path(chosen).absolute()
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if cache.startswith("/"):
        return Path(cache) / "reprobridge"
    if home := home_folder(os.environ):
        return home / ".cache" / "reprobridge"
    raise StoreError(
        "there is no place for the store",
        expected="a home folder: an absolute path in HOME, or one that the system knows for this user",
        found=f"HOME={os.environ['HOME']!r}, and none known" if "HOME" in os.environ else "neither",
        hint="name a folder with --store or REPROBRIDGE_STORE",
    )


class Store:
    """One store folder. Cheap to open; safe to open many times and from many processes."""

    def __init__(self, root: Path) -> None:
        """Open or create the store. Raises StoreError when it is of another version, not writable, or none."""
        self.root = root.absolute()
        """The store's folder; absolute, since sandboxes start in another one."""
        self._top = str(self.root)
        try:
            self._check_version()
        except OSError as error:
            raise unusable(self.root, error) from error

    def _check_version(self) -> None:
        path = self.root / "version"
        try:
            found = path.read_text().strip()
        except FileNotFoundError:
            self._require_free()
            files.write_file(path, f"{VERSION}\n".encode())
            return
        if found != VERSION:
            raise StoreError(
                "the store was written by another release",
                where=str(self.root),
                expected=f"version {VERSION}",
                found=f"version {found!r}",
                hint="choose another folder with REPROBRIDGE_STORE, or delete this one: it is a cache",
            )

    def _require_free(self) -> None:
        """Refuse to become a folder that somebody uses for something else: `prune` would delete in it."""
        names = {path.name for path in self.root.iterdir()} if self.root.exists() else set()
        foreign = sorted(name for name in names - _OWN - _NOBODYS if not name.startswith(TEMPORARY))
        if foreign:
            raise StoreError(
                "the folder is no store",
                where=str(self.root),
                expected="a new folder, an empty one, or a store",
                found=f"other files: {', '.join(foreign[:3])}{', …' if len(foreign) > 3 else ''}",
                hint="choose another folder with --store or REPROBRIDGE_STORE, for example "
                f"{self.root / 'reprobridge-store'}",
            )

    # blobs

    def path(self, digest: Digest) -> Path:
        """Where a blob lies, or would lie."""
        return Path(self._place(digest))

    def _place(self, digest: Digest) -> str:
        # A build asks some hundred times, and pathlib takes thrice as long.
        return f"{self._top}/blobs/{digest.hex[:2]}/{digest.hex}"

    def has(self, digest: Digest) -> bool:
        """Whether the blob is here."""
        return os.path.isfile(self._place(digest))  # noqa: PTH113 - see _place

    def size(self, digest: Digest) -> int:
        """Length of a blob in bytes. Raises StoreError when it is not here."""
        if (size := self.size_if_here(digest)) is None:
            raise _missing(digest)
        return size

    def size_if_here(self, digest: Digest) -> int | None:
        """Length of a blob in bytes, or None when it is not here."""
        try:
            return os.stat(self._place(digest)).st_size  # noqa: PTH116 - see _place
        except FileNotFoundError:
            return None

    def holds(self, digest: Digest, size: int) -> bool:
        """Whether the blob is here with its length; a shorter one was cut off, by a crash of the machine for example."""
        return self.size_if_here(digest) == size

    def open(self, digest: Digest) -> BinaryIO:
        """A blob for reading. Raises StoreError when it is not here."""
        try:
            return open(self._place(digest), "rb")  # noqa: PTH123 - see _place; the caller closes it
        except FileNotFoundError as error:
            raise _missing(digest) from error

    def read(self, digest: Digest) -> bytes:
        """A small blob, whole and checked against its digest; a damaged one is deleted and reported."""
        try:
            data = _read(self._place(digest))
        except FileNotFoundError as error:
            raise _missing(digest) from error
        self._require(digest, Digest.of(data))
        return data

    def blocks(self, digest: Digest) -> Iterator[bytes]:
        """A blob in pieces of `CHUNK` bytes, checked while they pass; behind the last as for `read`."""
        hasher = Hasher()
        with self.open(digest) as stream:
            while block := stream.read(CHUNK):
                hasher.write(block)
                yield block
        self._require(digest, hasher.digest())

    def _require(self, digest: Digest, found: Digest) -> None:
        if found != digest:
            files.delete(self.path(digest))
            raise StoreError(
                "a damaged object was removed; run again",
                where=str(self.path(digest)),
                expected=str(digest),
                found=str(found),
            )

    def drop_damaged(self, digest: Digest) -> bool:
        """Delete a blob that is here with other bytes than its digest's; gives whether that was so."""
        with self.open(digest) as stream:
            is_damaged = digest_stream(stream)[0] != digest
        if is_damaged:
            files.delete(self.path(digest))
        return is_damaged

    def add(self, data: bytes) -> Digest:
        """Keep these bytes."""
        digest = Digest.of(data)
        if not self.holds(digest, len(data)):
            with self.writer() as blob:
                blob.write(data)
                blob.commit()
        return digest

    def add_stream(self, stream: BinaryIO) -> Digest:
        """Keep the rest of a stream."""
        with self.writer() as blob:
            while block := stream.read(CHUNK):
                blob.write(block)
            return blob.commit()

    def writer(self) -> "BlobWriter":
        """A new blob of unknown digest; nothing is kept unless it is committed."""
        return BlobWriter(self)

    def keeper(self, expected: Digest) -> Callable[[Iterator[bytes]], None]:
        """What keeps bytes that come in pieces, unless they are others; raises ArtifactError then."""

        def keep(blocks: Iterator[bytes]) -> None:
            with self.writer() as blob:
                for block in blocks:
                    blob.write(block)
                blob.commit(expected)

        return keep

    # results of recipes

    def _result_path(self, kind: str, key: Digest) -> Path:
        return self.root / "results" / kind / key.hex

    def result(self, kind: str, key: Digest) -> object | None:
        """What a recipe evaluated to: parsed JSON, or None when unknown or unreadable."""
        try:
            return json.loads(_read(f"{self._top}/results/{kind}/{key.hex}"))  # type: ignore[no-any-return]
        except (FileNotFoundError, ValueError):
            return None

    def remember(self, kind: str, key: Digest, value: Json) -> None:
        """Keep what a recipe evaluated to."""
        with _writing(self.root):
            files.write_file(self._result_path(kind, key), canonical_json(value))

    def remember_measured(self, kind: str, key: Digest, value: Json) -> None:
        """Keep what can't be made again in seconds, also from a crash of the machine."""
        from reprobridge.system.durable import write_durably

        with _writing(self.root):
            write_durably(self._result_path(kind, key), canonical_json(value))

    # references

    def refer(self, name: str, tag: str, manifest: Digest) -> Digest | None:
        """Let `name:tag` mean this manifest; gives the one that it meant before, if that is another and still here."""
        former = self.referenced(name, tag)
        if former == manifest:
            return None
        with _writing(self.root):
            files.write_file(self.root / "references" / name / tag, f"{manifest}\n".encode())
        return former if former is not None and self.has(former) else None

    def referenced(self, name: str, tag: str) -> Digest | None:
        """The manifest that `name:tag` means here, or None when unknown or unreadable."""
        try:
            return Digest.parse((self.root / "references" / name / tag).read_text().strip())
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
            return None

    def references(self) -> Iterator[tuple[str, str, Digest]]:
        """Every (name, tag, manifest), sorted; what is unreadable is left out."""
        folder = self.root / "references"
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.name.startswith(TEMPORARY):
                name = path.parent.relative_to(folder).as_posix()
                if (manifest := self.referenced(name, path.name)) is not None:
                    yield name, path.name, manifest

    # working side by side

    def working(self) -> contextlib.AbstractContextManager[None]:
        """Hold while objects are made and used, so that a prune at the same time waits."""
        return files.locked(self.root / "lock", exclusive=False)

    def alone(self, waiting: Callable[[], object] | None = None) -> contextlib.AbstractContextManager[None]:
        """Hold while objects are deleted; waits for everybody who is working, after a call of `waiting`."""
        return files.locked(self.root / "lock", exclusive=True, waiting=waiting)


class BlobWriter:
    """Writes one blob: a context manager; `commit` keeps it, leaving without commit drops it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._hasher = Hasher()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self._path, self._stream = self._stack.enter_context(files.unfinished(self._store.root / "blobs"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._hasher.size

    def write(self, data: bytes) -> int:
        """Append bytes."""
        self._stream.write(data)
        return self._hasher.write(data)

    def commit(self, expected: Digest | None = None) -> Digest:
        """Keep the bytes under their digest. Raises ArtifactError when it is not the expected one."""
        digest = self._hasher.digest()
        if expected is not None and digest != expected:
            raise ArtifactError(
                "the bytes are not the ones asked for", expected=str(expected), found=str(digest)
            )
        files.keep(self._path, self._stream, self._store.path(digest))
        return digest


def unusable(root: Path, error: OSError) -> StoreError:
    """What the system says about the store's folder, as our error."""
    is_dangling = error.errno == errno.EEXIST and root.is_symlink()
    return StoreError(
        "the store cannot be used",
        where=str(root),
        expected="a writable folder with room",
        found=f"a link to {root.readlink()}, where nothing is"
        if is_dangling
        else error.strerror or str(error),
        hint="make room, or choose another folder with --store or REPROBRIDGE_STORE",
    )


@contextlib.contextmanager
def _writing(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unusable(root, error) from error


def _read(path: str) -> bytes:
    # Without a buffer, which takes three calls of the system more; pathlib takes thrice as long.
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123
        return stream.readall()


def _missing(digest: Digest) -> StoreError:
    return StoreError(
        "an object is missing from the store", expected=str(digest), found="nothing", hint="run again"
    )
