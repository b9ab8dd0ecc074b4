"""Where a publication goes, as a user writes it."""

import re
from pathlib import Path

from reprobridge.errors import UsageError
from reprobridge.frozen import frozen
from reprobridge.registry.reference import ImageReference
from reprobridge_launcher.manifest import Manifest

FORMS = "REGISTRY/REPOSITORY such as ghcr.io/you/paper, or oci:FOLDER"
"""What may be named, for help texts and errors."""

_GITHUB = r"https://github\.com/(?P<owner>[A-Za-z0-9-]+)/(?P<name>[A-Za-z0-9._-]+?)(?:\.git)?/?"


@frozen
class Repository:
    """A repository of a registry."""

    host: str
    """The registry: `ghcr.io`, `localhost:5000`."""
    path: str
    """In the registry: `owner/name`."""


@frozen
class Layout:
    """An OCI image layout."""

    folder: Path
    """Its folder; made when missing."""


def names_target(word: str) -> bool:
    """Whether a word names a target: it begins with a registry's host, or is a layout."""
    first, slash, _ = word.partition("/")
    host = bool(slash) and (first == "localhost" or re.search(r"[^.][.:]", first) is not None)
    return word.startswith("oci:") or host


def parse_target(word: str, version: str) -> Repository | Layout:
    """Read a target; its tag, when it has one, must be the artifact's version. Raises UsageError."""
    if word.startswith("oci:"):
        return Layout(Path(word.removeprefix("oci:")))
    if not names_target(word):
        raise UsageError(
            "not a place to publish to",
            where=word,
            expected=FORMS,
            found="no registry's host before the first /",
            hint=f"write docker.io/{word} for Docker Hub",
        )
    reference = ImageReference.parse(word)
    if reference.digest is not None or reference.tag not in (None, version):
        raise UsageError(
            "the image is tagged with the artifact's version",
            where=word,
            expected=f"{reference.name}, or {reference.name}:{version}",
            found=word,
            hint="--also-tag sets further tags",
        )
    return Repository(reference.registry, reference.repository)


def default_target(artifact: Manifest) -> Repository:
    """GHCR, beside the artifact's repository on GitHub. Raises UsageError when it lies elsewhere."""
    found = re.fullmatch(_GITHUB, artifact.artifact.repository or "")
    if found is None:
        raise UsageError(
            "where to publish is not said",
            expected=FORMS,
            found=f"`repository` is {artifact.artifact.repository or 'not set'}, no repository on GitHub",
            hint=f"write `reprobridge publish . ghcr.io/YOU/{artifact.paper.id}`",
        )
    return Repository("ghcr.io", f"{found['owner'].lower()}/{artifact.paper.id}")
