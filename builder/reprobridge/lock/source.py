"""The original code and its refined form: resolved for the lock, and brought back from the lock.

Four kinds of sources end in the same two trees of the store (`tree.py`): the original one, exclusions applied,
and the refined one, changes applied. What a commit or an archive of known digest holds never changes, so it is
remembered in the store; a folder is looked at each time (`folder.py`).
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from reprobridge.digest import Digest, Json, digest_json
from reprobridge.errors import ArtifactError, LockError
from reprobridge.frozen import frozen, replace
from reprobridge.lock.doors import Doors
from reprobridge.lock.exclusion import Exclusion
from reprobridge.lock.fetch import Fetcher, Wanted
from reprobridge.lock.kept_tree import has_tree, kept_tree
from reprobridge.lock.model import LockedFile, LockedSource
from reprobridge.lock.tree import Found, history_in, keep_tree, tree_difference
from reprobridge.spec.model import ArchiveSource, FolderSource, GitSource, PypiSource, Source, Spec

UNDATED = "1980-01-02T00:00:00Z"
"""Date of a source that has none of its own; the time of everything in layers (`oci/tar.py`)."""
KIND = "source"
"""Kind of the store's results that remember a commit's or an archive's tree."""
RULES = 1
"""Grows when the same commit or archive gives another tree."""

_YEAR_10000 = 253402300800


@frozen(kw_only=True)
class ResolvedSource:
    """A source that has been locked."""

    locked: LockedSource
    """What stands in the lock."""
    warnings: tuple[str, ...]
    """What is odd but no error, for people."""


class OtherSourceError(LockError):
    """The origin has the source, but not the locked one."""


@frozen(kw_only=True)
class _Original:
    """The original code, in the store."""

    tree: Digest
    file: LockedFile | None = None
    date: str = UNDATED
    warnings: tuple[str, ...] = ()


def lock_source(spec: Spec, folder: Path, doors: Doors) -> ResolvedSource:
    """Fetch the source, apply the changes, and say what they are. `folder` is the artifact's.

    Raises LockError (no such commit, folder, release; a patch that doesn't apply), NetworkError, ArtifactError
    (wrong or hostile content).
    """
    original = _read(spec, folder, doors, None)
    from reprobridge.lock.changes import apply_changes
    from reprobridge.lock.leaks import secrets_in

    refined = apply_changes(original.tree, spec, doors)
    locked = LockedSource(
        wish=source_wish(spec, folder, doors),
        kind=source_kind(spec.source),
        origin=origin(spec.source),
        commit=spec.source.commit if isinstance(spec.source, GitSource) else None,
        file=original.file,
        tree=original.tree,
        refined=refined.tree,
        date=original.date,
        changes=refined.changes,
    )
    history = tuple(
        f"{path} is part of the source and would reach the image: add it to `source.exclude`"
        for path in history_in(doors.store, original.tree)
    )
    secrets = tuple(
        f"{secret} is part of the source, and `validate` refuses such an image: add the file to `source.exclude`"
        for secret in secrets_in(doors.store, refined.tree)
    )
    warnings = (*original.warnings, *history, *secrets)
    return ResolvedSource(locked=locked, warnings=warnings)


def source_wish(spec: Spec, folder: Path, doors: Doors, *, tree: Digest | None = None) -> Digest:
    """Digest of source, exclusions and patches: another one means that the lock is stale.

    For a folder its content is part of it, so that an edit shows; an unedited one costs a look at its files.
    `tree`: of a folder that is not at hand.
    """
    patches: Json = [str(Digest.of(spec.files[change.patch])) for change in spec.changes]
    wish: dict[str, Json] = {"source": _wish(spec.source), "exclude": list(spec.exclude), "patches": patches}
    if isinstance(spec.source, FolderSource):
        wish["tree"] = str(tree or _read_folder(spec, folder, doors).tree)
    return digest_json(wish)


def obtain_tree(spec: Spec, locked: LockedSource, folder: Path, doors: Doors) -> Digest:
    """Have the original tree in the store, as from a fresh clone with an empty store.

    A vendored tree is taken before the origin is asked. Raises OtherSourceError when the origin gives another
    tree than the locked one, saying what differs; else errors as for `lock_source`.
    """
    if locked.kind != "path" and (has_tree(doors.store, locked.tree) or take_vendored(locked.tree, doors)):
        return locked.tree
    found = _read(spec, folder, doors, locked.file).tree
    if found != locked.tree:
        raise OtherSourceError(
            "the source is not the locked one",
            where=locked.origin,
            expected=f"tree {locked.tree}",
            found=tree_difference(doors.store, locked.tree, found),
            hint="run `reprobridge lock` if the change is meant",
        )
    return found


def obtain_refined(spec: Spec, locked: LockedSource, folder: Path, doors: Doors) -> Digest:
    """Have the refined tree in the store. Errors as for `obtain_tree`, and when the patches changed."""
    if locked.kind != "path" and has_tree(doors.store, locked.refined):
        return locked.refined
    from reprobridge.lock.changes import apply_changes

    found = apply_changes(obtain_tree(spec, locked, folder, doors), spec, doors).tree
    if found != locked.refined:
        raise LockError(
            "the changes are not the locked ones",
            where="changes",
            expected=f"tree {locked.refined}",
            found=tree_difference(doors.store, locked.refined, found),
            hint="run `reprobridge lock` if the change is meant",
        )
    return found


def wanted_source(spec: Spec, locked: LockedSource, doors: Doors) -> tuple[Wanted, ...]:
    """The locked archive or sdist as something to fetch; nothing for sources that are no published file."""
    match spec.source:
        case ArchiveSource() as archive:
            return (_archive(archive),)
        case PypiSource() as release if locked.file:
            return (_locked_sdist(release, locked.file, doors),)
    return ()


def source_kind(source: Source) -> str:
    """The kind's name in the lock, which is its key in the spec."""
    match source:
        case GitSource():
            return "git"
        case ArchiveSource():
            return "archive"
        case PypiSource():
            return "pypi"
        case FolderSource():
            return "path"


def origin(source: Source) -> str:
    """Where the source comes from, as the spec names it."""
    match source:
        case GitSource(url=url) | ArchiveSource(url=url):
            return url
        case PypiSource(name=name, version=version):
            return f"{name}=={version}"
        case FolderSource(path=path):
            return path.as_posix()


def misnamed(spec: Spec, locked: LockedSource) -> dict[str, tuple[str, str]]:
    """What a lock that answers the wish says otherwise than the spec: field -> asked, locked.

    Somebody edited it, or it is of a release that did not lock yet what the changes do.
    """
    source, patches = spec.source, [Digest.of(spec.files[change.patch]) for change in spec.changes]
    known = [change.patch for change in locked.changes]
    commit = source.commit if isinstance(source, GitSource) else None
    pairs = {
        "kind": (source_kind(source), locked.kind),
        "origin": (origin(source), locked.origin),
        "commit": (str(commit), str(locked.commit)),
    }
    if patches != known:
        pairs["changes"] = (f"what {len(patches)} patches do", f"what {len(known)} others do")
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _wish(source: Source) -> Json:
    match source:
        case GitSource():
            return {
                "git": source.url,
                "commit": source.commit,
                "submodules": source.submodules,
                "subdirectory": source.subdirectory,
            }
        case ArchiveSource():
            return {"archive": source.url, "sha256": str(source.sha256), "subdirectory": source.subdirectory}
        case PypiSource() | FolderSource():
            return {source_kind(source): origin(source)}


# reading


def _read(spec: Spec, folder: Path, doors: Doors, known: LockedFile | None) -> _Original:
    """The original tree; `known` is the file that a lock names already."""
    match spec.source:
        case GitSource() as git:
            content: Json = [git.commit, git.submodules, git.subdirectory]
            return _remembered(spec, doors, content, lambda: _read_commit(git, spec, doors))
        case ArchiveSource() as archive:
            return _read_file(_archive(archive), archive.subdirectory, spec, doors)
        case PypiSource() as release:
            return _read_release(release, spec, doors, known)
        case FolderSource():
            return _read_folder(spec, folder, doors)


def _read_commit(source: GitSource, spec: Spec, doors: Doors) -> _Original:
    from reprobridge.lock.source_git import open_commit

    exclusion = Exclusion(spec.exclude)
    with open_commit(source, exclusion, doors) as commit:
        kept = keep_tree(doors.store, commit.found, where=f"{source.url} at {source.commit}")
    warnings = (*kept.warnings, *commit.warnings, *_unused(exclusion.unused))
    return _Original(tree=kept.tree, date=_rfc3339(commit.date), warnings=warnings)


def _rfc3339(seconds: int | None) -> str:
    """A commit's date; some were made by clocks that no calendar, or not even git, knows."""
    if seconds is None or not 0 <= seconds < _YEAR_10000:
        return UNDATED
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _read_release(source: PypiSource, spec: Spec, doors: Doors, known: LockedFile | None) -> _Original:
    from reprobridge.lock.source_pypi import find_sdist

    if known is not None:
        return _read_file(_locked_sdist(source, known, doors), None, spec, doors)
    sdist = find_sdist(source, doors)
    wanted = Wanted(name=sdist.name, sha256=sdist.sha256, size=sdist.size, addresses=lambda: [sdist.url])
    return replace(_read_file(wanted, None, spec, doors), date=sdist.uploaded or UNDATED)


def _locked_sdist(source: PypiSource, file: LockedFile, doors: Doors) -> Wanted:
    """The sdist that a lock names; the index is only asked where it is today."""

    def addresses() -> list[str]:
        from reprobridge.lock.source_pypi import find_sdist

        return [find_sdist(source, doors).url]

    return Wanted(name=file.name, sha256=file.sha256, size=file.size, addresses=addresses)


def _archive(source: ArchiveSource) -> Wanted:
    named = unquote(urlsplit(source.url).path).rpartition("/")[2]
    name = named if named.isprintable() and named.strip(".") else "archive"
    return Wanted(name=name, sha256=source.sha256, size=None, addresses=lambda: [source.url])


def _read_file(wanted: Wanted, subdirectory: str | None, spec: Spec, doors: Doors) -> _Original:
    """The tree of an archive, which is fetched if need be."""
    from reprobridge.lock.archive import open_archive, strip_top

    Fetcher(doors.store, doors.network, vendored=doors.vendored).fetch_one(wanted)
    file = LockedFile(wanted.name, wanted.sha256, doors.store.size(wanted.sha256))

    def read() -> _Original:
        exclusion = Exclusion(spec.exclude)
        path = doors.store.path(file.sha256)
        with open_archive(path, doors.scratch, name=file.name) as members:
            found = _part(strip_top(members), subdirectory, file.name)
            kept_members = [one for one in found if not exclusion.covers(one.entry.path)]
            kept = keep_tree(doors.store, kept_members, where=file.name)
        return _Original(tree=kept.tree, warnings=(*kept.warnings, *_unused(exclusion.unused)))

    return replace(_remembered(spec, doors, [str(file.sha256), subdirectory], read), file=file)


def _read_folder(spec: Spec, folder: Path, doors: Doors) -> _Original:
    reading = doors.read_folder(folder / origin(spec.source), spec.exclude)
    return _Original(tree=reading.kept.tree, warnings=(*reading.kept.warnings, *_unused(reading.unused)))


def _part(found: list[Found], subdirectory: str | None, name: str) -> list[Found]:
    if subdirectory is None:
        return found
    from reprobridge.lock.archive import below

    if part := below(found, subdirectory):
        return part
    raise LockError(
        "the archive does not have the folder",
        where=name,
        expected=f"a folder {subdirectory}",
        found="none with files in it",
        hint="correct `source.subdirectory`; a single top folder is stripped first",
    )


def _unused(globs: tuple[str, ...]) -> tuple[str, ...]:
    # A folder of bytecode that isn't there yet is no mistake: `reprobridge init` excludes it beforehand.
    mistyped = (glob for glob in globs if "__pycache__" not in glob)
    return tuple(f"source.exclude: {glob!r} matches nothing" for glob in mistyped)


# remembering


def _remembered(spec: Spec, doors: Doors, content: Json, read: Callable[[], _Original]) -> _Original:
    key = digest_json({"content": content, "exclude": list(spec.exclude), "rules": RULES})
    match doors.store.result(KIND, key):
        case {"tree": str(tree), "date": str(date), "warnings": [*warnings]}:
            if kept_tree(doors.store, Digest.parse(tree)):
                return _Original(tree=Digest.parse(tree), date=date, warnings=tuple(warnings))
    original = read()
    doors.store.remember(
        KIND, key, {"tree": str(original.tree), "date": original.date, "warnings": list(original.warnings)}
    )
    return original


def take_vendored(tree: Digest, doors: Doors) -> bool:
    """Take the tree from a vendor folder, if one has it."""
    from reprobridge.lock.archive import open_archive

    for folder in doors.vendored:
        path = folder / f"{tree.hex}.tar"
        if path.is_file():
            # A broken one is passed over, like any other place that has the wrong bytes.
            with (
                contextlib.suppress(ArtifactError),
                open_archive(path, doors.scratch, name=str(path)) as found,
            ):
                if keep_tree(doors.store, found, where=str(path)).tree == tree:
                    return True
    return False
