"""What an image says about itself, made from a committed artifact without building anything."""

import json
from dataclasses import dataclass
from pathlib import Path

from reprobridge.digest import Digest
from reprobridge.lock.file import FILE_NAME, parse_lock
from reprobridge.plan.contents.manifest import ArtifactId, manifest_bytes, references_bytes
from reprobridge.plan.contents.sbom import sbom_bytes
from reprobridge.publish.statements.statement import Subject
from reprobridge.spec.parse import read_spec
from reprobridge_launcher import manifest, references
from reprobridge_launcher.manifest import Manifest
from reprobridge_launcher.references import Reference
from support.artifacts import WINE

PLATFORM = "linux/amd64"
"""What the artifact is locked for."""
SUBJECT = Subject("registry.example/wine", Digest.of(b"the image's manifest"))
"""An image that is spoken of."""


@dataclass(frozen=True)
class SaidOfItself:
    """Files of an image."""

    manifest: Manifest
    """/rra/manifest.json."""
    lock: bytes
    """/rra/lock/reprobridge.lock."""
    sbom: bytes
    """/rra/sbom.spdx.json."""
    references: dict[str, Reference]
    """/rra/references.json."""


def said_of_itself(folder: Path = WINE) -> SaidOfItself:
    """What the image of this artifact would hold."""
    spec, data = read_spec(folder), (folder / FILE_NAME).read_bytes()
    lock = parse_lock(data, FILE_NAME)
    identity, platform = ArtifactId(spec.digest(), Digest.of(data)), lock.platforms[PLATFORM]
    return SaidOfItself(
        manifest=manifest.parse(json.loads(manifest_bytes(spec, lock.source, platform, identity))),
        lock=data,
        sbom=sbom_bytes(spec, lock, platform, identity.id),
        references=references.parse(json.loads(references_bytes(spec))),
    )
