"""Which tags an image gets, and that a published version stays what it is.

A version tag names one image for good: readers, papers and signatures rely on it. Other tags (`1.0`, `latest`)
are there to move. Tags of the form `sha256-…` belong to referrers (distribution-spec 1.1, referrers tag schema).
"""

import re

from reprobridge.digest import Digest
from reprobridge.errors import PublishError, UsageError
from reprobridge.frozen import frozen

_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_REFERRERS = re.compile(r"sha256-[0-9a-f]{64}.*")


@frozen(kw_only=True)
class Tags:
    """The tags of one publication."""

    version: str
    """The artifact's version; does not move."""
    also: tuple[str, ...] = ()
    """Tags that move to this image."""
    move_version: bool = False
    """Whether the user asked to move the version tag too."""

    def __post_init__(self) -> None:
        for tag in self.all():
            if not _TAG.fullmatch(tag) or _REFERRERS.fullmatch(tag):
                raise UsageError(
                    "no tag for an image",
                    where="--also-tag" if tag in self.also else "version",
                    expected="letters, digits, `.`, `_` and `-`, at most 128, not sha256-<hex>",
                    found=tag,
                )

    def all(self) -> tuple[str, ...]:
        """Each tag once, in the order in which they are set: the version first."""
        return tuple(dict.fromkeys((self.version, *self.also)))


def require_free(tags: Tags, standing: Digest | None, ours: Digest, where: str) -> None:
    """Refuse to let a version tag that stands for another image move. Raises PublishError."""
    if standing in (None, ours) or tags.move_version:
        return
    raise PublishError(
        "this version is published already, with another digest",
        where=f"{where}:{tags.version}",
        expected=str(ours),
        found=str(standing),
        hint="raise `version` in reprobridge.yaml; --move-tag replaces what readers rely on",
    )
