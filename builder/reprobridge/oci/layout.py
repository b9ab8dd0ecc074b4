"""OCI image layouts: a folder with `oci-layout`, `index.json` and `blobs/sha256/<hex>` (image-spec 1.1).

A new layout appears at once. Writing adds to one that is there, or to an empty folder: blobs first (hard links where
the file system allows), the index last and in one step, so that a reader never sees an image without its blobs. A
folder that is something else is left alone.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from reprobridge.digest import CHUNK, Digest, Hasher, canonical_json
from reprobridge.errors import ArtifactError, AssembleError, UsageError
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.system import files
from reprobridge.wording import complaint

LAYOUT_FILE = canonical_json({"imageLayoutVersion": "1.0.0"})
"""Bytes of the file `oci-layout`."""
REF_NAME = "org.opencontainers.image.ref.name"
"""Annotation of an index's entry: the tag."""
FULL_NAME = "io.containerd.image.name"
"""Annotation of an index's entry: name and tag, as containerd and Docker read it."""


_NAME = re.compile(
    r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::[0-9]{1,5})?/)?"
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
)
_TAG = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}")
_LONGEST_NAME = 255
_AGAIN = "copy the layout again, with all of its files, or write it again"
MANIFEST_LIMIT = 4 << 20
"""Most bytes of a manifest that is read, as registries take them (distribution-spec 1.1)."""
REMEDY = "copy the layout again; in a store, delete this file and build again, or pull again"
"""What to do about a file of an image that is damaged, or not there."""
INDEX_LIMIT = 32 << 20
"""Most bytes of an index that is read; a longer one is cut off, and so is no JSON."""


@frozen(kw_only=True)
class ImageParts:
    """A finished image as its blobs."""

    name: str
    """For example `reprobridge/wine-classifiers`."""
    version: str
    """Tag."""
    manifest: Descriptor
    """Its manifest."""
    config: Descriptor
    """Its configuration."""
    layers: tuple[Descriptor, ...]
    """Its layers, lowest first."""
    path: Callable[[Digest], Path]
    """Where a blob's bytes lie."""
    fresh: frozenset[Digest] = frozenset()
    """Blobs that were hashed while this process had them written, so that nobody need look at them again."""

    def blobs(self) -> tuple[Descriptor, ...]:
        """Every blob once, sorted by digest."""
        every = {part.digest: part for part in (self.manifest, self.config, *self.layers)}
        return tuple(every[digest] for digest in sorted(every))


def read_parts(name: str, version: str, manifest: Digest, path: Callable[[Digest], Path]) -> ImageParts:
    """The parts of an image whose manifest lies at `path(manifest)`. Raises ArtifactError when it is broken."""
    with path(manifest).open("rb") as stream:
        data = stream.read(MANIFEST_LIMIT + 1)
    if len(data) > MANIFEST_LIMIT:
        raise ArtifactError(
            "the image's manifest is too long",
            where=str(manifest),
            expected=f"at most {MANIFEST_LIMIT} bytes",
            found="more",
        )
    try:
        parsed = json.loads(data)
        config, layers = _descriptor(parsed["config"]), tuple(map(_descriptor, parsed["layers"]))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ArtifactError(
            "the image's manifest is broken",
            where=str(manifest),
            expected="an image manifest",
            found=complaint(error),
        ) from error
    return ImageParts(
        name=name,
        version=version,
        manifest=Descriptor(MediaType.MANIFEST, manifest, len(data)),
        config=config,
        layers=layers,
        path=path,
    )


class DamagedBlobError(ArtifactError):
    """A blob's bytes are not those of its digest any more."""

    def __init__(self, blob: Descriptor, found: Digest, place: object) -> None:
        """`place`: path of the file that holds them, or another name that the stream of them has."""
        where = str(place) if isinstance(place, (str, Path)) else None
        super().__init__(
            "a blob is damaged", where=where, expected=str(blob.digest), found=str(found), hint=REMEDY
        )
        self.blob = blob
        """Which one."""


def read_blob(image: ImageParts, blob: Descriptor) -> Iterator[bytes]:
    """A blob's bytes in pieces. Raises DamagedBlobError behind the last one when they are not the blob's."""
    hasher = Hasher()
    with image.path(blob.digest).open("rb") as stream:
        while block := stream.read(CHUNK):
            hasher.write(block)
            yield block
    if (found := hasher.digest()) != blob.digest:
        raise DamagedBlobError(blob, found, image.path(blob.digest))


def index_entry(image: ImageParts) -> dict[str, object]:
    """The image's entry in a layout's index."""
    names = {REF_NAME: image.version, FULL_NAME: f"{image.name}:{image.version}"}
    return {**image.manifest.to_json(), "annotations": names}


def index_bytes(entries: list[dict[str, object]]) -> bytes:
    """The bytes of `index.json`."""
    index = {"schemaVersion": 2, "mediaType": MediaType.INDEX.value, "manifests": entries}
    return json.dumps(index, sort_keys=True, separators=(",", ":")).encode()


def write_layout(folder: Path, image: ImageParts) -> None:
    """Put the image into the layout `folder`, which is made when missing. Raises AssembleError, ArtifactError."""
    try:
        if not folder.exists():
            files.publish_folder(Path(os.path.realpath(folder)), lambda new: _add(new, image, []))
        elif _is_free(folder):  # it may be a volume, whose place no other folder can take
            begin_layout(folder)
        # Again, which costs a look: somebody else may have published a layout there at the same time.
        entries = [entry for entry in _existing_entries(folder) if not _same_name(entry, image)]
        _add(folder, image, entries)
    except OSError as error:
        raise unwritable(folder, error) from error


def begin_layout(folder: Path) -> None:
    """Make an empty folder a layout without images. Raises OSError."""
    files.write_file(folder / "index.json", index_bytes([]), mode=files.USUAL)
    files.write_file(folder / "oci-layout", LAYOUT_FILE, mode=files.USUAL)


def unwritable(folder: Path, error: OSError) -> AssembleError:
    """What the system says about writing into a layout, as our error."""
    return AssembleError(
        "the layout cannot be written",
        where=str(folder),
        expected="a writable folder with room",
        found=complaint(error),
        hint="make room, or name another folder; images that were in this one are unchanged",
    )


def _add(folder: Path, image: ImageParts, others: list[dict[str, object]]) -> None:
    """Put the image's blobs into a layout, and then the index of it and the others."""
    for blob in image.blobs():
        target = folder / "blobs" / "sha256" / blob.digest.hex
        if not (target.is_file() and target.stat().st_size == blob.size):
            if blob.digest not in image.fresh:
                for _ in read_blob(image, blob):
                    pass  # a look at every byte: what is damaged must not spread
            files.link_or_copy(image.path(blob.digest), target, mode=files.USUAL)
    files.write_file(folder / "oci-layout", LAYOUT_FILE, mode=files.USUAL)
    index = index_bytes([*others, index_entry(image)])
    files.write_file(folder / "index.json", index, mode=files.USUAL)


REFERRERS = "sha256-"
"""Beginning of a tag that stands for what is attached to the manifest of that digest (distribution-spec 1.1)."""


def read_entries(folder: Path) -> list[dict[str, object]]:
    """The entries of a layout's index; none where there is no layout yet. Raises AssembleError, ArtifactError."""
    return [] if _is_free(folder) else _existing_entries(folder)


def write_entry(
    folder: Path, manifest: Descriptor, annotations: Mapping[str, str], blobs: Iterable[bytes]
) -> None:
    """Add blobs to a layout, and let the tag among the annotations mean one of them.

    Raises AssembleError, ArtifactError.
    """
    entry: dict[str, object] = {**manifest.to_json(), "annotations": dict(annotations)}
    try:
        for data in blobs:
            path = folder / "blobs" / "sha256" / Digest.of(data).hex
            files.write_file(path, data, mode=files.USUAL)
        others = [other for other in _existing_entries(folder) if _tag(other) != _tag(entry)]
        files.write_file(folder / "index.json", index_bytes([*others, entry]), mode=files.USUAL)
    except OSError as error:
        raise unwritable(folder, error) from error


def _is_free(folder: Path) -> bool:
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def _existing_entries(folder: Path) -> list[dict[str, object]]:
    if not (folder / "oci-layout").is_file():
        raise AssembleError(
            "the output folder is in use",
            where=str(folder),
            expected="a new folder, an empty one or an OCI image layout",
            found="something else",
            hint="choose another folder",
        )
    return _index(folder)


def _index(folder: Path) -> list[dict[str, object]]:
    try:
        entries = json.loads(files.read_regular(folder / "index.json", INDEX_LIMIT))["manifests"]
        for entry in entries:
            _descriptor(entry)
        return [dict(entry) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ArtifactError(
            "the layout is broken",
            where=str(folder / "index.json"),
            expected="an image index",
            found=complaint(error),
            hint=_AGAIN,
        ) from error


def _same_name(entry: Mapping[str, object], image: ImageParts) -> bool:
    annotations = entry.get("annotations")
    return isinstance(annotations, Mapping) and annotations.get(FULL_NAME) == f"{image.name}:{image.version}"


def read_layout(folder: Path, tag: str | None = None) -> ImageParts:
    """The image in a layout: the only one, or the one with this tag. Raises UsageError, ArtifactError.

    Names and tags are anybody's words: only those that registries take count (distribution-spec 1.1).
    """
    if not (folder / "oci-layout").is_file():
        raise UsageError(
            "not an OCI image layout",
            where=str(folder),
            expected="a folder with a file oci-layout",
            found="a folder without one" if folder.is_dir() else "no such folder",
            hint="`reprobridge build DIR --output oci:FOLDER` writes one",
        )
    images = [entry for entry in _index(folder) if not _tag(entry).startswith(REFERRERS)]
    for entry in images:
        _require_tag(folder, _tag(entry))
    found = [entry for entry in images if tag is None or _tag(entry) == tag]
    if len(found) > 1 and len({str(entry["digest"]) for entry in found}) == 1:
        found = found[:1]  # one image with several tags
    if len(found) != 1:
        tags = ", ".join(sorted(map(_tag, images))) or "none"
        raise UsageError(
            "the layout does not hold exactly one such image",
            where=str(folder),
            expected=f"one image tagged {tag}" if tag else "one image",
            found=f"images tagged {tags}",
            hint="name one as oci:FOLDER:TAG",
        )
    descriptor = _descriptor(found[0])
    name = _name(found[0]) or folder.name
    return read_parts(name, _tag(found[0]), descriptor.digest, lambda digest: _blob(folder, digest))


def _require_tag(folder: Path, tag: str) -> None:
    if tag and not _TAG.fullmatch(tag):
        raise ArtifactError(
            "the layout names an image by what is no tag",
            where=str(folder / "index.json"),
            expected="letters, digits, `_`, `.` and `-`",
            found=repr(tag),
        )


def _name(entry: Mapping[str, object]) -> str:
    """The name of an image, without its tag; empty where there is none that a registry would take."""
    annotations = entry.get("annotations")
    full = annotations.get(FULL_NAME, "") if isinstance(annotations, Mapping) else ""
    name = str(full).rpartition(":")[0]
    return name if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) else ""


def _tag(entry: Mapping[str, object]) -> str:
    annotations = entry.get("annotations")
    return str(annotations.get(REF_NAME, "")) if isinstance(annotations, Mapping) else ""


def _blob(folder: Path, digest: Digest) -> Path:
    path = folder / "blobs" / "sha256" / digest.hex
    if path.is_symlink() or not path.is_file():
        found = "no regular file" if path.is_symlink() or path.exists() else "nothing"
        raise ArtifactError(
            "the layout lacks a blob", where=str(path), expected=str(digest), found=found, hint=_AGAIN
        )
    return path


def misfits(folder: Path, image: ImageParts) -> dict[Digest, str]:
    """The layers of an image of this layout that are not there with their size, and what is there instead."""
    found = {}
    for layer in image.layers:
        try:
            size = _blob(folder, layer.digest).stat().st_size
        except ArtifactError as error:
            found[layer.digest] = error.found or "nothing"
        else:
            if size != layer.size:
                found[layer.digest] = f"{size} bytes"
    return found


def read_small_blob(folder: Path, digest: Digest, limit: int) -> bytes | None:
    """A blob of a layout that may hold anything; None unless it is a file with these bytes, at most `limit`."""
    try:
        data = files.read_regular(folder / "blobs" / "sha256" / digest.hex, limit)
    except OSError:
        return None
    return data if len(data) <= limit and Digest.of(data) == digest else None


def _descriptor(value: object) -> Descriptor:
    if not isinstance(value, Mapping):
        raise TypeError(f"expected a descriptor, found {value!r}")
    return Descriptor(str(value["mediaType"]), Digest.parse(str(value["digest"])), int(str(value["size"])))
