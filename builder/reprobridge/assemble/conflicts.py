"""Who owns a path: finding paths that two fragments of an image both have.

Equal files may stand in two layers (ADR 0005): the layers stay independent of each other and the merged
root is the same. Different ones need a winner. The spec may name it; else, for ordinary files, the package
whose name sorts last wins (what pip makes of installing in order of names) and the report says so;
for native libraries and package metadata there is no harmless winner, so it is an error.
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
    """Decide every path that two fragments have; `owners` are the author's words (path -> package)."""
    found = Settlement()
    seen: dict[str, tuple[str, IndexEntry]] = {}
    folders: dict[str, str] = {}
    for fragment in sorted(fragments, key=lambda owned: owned.owner):
        last_folder = ""
        for row in fragment.entries:
            earlier = seen.get(row.path)
            if earlier is None:
                seen[row.path] = (fragment.owner, row)
            elif earlier[1][1:] != row[1:] and not row.kind == earlier[1].kind == _FOLDER:
                seen[row.path] = _decide(found, owners, earlier, (fragment.owner, row))
            folder = row.path.rpartition("/")[0]
            if folder != last_folder:
                last_folder = folder
                _note_folders(folders, folder, fragment.owner)
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


def _check_folders(
    found: Settlement, seen: Mapping[str, tuple[str, IndexEntry]], folders: Mapping[str, str]
) -> None:
    for path in sorted(folders.keys() & seen.keys()):
        owner, row = seen[path]
        if row.kind != _FOLDER:
            what = "symbolic link" if row.kind == _SYMLINK else "file"
            expected = f"a folder, since {folders[path]} puts files into it"
            found.problems.append(Problem(f"/{path}", expected, f"a {what} of {owner}"))


def _note_spellings(
    found: Settlement, seen: Mapping[str, tuple[str, IndexEntry]], folders: Mapping[str, str]
) -> None:
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


def _decide(
    found: Settlement,
    owners: Mapping[str, str],
    first: tuple[str, IndexEntry],
    second: tuple[str, IndexEntry],
) -> tuple[str, IndexEntry]:
    path = first[1].path
    named = owners.get(path)
    if named is None and _is_delicate(path):
        key = path.rpartition("/site-packages/")[2]
        hint = f"name the one that wins in the spec: environment.python.owners: {{{key}: {second[0]}}}"
        both = f"different ones in {first[0]} and {second[0]}"
        found.problems.append(Problem(f"/{path}", "one file", both, hint))
    winner, loser = (first, second) if named == first[0] else (second, first)
    found.omit.setdefault(loser[0], set()).add(path)
    reason = "the spec says so" if named is not None else "its name sorts last"
    found.notes.append(f"/{path}: {winner[0]} wins over {loser[0]}, {reason}")
    return winner


def _is_delicate(path: str) -> bool:
    """Native libraries and package metadata: no winner is harmless."""
    name = path.rpartition("/")[2]
    return name.endswith(".so") or ".so." in name or ".dist-info/" in path or "/dpkg/" in path
