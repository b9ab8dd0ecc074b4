"""Unpacked layers, kept in the store by diff_id, so that an unchanged layer costs nothing.

`unpacked/<diff_id hex>/` appears at once and only when the whole tar stream had that digest. What a layer
may hold is what we write (`oci/tar.py`): folders, files, links. A device, a whiteout, a path that leads out
or stands below a file is an error: layers are path-disjoint, so there is nothing to white out.
Does not look at compressed digests: the diff_id says which files these are.
"""

import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from reprobridge.digest import CHUNK, Hasher, digest_json
from reprobridge.errors import ArtifactError
from reprobridge.frozen import frozen
from reprobridge.sandbox.model import Layer
from reprobridge.store.store import Store
from reprobridge.system import files
from reprobridge.system.trees import Attributes, TreeWriter, merge_trees

_BUFFER = 1 << 16  # tarfile copies what is left of its buffer at every header, so a larger one takes longer


class Unpacker:
    """Gives layers as folders."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def folder(self, layer: Layer) -> Path:
        """The layer's files. Raises ArtifactError when the layer is broken or not the one it should be."""
        target = self._store.root / "unpacked" / layer.diff_id.hex
        if not target.is_dir():
            files.publish_folder(target, lambda folder: _unpack(layer, folder))
        return target

    def merged(self, layers: Sequence[Layer], points: "MountPoints | None" = None) -> Path:
        """All layers as one folder of hard links; mount points stand where the layers have nothing."""
        places: tuple[str, ...] = () if points is None else (*points.folders, "", *points.files)
        key = digest_json([*(str(layer.diff_id) for layer in layers), *places])
        target = self._store.root / "unpacked" / f"merged-{key.hex[:32]}"
        if not target.is_dir():
            sources = [self.folder(layer) for layer in layers]

            def fill(folder: Path) -> None:
                if points:
                    points.make(folder)
                merge_trees(sources, folder)

            files.publish_folder(target, fill)
        return target


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
        ) as archive:
            for member in archive:
                yield layer_path(member), member, archive
                archive.members.clear()  # type: ignore[attr-defined]  # it would keep every header
    except (tarfile.TarError, EOFError, UnicodeError) as error:
        raise ArtifactError("a layer is broken", expected="a tar archive", found=str(error)) from error


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
    """The tar stream of a compressed layer, hashed while it is read."""

    def __init__(self, compressed: BinaryIO) -> None:
        from isal import igzip

        self._source: Any = igzip.GzipFile(fileobj=compressed)  # type: ignore[no-untyped-call]
        self._hasher = Hasher()

    def read(self, size: int = CHUNK) -> bytes:
        """The next bytes. Raises ArtifactError when the compressed stream is broken."""
        import zlib

        try:
            block: bytes = self._source.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise ArtifactError("a layer is broken", expected="gzip", found=str(error)) from error
        self._hasher.write(block)
        return block

    def finish(self) -> Hasher:
        """Read to the end; digest and size of the whole stream."""
        while self.read():
            pass
        return self._hasher


def _unpack(layer: Layer, folder: Path) -> None:
    writer = TreeWriter(folder)
    with layer.blob.open("rb") as compressed:
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
    """A regular member's bytes in pieces."""
    source = archive.extractfile(member)
    while source is not None and (block := source.read(CHUNK)):
        yield block


def _misfit(member: tarfile.TarInfo, expected: str, found: str) -> ArtifactError:
    return ArtifactError(
        "a layer holds what does not belong into one", where=member.name, expected=expected, found=found
    )
