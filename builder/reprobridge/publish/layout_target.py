"""Publishing into an OCI image layout: the folder holds what a registry would, to be carried elsewhere.

What is attached to an image is named by the tag `sha256-<hex>` in the layout's index, as on a registry without
the referrers API, so that whoever copies every tag copies it too.
"""

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from reprobridge.digest import CHUNK, Digest, Hasher, Json, canonical_json
from reprobridge.errors import AssembleError
from reprobridge.oci.layout import (
    FULL_NAME,
    INDEX_LIMIT,
    REF_NAME,
    DamagedBlobError,
    begin_layout,
    read_entries,
    read_small_blob,
    unwritable,
    write_entry,
)
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.registry.model import Blob, Progress
from reprobridge.registry.transfer import Moved
from reprobridge.system import files


class LayoutTarget:
    """A folder as a target."""

    def __init__(self, folder: Path, image: str) -> None:
        self._folder = folder
        self._image = image
        self.name = f"oci:{folder}"
        """For people."""
        self.proves_blobs = False
        """Anybody may delete a file; a look costs nothing."""

    def _path(self, digest: Digest) -> Path:
        return self._folder / "blobs" / "sha256" / digest.hex

    def manifest(self, reference: str) -> bytes | None:
        """The manifest with this tag or digest, or None."""
        entries = read_entries(self._folder)
        if reference.startswith("sha256:"):
            named = {str(entry["digest"]) for entry in entries}
            digests = [Digest.parse(reference)] if reference in named else []
        else:
            tagged = [entry for entry in entries if _tag(entry) == reference]
            digests = [Digest.parse(str(entry["digest"])) for entry in tagged]
        return self._read(digests[0]) if digests else None

    def _read(self, digest: Digest) -> bytes | None:
        return read_small_blob(self._folder, digest, INDEX_LIMIT)

    def holds(self, blob: Descriptor) -> bool:
        """Whether the blob is there with its length."""
        path = self._path(blob.digest)
        return not path.is_symlink() and path.is_file() and path.stat().st_size == blob.size

    def push(self, blobs: Sequence[Blob], progress: Progress) -> Moved:
        """Copy blobs into the folder; every byte is looked at on its way."""
        self._begin()
        lacking = [blob for blob in blobs if not self.holds(blob.descriptor)]
        for blob in lacking:
            self._copy(blob)
            progress.advance(blob.descriptor, blob.descriptor.size)
        size = sum(blob.descriptor.size for blob in lacking)
        present = len(blobs) - len(lacking)
        return Moved(bytes=size, uploaded=len(lacking), present=present)

    def _begin(self) -> None:
        """Have a layout here, if only an empty one. Raises AssembleError where something else lies."""
        read_entries(self._folder)
        if not (self._folder / "oci-layout").is_file():
            with _written(self._folder):
                begin_layout(self._folder)

    def _copy(self, blob: Blob) -> None:
        hasher = Hasher()
        target = self._path(blob.descriptor.digest)
        new = files.replacing(target, mode=files.USUAL)
        with _written(self._folder), blob.open() as source, new as stream:
            while block := source.read(CHUNK):
                hasher.write(block)
                stream.write(block)
            if hasher.digest() != blob.descriptor.digest:
                place = getattr(source, "name", None)
                raise DamagedBlobError(blob.descriptor, hasher.digest(), place)

    def put_manifest(self, reference: str, data: bytes) -> None:
        """Let a tag mean this manifest; by its digest only the blob is written."""
        digest = Digest.of(data)
        if reference == str(digest):
            files.write_file(self._path(digest), data, mode=files.USUAL)
        else:
            names = {REF_NAME: reference, FULL_NAME: f"{self._image}:{reference}"}
            write_entry(self._folder, Descriptor(MediaType.MANIFEST, digest, len(data)), names, [data])

    def attached(self, subject: Descriptor) -> frozenset[Digest]:
        """Digests of what the subject's tag lists and is there."""
        listed = {Digest.parse(str(entry["digest"])) for entry in self._listed(subject)}
        return frozenset(digest for digest in listed if self._read(digest) is not None)

    def _listed(self, subject: Descriptor) -> list[dict[str, Json]]:
        data = self.manifest(_referrers_tag(subject.digest))
        try:
            return [] if data is None else [dict(entry) for entry in json.loads(data)["manifests"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise AssembleError(
                "the list of what is attached is broken",
                where=f"{self.name}:{_referrers_tag(subject.digest)}",
                expected="an image index",
                found=repr(error),
            ) from error

    def attach(self, subject: Descriptor, manifests: Sequence[bytes]) -> None:
        """Write the manifests, and name them in the list of the subject's tag."""
        entries = {str(entry["digest"]): entry for entry in self._listed(subject)}
        entries |= {str(Digest.of(data)): _attached_entry(data) for data in manifests}
        listed: list[Json] = list(entries.values())
        index = canonical_json({"schemaVersion": 2, "mediaType": MediaType.INDEX.value, "manifests": listed})
        described = Descriptor(MediaType.INDEX, Digest.of(index), len(index))
        names = {REF_NAME: _referrers_tag(subject.digest)}
        write_entry(self._folder, described, names, [*manifests, index])


def _attached_entry(manifest: bytes) -> dict[str, Json]:
    parsed = json.loads(manifest)
    return {
        **Descriptor(MediaType.MANIFEST, Digest.of(manifest), len(manifest)).to_json(),
        "artifactType": parsed.get("artifactType", parsed["config"]["mediaType"]),
        "annotations": parsed.get("annotations", {}),
    }


@contextlib.contextmanager
def _written(folder: Path) -> Iterator[None]:
    """What the system says about writing, as our error."""
    try:
        yield
    except OSError as error:
        raise unwritable(folder, error) from error


def _referrers_tag(subject: Digest) -> str:
    return f"sha256-{subject.hex}"


def _tag(entry: dict[str, object]) -> str:
    annotations = entry.get("annotations")
    return str(annotations.get(REF_NAME, "")) if isinstance(annotations, dict) else ""
