"""Requirements that name a source instead of a release: a folder, a commit, an sdist at an address.

    ./solver[plot] ; python_version >= "3.9"
    solver[plot] @ git+https://example.org/solver@<40 hexadecimal digits>#subdirectory=python
    solver @ https://example.org/solver-1.0.tar.gz#sha256=<64 hexadecimal digits>

What could mean other bytes tomorrow is refused: a branch, a tag, a folder outside of the artifact.
"""

import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

from reprobridge.digest import Digest
from reprobridge.errors import Problem
from reprobridge.frozen import frozen, replace
from reprobridge.spec.package_name import normalized
from reprobridge.spec.scalars import LOGIN_HINT
from reprobridge.wording import has_login

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_FOLDER = re.compile(
    r"(?P<path>\.{1,2}(?:/[^\s\[;]*)?)\s*(?P<extras>\[[^\]]*\])?\s*(?:;\s*(?P<marker>.+))?", re.DOTALL
)
_BARE = re.compile(r"(?P<url>git\+\S+?)\s*(?:\s;\s*(?P<marker>.+))?", re.DOTALL)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_REPOSITORIES = ("git+https", "git+http", "git+ssh", "git+file")
_ARCHIVES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")


@frozen(kw_only=True)
class SourceWish:
    """A requirement whose wheel has to be built."""

    place: str
    """Where it stands, for people."""
    kind: str
    """`archive`, `git` or `path`, as in `LockedBuild`."""
    origin: str
    """The address without commit and fragment, or the folder relative to the artifact's."""
    commit: str | None = None
    """Of a git repository."""
    subdirectory: str | None = None
    """The part of it that holds the project."""
    sha256: Digest | None = None
    """Of an archive, where the requirement says it."""
    name: str | None = None
    """Normalised project name, where the requirement says it."""
    extras: str = ""
    """For example `[plot]`."""
    marker: str = ""
    """When it is required (PEP 508); empty: always."""

    def as_requirement(self, name: str, url: str) -> str:
        """The same wish for a built wheel at an address."""
        return f"{name}{self.extras} @ {url}" + (f" ; {self.marker}" if self.marker else "")


def unnamed_source(place: str, line: str) -> SourceWish | Problem | None:
    """A folder or a repository without the project's name before it; None for anything else."""
    if found := _FOLDER.fullmatch(line):
        return _folder(place, found["path"], found["extras"] or "", found["marker"] or "")
    if found := _BARE.fullmatch(line):
        known = SourceWish(place=place, kind="git", origin="", marker=found["marker"] or "")
        try:
            parts = urlsplit(found["url"])
        except ValueError:  # brackets without an address in them
            return None
        return _secret(place, parts) or _repository(place, parts, known)
    return None


def named_source(place: str, requirement: "Requirement") -> SourceWish | Problem | None:
    """What stands behind the `@` of a requirement; None for the address of a wheel."""
    parts = urlsplit(requirement.url or "")
    if problem := _secret(place, parts):
        return problem
    known = SourceWish(
        place=place,
        kind="archive",
        origin="",
        name=normalized(requirement.name),
        extras=f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else "",
        marker=str(requirement.marker or ""),
    )
    if "+" in parts.scheme or parts.path.endswith(".git"):
        return _repository(place, parts, known)
    if parts.scheme not in ("http", "https"):
        hint = "name a folder inside of the artifact's as ./FOLDER, or publish the file"
        return Problem(place, "an address", f"a path of this machine ({requirement.url})", hint)
    if parts.path.endswith(".whl"):
        return None
    if not parts.path.endswith(_ARCHIVES):
        return Problem(
            place,
            f"the address of a wheel or sdist for {requirement.name}",
            f"something else ({requirement.url})",
            f"sdists end in {', '.join(_ARCHIVES)}; a repository's address begins with git+",
        )
    return _archive(place, parts, known)


def _secret(place: str, parts: SplitResult) -> Problem | None:
    """Refuses credentials; the user of an ssh address is none."""
    if not parts.password and not has_login(urlunsplit(parts)):
        return None
    return Problem(place, "an address without credentials", "one with a password or token in it", LOGIN_HINT)


def _folder(place: str, path: str, extras: str, marker: str) -> SourceWish | Problem:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        hint = "what is built from must lie beside reprobridge.yaml, so that it is published with it"
        return Problem(place, "a folder inside of the artifact's", path, hint)
    return SourceWish(place=place, kind="path", origin="/".join(parts) or ".", extras=extras, marker=marker)


def _repository(place: str, parts: SplitResult, known: SourceWish) -> SourceWish | Problem:
    address, at, commit = parts.path.rpartition("@")
    expected = "git+https://HOST/REPOSITORY@COMMIT"
    if parts.scheme not in _REPOSITORIES:
        return Problem(place, expected, f"a repository ({urlunsplit(parts)})", "only git is supported")
    if not at or not _COMMIT.fullmatch(commit):
        found = f"{commit!r}, which may mean another commit tomorrow" if at else "no commit"
        return Problem(place, f"{expected}, the commit in 40 hexadecimal digits", found)
    fragment = dict(parse_qsl(parts.fragment))
    url = urlunsplit((parts.scheme.removeprefix("git+"), parts.netloc, address, "", ""))
    if (subdirectory := fragment.get("subdirectory")) and not _is_inside(subdirectory):
        return Problem(place, "a subdirectory of the repository", subdirectory)
    return replace(known, kind="git", origin=url, commit=commit, subdirectory=subdirectory or None)


def _archive(place: str, parts: SplitResult, known: SourceWish) -> SourceWish | Problem:
    fragment = dict(parse_qsl(parts.fragment))
    url = urlunsplit((*parts[:4], ""))
    digits = fragment.get("sha256", "").lower()
    if digits and not re.fullmatch(r"[0-9a-f]{64}", digits):
        return Problem(place, "#sha256=<64 hexadecimal digits>", digits)
    if (subdirectory := fragment.get("subdirectory")) and not _is_inside(subdirectory):
        return Problem(place, "a subdirectory of the archive", subdirectory)
    return replace(
        known, origin=url, subdirectory=subdirectory or None, sha256=Digest(digits) if digits else None
    )


def _is_inside(folder: str) -> bool:
    return not folder.startswith("/") and ".." not in folder.split("/")


def archive_name(url: str) -> str:
    """The file name in an archive's address."""
    return unquote(urlsplit(url).path).rpartition("/")[2]
