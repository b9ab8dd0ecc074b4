"""Paths of a Debian package in an image whose /usr is merged.

`/bin`, `/sbin` and `/lib*` are links to the folders below /usr in every image of ours; they belong to the
Debian state alone, since a folder over such a link hides the C library (rules_oci#857).
So a package's paths, its hard links and those of its relative links that would break are rewritten here.
Absolute targets stay as they are: `/lib/x` leads to `/usr/lib/x` through the link, as on any Debian.
"""

import posixpath

from reprobridge.errors import ArtifactError

ALIASED = frozenset({"bin", "sbin", "lib", "lib32", "lib64", "libo32", "libx32"})
"""Top folders that are links into /usr."""
MOVED_FOLDERS = {"var/run": "/run", "var/lock": "/run/lock"}
"""Folders that base-files' postinst turns into links."""


def checked_path(name: str, package: str) -> str:
    """A path of data.tar without `./` and slashes around; empty for the root. Raises ArtifactError."""
    require_utf8(name, package)
    path = name.removeprefix("./").rstrip("/")
    if path in ("", "."):
        return ""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise _hostile(package, name, "a path below the root, without `..`")
    if any(part.startswith(".wh.") for part in parts):
        raise _hostile(package, name, "a name that is no whiteout (`.wh.`)")
    return path


def require_utf8(name: str, package: str) -> None:
    """Refuse names of other encodings (Policy §10.10): indexes are JSON. Raises ArtifactError."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise _hostile(package, name, "a name in UTF-8") from error


def merged(path: str) -> str:
    """Where a path stands when /usr is merged."""
    top = path.partition("/")[0]
    return f"usr/{path}" if top in ALIASED else path


def is_state_link(path: str) -> bool:
    """Whether the Debian state makes this path a link, so that no package's folder or link may stand there."""
    return path in ALIASED or path in MOVED_FOLDERS


def merged_target(path: str, target: str) -> str:
    """The text of a symbolic link at (unmerged) `path`, so that it leads to the same file after the merge."""
    if target.startswith("/") or merged(path) == path:
        return target
    meant = merged(_resolved(path, target))
    if merged(_resolved(merged(path), target)) == meant:
        return target
    return posixpath.relpath(f"/{meant}", f"/{posixpath.dirname(merged(path))}")


def _resolved(path: str, target: str) -> str:
    return posixpath.normpath(f"/{posixpath.dirname(path)}/{target}").lstrip("/")


def _hostile(package: str, name: str, expected: str) -> ArtifactError:
    return ArtifactError(
        "the package has a path that cannot be in an image",
        where=package,
        expected=expected,
        found=repr(name),
    )
