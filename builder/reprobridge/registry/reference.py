"""Names of images in registries: `ghcr.io/owner/name:1.0.0@sha256:…`.

The grammar is that of the distribution specification; what a short name stands for follows docker.
"""

import re

from reprobridge.digest import Digest
from reprobridge.errors import UsageError
from reprobridge.frozen import frozen

DOCKER_HUB = "docker.io"
"""Registry of names that name none."""

_REPOSITORY = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*")
_TAG = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}")
_REGISTRY = re.compile(r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?")
_LONGEST = 255


@frozen
class ImageReference:
    """Where an image is, and which one it is."""

    registry: str
    """Host, with its port when it has one: `ghcr.io`, `localhost:5000`."""
    repository: str
    """Path in the registry: `owner/name`."""
    tag: str | None = None
    """Name that may move to another image."""
    digest: Digest | None = None
    """Of the manifest; wins over the tag."""

    @classmethod
    def parse(cls, text: str) -> "ImageReference":
        """Read `[REGISTRY/]REPOSITORY[:TAG][@DIGEST]`. Raises UsageError."""
        name, at, digest = text.partition("@")
        registry, repository = _split_registry(name)
        repository, colon, tag = repository.partition(":")
        if registry == DOCKER_HUB and "/" not in repository:
            repository = f"library/{repository}"
        _require(_REGISTRY, registry, text, "a registry's host such as ghcr.io or localhost:5000")
        _require(_REPOSITORY, repository, text, "a repository in lower case such as owner/name")
        if colon:
            _require(_TAG, tag, text, "a tag of letters, digits, `_`, `.` and `-`")
        return cls(registry, repository, tag if colon else None, _digest(digest, text) if at else None)

    @property
    def name(self) -> str:
        """Registry and repository, without tag and digest."""
        return f"{self.registry}/{self.repository}"

    @property
    def target(self) -> str:
        """What a manifest is asked for by: the digest, else the tag, else `latest`."""
        return str(self.digest) if self.digest is not None else self.tag or "latest"

    def __str__(self) -> str:
        tag = "" if self.tag is None else f":{self.tag}"
        return f"{self.name}{tag}" + ("" if self.digest is None else f"@{self.digest}")


def _split_registry(name: str) -> tuple[str, str]:
    """A first part with a dot or a colon, or `localhost`, is a registry."""
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return first, rest
    return DOCKER_HUB, name


def _digest(text: str, whole: str) -> Digest:
    try:
        return Digest.parse(text)
    except ValueError as error:
        raise _wrong(whole, "a digest sha256:<64 hex> behind the @", text) from error


def _require(pattern: re.Pattern[str], part: str, whole: str, expected: str) -> None:
    if not pattern.fullmatch(part) or len(part) > _LONGEST:
        raise _wrong(whole, expected, part or "nothing")


def _wrong(whole: str, expected: str, found: str) -> UsageError:
    return UsageError(
        "not an image's name",
        where=whole,
        expected=expected,
        found=found,
        hint="write REGISTRY/REPOSITORY:TAG or REGISTRY/REPOSITORY@sha256:…",
    )
