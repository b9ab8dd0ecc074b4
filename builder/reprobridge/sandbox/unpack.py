"""Unpacked layers, kept in the store by diff_id, so that an unchanged layer costs nothing.

`unpacked/layer-<diff_id hex>/` appears at once and only when the whole tar stream had that digest; what was changed
there since is unpacked again (`sealed.py`). Release 0.1.0, whose folders have no seal, calls them by the digest alone.
What a layer may hold is what we write (`oci/tar.py`): folders, files, links. A device, a whiteout, a path that leads
out or stands below a file is an error: layers are path-disjoint, so there is nothing to white out.
Does not look at compressed digests: the diff_id says which files these are.
"""

import contextlib
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from reprobridge.digest import CHUNK, Hasher, digest_json
from reprobridge.errors import ArtifactError
from reprobridge.frozen import frozen
from reprobridge.oci.layout import REMEDY
from reprobridge.sandbox.model import Layer
from reprobridge.sandbox.sealed import sealed_folder
from reprobridge.store.store import Store
from reprobridge.system.trees import Attributes, TreeWriter, merge_trees

HEADER_LIMIT = 1 << 20
"""Most bytes of a header for long names; a path has 4096."""
LARGEST = 32 << 30
"""Most bytes that a layer is inflated to unless less is asked for: layers of 10 GB are the largest that are built."""
_LONG_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_BUFFER = 1 << 16  # tarfile copies what is left of its buffer at every header, so a larger one takes longer


class Unpacker:
    """Gives layers as folders, and looks at each once whether it is still what was unpacked."""

    def __init__(self, store: Store) -> None:
        self._places = store.root / "unpacked"
        self._sound: dict[str, Path] = {}

    def folder(self, layer: Layer) -> Path:
        """The layer's files. Raises ArtifactError when the layer is broken or not the one it should be."""
        return self._sealed(f"layer-{layer.diff_id.hex}", lambda folder: _unpack(layer, folder))

    def merged(self, layers: Sequence[Layer], points: "MountPoints | None" = None) -> Path:
        """All layers as one folder of hard links; mount points stand where the layers have nothing."""
        places: tuple[str, ...] = () if points is None else (*points.folders, "", *points.files)
        key = digest_json([*(str(layer.diff_id) for layer in layers), *places])

        def fill(folder: Path) -> None:
            if points:
                points.make(folder)
            merge_trees([self.folder(layer) for layer in layers], folder)

        return self._sealed(f"layers-{key.hex[:32]}", fill)

    def _sealed(self, name: str, fill: Callable[[Path], None]) -> Path:
        if name not in self._sound:
            self._sound[name] = sealed_folder(self._places / name, fill)
        return self._sound[name]


@frozen(kw_only=True)
class MountPoints:
    """Absolute places of an image that must exist before something is mounted there."""

    folders: tuple[str, ...]
    """Places of folders."""
    files: tuple[str, ...] = ()
    """Places of files."""

    def make(self, root: Path) -> None:
        """Make them, empty, in the folder `root`."""
        writer = TreeWriter(root)
        for place in self.folders:
            writer.folder(place.strip("/"), Attributes(0o755))
        for place in self.files:
            writer.file(place.strip("/"), Attributes(0o644), ())
        writer.close()


class ByteSource(Protocol):
    """Anything that bytes can be read from, in order."""

    def read(self, size: int) -> bytes:
        """At most so many of the next bytes; none at the end."""


class _Member(tarfile.TarInfo):
    """A member whose headers are looked at before tarfile reads them into memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _LONG_HEADERS and not 0 <= self.size <= HEADER_LIMIT:
            raise _misfit(self, f"headers of at most {HEADER_LIMIT} bytes", f"{self.size} bytes")
        if self.type == tarfile.XGLTYPE:
            raise _misfit(self, "headers of one file each", "one for all that follow")
        if self.type == tarfile.GNUTYPE_SPARSE:
            self._refuse_sparse()
        member: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]  # not in its types
        return member

    def _refuse_sparse(self, *_: object) -> None:
        """Stands for each of the ways in which tarfile reads a map of holes, which may be of any length."""
        raise _misfit(self, "files without holes", "a sparse file")

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse_sparse


def tar_members(stream: ByteSource) -> Iterator[tuple[str, tarfile.TarInfo, tarfile.TarFile]]:
    """Each member of a layer's tar stream with its checked path, without holding what has passed.

    Raises ArtifactError for anything that does not belong into a layer.
    """
    try:
        with tarfile.open(
            fileobj=cast(BinaryIO, stream),
            mode="r|",
            bufsize=_BUFFER,
            encoding="utf-8",
            errors="surrogateescape",
            tarinfo=_Member,
        ) as archive:
            for member in archive:
                _require_numbers(member)
                yield layer_path(member), member, archive
                archive.members.clear()  # type: ignore[attr-defined]  # it would keep every header
    except (tarfile.TarError, EOFError, ValueError, RecursionError) as error:
        raise _no_tar(error) from error


def _require_numbers(member: tarfile.TarInfo) -> None:
    """Raises ArtifactError for numbers that no file system takes; a header may hold any."""
    owners = all(0 <= number < 1 << 32 for number in (member.uid, member.gid))
    if member.issparse() or member.size < 0 or not owners or not abs(member.mtime) < 1 << 62:
        raise _misfit(
            member, "size, owner and time of a file", f"{member.size}, {member.uid}, {member.mtime}"
        )


def layer_path(member: tarfile.TarInfo) -> str:
    """A member's path, relative to the root. Raises ArtifactError when it is none."""
    path = member.name.removeprefix("./").rstrip("/")
    if path in ("", ".") and member.isdir():
        return ""
    parts = path.split("/")
    if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        raise _misfit(member, "a file, folder or link", f"type {member.type!r}")
    if path.startswith("/") or ".." in parts or "." in parts or "" in parts or "\0" in path:
        raise _misfit(member, "a plain relative path", repr(member.name))
    if parts[-1].startswith(".wh."):
        raise _misfit(member, "no whiteouts, since layers are path-disjoint", repr(member.name))
    return path


class HashedTar:
    """The tar stream of a compressed layer, hashed while it is read; `limit`: the bytes that it may have."""

    def __init__(self, compressed: BinaryIO, limit: int = LARGEST) -> None:
        from isal import igzip

        self._source: Any = igzip.GzipFile(fileobj=compressed)  # type: ignore[no-untyped-call]
        self._hasher = Hasher()
        self._limit = limit

    def read(self, size: int = CHUNK) -> bytes:
        """The next bytes. Raises ArtifactError when the compressed stream is broken or inflates to too much."""
        import zlib

        try:
            block: bytes = self._source.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise ArtifactError("a layer is broken", expected="gzip", found=str(error)) from error
        self._hasher.write(block)
        if self._hasher.size > self._limit:
            raise ArtifactError("a layer is too large", expected=f"a tar of at most {self._limit} bytes")
        return block

    def finish(self) -> Hasher:
        """Read to the end; digest and size of the whole stream."""
        while self.read():
            pass
        return self._hasher


@contextlib.contextmanager
def _told_with_place(blob: Path) -> Iterator[None]:
    """What is wrong with the bytes of a layer is told with the file that holds them, and what to do about it."""
    try:
        yield
    except ArtifactError as error:
        if error.where is not None:  # a path in the layer, which somebody made so
            raise
        raise ArtifactError(
            error.message, where=str(blob), expected=error.expected, found=error.found, hint=REMEDY
        ) from error


def _unpack(layer: Layer, folder: Path) -> None:
    writer = TreeWriter(folder)
    with _told_with_place(layer.blob), layer.blob.open("rb") as compressed:
        stream = HashedTar(compressed)
        for path, member, archive in tar_members(stream):
            _write(writer, path, member, archive)
        found = stream.finish().digest()
    if found != layer.diff_id:
        raise ArtifactError(
            "a layer is not the one that the image names",
            where=str(layer.blob),
            expected=f"diff_id {layer.diff_id}",
            found=str(found),
            hint=REMEDY,
        )
    writer.close()


def _write(writer: TreeWriter, path: str, member: tarfile.TarInfo, archive: tarfile.TarFile) -> None:
    attributes = Attributes(member.mode, member.uid, member.gid, int(member.mtime))
    if member.isdir():
        writer.folder(path, attributes)
    elif member.issym():
        writer.symlink(path, member.linkname, attributes)
    elif member.islnk():
        writer.hardlink(path, member.linkname.removeprefix("./"))
    else:
        writer.file(path, attributes, contents(archive, member))


def contents(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    """A regular member's bytes in pieces. Raises ArtifactError when there are fewer than its header says."""
    source = archive.extractfile(member)
    try:
        while source is not None and (block := source.read(CHUNK)):
            yield block
    except tarfile.TarError as error:  # the stream ends inside the file
        raise _no_tar(error) from error


def _no_tar(error: Exception) -> ArtifactError:
    return ArtifactError("a layer is broken", expected="a tar archive", found=str(error))


def _misfit(member: tarfile.TarInfo, expected: str, found: str) -> ArtifactError:
    return ArtifactError(
        "a layer holds what does not belong into one", where=member.name, expected=expected, found=found
    )
