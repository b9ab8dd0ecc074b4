"""Who owns a path: finding paths that several fragments of an image have.

Equal files may stand in two layers (ADR 0005): the layers stay independent of each other and the merged
root is the same. Once any two differ, all that have the path need one winner, and each whose copy is another
than the winner's loses it. The spec may name the winner; else, for ordinary files, the package whose name sorts
last wins (what pip makes of installing in order of names) and the report says so; for native libraries and
package metadata there is no harmless winner, so it is an error.
A file where another fragment has a folder, or content below another's symbolic link, is always an error.
Paths of two fragments that differ in case alone are noted: in the image they are two, but not everywhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reprobridge.assemble.index import IndexEntry, parents
from reprobridge.assemble.spelling import same_but_for_case, told
from reprobridge.errors import Problem
from reprobridge.frozen import frozen
from reprobridge.oci.tar import EntryKind

_FOLDER = EntryKind.DIRECTORY.value
_SYMLINK = EntryKind.SYMLINK.value

_Copy = tuple[str, IndexEntry]
"""An owner of a path, and its row."""


@frozen
class Owned:
    """A fragment's paths and whose they are."""

    owner: str
    """Package name, or what else the fragment is."""
    entries: Iterable[IndexEntry]
    """Its index."""


@dataclass(slots=True)
class Settlement:
    """What was found."""

    omit: dict[str, set[str]] = field(default_factory=dict)
    """Owner -> paths that it loses."""
    notes: list[str] = field(default_factory=list)
    """Conflicts that had a harmless winner, and what is one path elsewhere, one readable line each."""
    problems: list[Problem] = field(default_factory=list)
    """Conflicts that need the author's word."""


def settle(fragments: Iterable[Owned], owners: Mapping[str, str]) -> Settlement:
    """Decide every path that several fragments have; `owners` are the author's words (path -> package)."""
    found = Settlement()
    seen: dict[str, _Copy] = {}
    shared: dict[str, list[_Copy]] = {}
    folders: dict[str, str] = {}
    for fragment in sorted(fragments, key=lambda owned: owned.owner):
        last_folder = ""
        for row in fragment.entries:
            path, copy = row.path, (fragment.owner, row)
            first = seen.setdefault(path, copy)
            if first is not copy:
                shared.setdefault(path, [first]).append(copy)
            folder = path.rpartition("/")[0]
            if folder != last_folder:
                last_folder = folder
                _note_folders(folders, folder, fragment.owner)
    for path, copies in shared.items():
        if any(_differ(copies[0], copy) for copy in copies):
            seen[path] = _decide(found, owners.get(path), copies)
    _check_folders(found, seen, folders)
    _note_spellings(found, seen, folders)
    return found


def _note_folders(folders: dict[str, str], folder: str, owner: str) -> None:
    if folder in folders or not folder:
        return
    folders[folder] = owner
    for parent in parents(folder):
        if parent in folders:
            return
        folders[parent] = owner


def _check_folders(found: Settlement, seen: Mapping[str, _Copy], folders: Mapping[str, str]) -> None:
    for path in sorted(folders.keys() & seen.keys()):
        owner, row = seen[path]
        if row.kind != _FOLDER:
            what = "symbolic link" if row.kind == _SYMLINK else "file"
            expected = f"a folder, since {folders[path]} puts files into it"
            found.problems.append(Problem(f"/{path}", expected, f"a {what} of {owner}"))


def _note_spellings(found: Settlement, seen: Mapping[str, _Copy], folders: Mapping[str, str]) -> None:
    owners = {path: owner for path, (owner, row) in seen.items() if row.kind != _FOLDER}
    spellings = same_but_for_case(owners)
    for folder, owner in folders.items():  # two folders become one without harm
        if folder not in owners and (same := spellings.get(folder.casefold())):
            same.append(folder)
            owners[folder] = owner
    noted: dict[tuple[str, ...], list[list[str]]] = {}
    for same in spellings.values():
        between = tuple(sorted({owners[path] for path in same}))
        if len(between) > 1:  # what is so within a wheel, its converter says; of a tree, locking
            noted.setdefault(between, []).append(same)
    found.notes += [f"{' and '.join(between)}: {told(groups)}" for between, groups in sorted(noted.items())]


def _differ(one: _Copy, other: _Copy) -> bool:
    """Whether both can't stand in one image; folders of two modes can."""
    return one[1][1:] != other[1][1:] and not one[1].kind == other[1].kind == _FOLDER


def _decide(found: Settlement, named: str | None, copies: list[_Copy]) -> _Copy:
    """The copy that stays, of those of one path, sorted by owner; `named` is the author's word."""
    path = copies[0][1].path
    said = next((copy for copy in copies if copy[0] == named), None)
    if said is None and _is_delicate(path):
        found.problems.append(_undecided(path, [owner for owner, _ in copies], named))
    winner = said or copies[-1]
    losers = [copy[0] for copy in copies if _differ(copy, winner)]
    for loser in losers:
        found.omit.setdefault(loser, set()).add(path)
    reason = "the spec says so" if said else "its name sorts last"
    found.notes.append(f"/{path}: {winner[0]} wins over {' and '.join(losers)}, {reason}")
    return winner


def _undecided(path: str, among: list[str], named: str | None) -> Problem:
    key = path.rpartition("/site-packages/")[2]
    hint = f"name the one that wins in the spec: environment.python.owners: {{{key}: {among[-1]}}}"
    without = f", and none in {named}, which the spec names" if named else ""
    return Problem(f"/{path}", "one file", f"different ones in {' and '.join(among)}{without}", hint)


def _is_delicate(path: str) -> bool:
    """Native libraries and package metadata: no winner is harmless."""
    name = path.rpartition("/")[2]
    return name.endswith(".so") or ".so." in name or ".dist-info/" in path or "/dpkg/" in path
