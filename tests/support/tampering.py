"""Images whose layers somebody changed, every digest made right again, as an attacker would."""

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

from reprobridge.digest import Digest, canonical_json
from reprobridge.oci.layout import ImageParts, read_layout, read_parts, write_layout
from reprobridge.oci.model import Descriptor, MediaType

Change = Callable[[dict[str, bytes]], None]
"""Changes a layer's regular files, by path."""


def tampered(layout: Path, title: str, change: Change, folder: Path) -> ImageParts:
    """Write the image of a layout into another one, the layer with this title changed."""
    image = read_layout(layout)
    config = json.loads(image.path(image.config.digest).read_bytes())
    number = [line["created_by"] for line in config["history"]].index(title)
    blobs = {part.digest: image.path(part.digest).read_bytes() for part in image.layers}
    tar = _changed_tar(gzip.decompress(blobs[image.layers[number].digest]), change)
    layer, described = _held(MediaType.LAYER, gzip.compress(tar, mtime=0))
    config["rootfs"]["diff_ids"][number] = str(Digest.of(tar))
    config_bytes, config_part = _held(MediaType.CONFIG, canonical_json(config))
    manifest = json.loads(image.path(image.manifest.digest).read_bytes())
    manifest["config"], manifest["layers"][number] = config_part.to_json(), described.to_json()
    manifest_bytes, manifest_part = _held(MediaType.MANIFEST, canonical_json(manifest))
    every = {**blobs, **{Digest.of(data): data for data in (layer, config_bytes, manifest_bytes)}}
    return _written(image, manifest_part, every, folder)


def _held(kind: MediaType, data: bytes) -> tuple[bytes, Descriptor]:
    return data, Descriptor(kind, Digest.of(data), len(data))


def _changed_tar(tar: bytes, change: Change) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(tar)) as old:
        members = list(old)
        files = {one.name: _read(old, one) for one in members if one.isreg()}
    change(files)
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in members:
            if member.isreg() and member.name not in files:
                continue
            data = files.pop(member.name, b"") if member.isreg() else b""
            member.size = len(data)
            new.addfile(member, io.BytesIO(data))
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            new.addfile(info, io.BytesIO(data))
    return raw.getvalue()


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    assert stream is not None
    return stream.read()


def _written(
    image: ImageParts, manifest: Descriptor, blobs: Mapping[Digest, bytes], folder: Path
) -> ImageParts:
    loose = folder.with_name(f"{folder.name}-blobs")
    loose.mkdir()
    for digest, data in blobs.items():
        (loose / digest.hex).write_bytes(data)
    parts = read_parts(image.name, image.version, manifest.digest, lambda digest: loose / digest.hex)
    write_layout(folder, parts)
    return parts
