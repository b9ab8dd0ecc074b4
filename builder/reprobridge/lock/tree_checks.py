"""What a path must be to stand in a tree: checks of names and links, without looking at bytes.

A tree ends up in an image and is unpacked by other people's tools, so what they stumble over, or what would
let a file land outside of its folder, is refused here, once, for every kind of source.
"""

from collections.abc import Iterator, Mapping, Sequence

from reprobridge.errors import ArtifactError, Problem
from reprobridge.oci.tar import EntryKind, TarEntry

WHITEOUT = ".wh."
"""Prefix of a name that deletes files of lower layers (OCI image specification, layer.md)."""
LONGEST_NAME = 255
"""Bytes of one component that Linux file systems take."""

_SHOWN = 8
_MOST_LINKS = 40  # what Linux follows in one path


def require_sound(entries: Sequence[TarEntry], *, where: str) -> None:
    """Raise ArtifactError with all that is wrong with these paths; `where` names the source."""
    if not entries:
        raise ArtifactError(
            "the source is empty", where=where, expected="at least one file", found="none that isn't excluded"
        )
    problems = list(find_problems(entries))
    if problems:
        raise ArtifactError(
            f"{len(problems)} path{'s' if len(problems) > 1 else ''} of the source cannot stand in an image",
            where=where,
            expected="; ".join(sorted({problem.expected for problem in problems})),
            found="; ".join(f"{problem.where}: {problem.found}" for problem in problems[:_SHOWN])
            + (f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""),
            hint="leave them out with `source.exclude`, or repair the source",
        )


def find_problems(entries: Sequence[TarEntry]) -> Iterator[Problem]:
    """Everything that is wrong with these paths, path by path."""
    paths = {entry.path for entry in entries}
    links = {entry.path: entry.link for entry in entries if entry.kind is EntryKind.SYMLINK}
    seen: set[str] = set()
    for entry in entries:
        problem = name_problem(entry.path)
        if problem is None and entry.path in seen:
            problem = "one entry a path", "it twice"
        if problem is None:
            problem = _folder_problem(entry.path, paths)
        if problem is None and entry.kind is EntryKind.SYMLINK:
            problem = _link_problem(entry, links)
        seen.add(entry.path)
        if problem is not None:
            yield Problem(where=ascii(entry.path), expected=problem[0], found=problem[1])


def name_problem(path: str) -> tuple[str, str] | None:
    """What was expected and found when a path cannot stand in a tree for its name alone."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "names in UTF-8", "other bytes"
    if "\0" in path:
        return "names without NUL", "one with NUL"
    if not path or path.startswith("/"):
        return "relative paths", "an absolute or empty one"
    for part in path.split("/"):
        if part in {"", ".", ".."}:
            return "plain components", f"the component {part!r}"
        if part.startswith(WHITEOUT):
            return f"no name that begins with {WHITEOUT}", "one that would delete files of other layers"
        if len(part.encode()) > LONGEST_NAME:
            return f"names of at most {LONGEST_NAME} bytes", f"one of {len(part.encode())}"
    return None


def warnings_about(entries: Sequence[TarEntry]) -> tuple[str, ...]:
    """What is odd but no error: names that are one and the same on systems that ignore case."""
    spellings: dict[str, set[str]] = {}
    for entry in entries:
        for path in (entry.path, *_folders(entry.path)):
            spellings.setdefault(_normal(path).casefold(), set()).add(path)
    return tuple(
        f"{' and '.join(sorted(same))} are one path where case doesn't count (macOS, Windows)"
        for _, same in sorted(spellings.items())
        if len(same) > 1
    )


def _normal(path: str) -> str:
    if path.isascii():  # as most are: the tables of the others take a millisecond to load
        return path
    import unicodedata

    return unicodedata.normalize("NFC", path)


def _folder_problem(path: str, paths: set[str]) -> tuple[str, str] | None:
    for folder in _folders(path):
        if folder in paths:
            return "files only below folders", f"it below {folder!r}, which is a file or link"
    return None


def _link_problem(entry: TarEntry, links: Mapping[str, str]) -> tuple[str, str] | None:
    if not entry.link or "\0" in entry.link or not _is_utf8(entry.link):
        return "links whose target is a path in UTF-8", f"the target {entry.link!r}"
    if entry.link.startswith("/"):
        return "relative links", f"one to {entry.link}"
    if _leaves(entry.path, links):
        return "links that stay in the source", f"one to {entry.link}"
    return None


def _leaves(path: str, links: Mapping[str, str]) -> bool:
    """Whether following a link, through all other links on the way, steps out of the tree."""
    place = path.split("/")
    steps: list[str] = []
    for _ in range(_MOST_LINKS):
        # `place` is a link: go to its folder and walk along its target from there.
        steps.extend(reversed(links["/".join(place)].split("/")))
        place.pop()
        while steps and "/".join(place) not in links:
            step = steps.pop()
            if step == "..":
                if not place:
                    return True
                place.pop()
            elif step not in {"", "."}:
                place.append(step)
        if "/".join(place) not in links:
            return False
    return False  # a loop, or longer than any system follows: it opens nothing


def _folders(path: str) -> Iterator[str]:
    while (slash := path.rfind("/")) > 0:
        path = path[:slash]
        yield path


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
