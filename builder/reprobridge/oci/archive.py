"""Archives of one image: an OCI layout as a tar, and the hybrid that every `docker load` takes.

The hybrid holds the layout and, beside it, the older `manifest.json` that names configuration and layers by
their paths in the layout. Docker 20.10, podman and containerd read one or the other; directory entries must
be there (moby's untar asks for them). Bytes depend on the image alone.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from reprobridge.digest import Json, canonical_json
from reprobridge.errors import AssembleError
from reprobridge.frozen import frozen
from reprobridge.oci.layout import LAYOUT_FILE, ImageParts, index_bytes, index_entry, read_blob
from reprobridge.oci.model import Descriptor
from reprobridge.oci.tar import END, EntryKind, TarEntry, directory, header, padding
from reprobridge.system import files
from reprobridge.wording import complaint


@frozen
class _Member:
    path: str
    size: int
    content: bytes | Descriptor


def archive_blocks(image: ImageParts, *, docker: bool) -> Iterator[bytes]:
    """The archive's bytes in pieces; with `docker` the hybrid."""
    for folder in ("blobs", "blobs/sha256"):
        yield header(directory(folder))
    for member in _members(image, docker=docker):
        yield header(TarEntry(member.path, EntryKind.FILE, 0o644, member.size))
        yield from _content(image, member)
        yield padding(member.size)
    yield END


def write_archive(path: Path, image: ImageParts, *, docker: bool) -> None:
    """Write the archive to a file, in one step. Raises AssembleError."""
    require_file(path)
    files.clear_leftovers(path.parent)
    try:
        with files.replacing(path, mode=files.USUAL) as stream:
            for block in archive_blocks(image, docker=docker):
                stream.write(block)
    except OSError as error:
        raise AssembleError(
            "the archive cannot be written",
            where=str(path),
            expected="a writable path with room",
            found=complaint(error),
            hint="make room, or name a path in another folder; what was at this one is unchanged",
        ) from error


def require_file(path: Path) -> None:
    """Refuse a place where an archive would replace something else than a file. Raises AssembleError."""
    if found := files.obstacle(path):
        raise AssembleError(
            "the archive cannot be written",
            where=str(path),
            expected="a new path, or a file to replace",
            found=found,
            hint="name another path, of a file that an archive may become",
        )


def pour_archive(image: ImageParts, sink: Callable[[bytes], object], *, docker: bool) -> None:
    """Give the archive's bytes to a sink, for example a pipe into an engine."""
    for block in archive_blocks(image, docker=docker):
        sink(block)


def _members(image: ImageParts, *, docker: bool) -> Iterator[_Member]:
    for blob in image.blobs():
        yield _Member(f"blobs/sha256/{blob.digest.hex}", blob.size, blob)
    index = index_bytes([index_entry(image)])
    yield _Member("index.json", len(index), index)
    if docker:
        manifest = _docker_manifest(image)
        yield _Member("manifest.json", len(manifest), manifest)
    yield _Member("oci-layout", len(LAYOUT_FILE), LAYOUT_FILE)


def _docker_manifest(image: ImageParts) -> bytes:
    layers: Json = [f"blobs/sha256/{layer.digest.hex}" for layer in image.layers]
    config = f"blobs/sha256/{image.config.digest.hex}"
    return canonical_json(
        [{"Config": config, "RepoTags": [f"{image.name}:{image.version}"], "Layers": layers}]
    )


def _content(image: ImageParts, member: _Member) -> Iterator[bytes]:
    if isinstance(member.content, bytes):
        yield member.content
        return
    yield from read_blob(image, member.content)
