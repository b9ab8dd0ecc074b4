"""What is built: an sdist, a commit or a folder as a tree of the store, when locking and from a lock."""

from collections.abc import Iterator
from pathlib import Path

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, LockError
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.exclusion import VERSION_CONTROL, Exclusion
from reprobridge.lock.fetch import Fetcher, Wanted, fetch_unknown
from reprobridge.lock.kept_tree import has_tree
from reprobridge.lock.model import LockedBuild, LockedFile
from reprobridge.lock.tree import keep_tree, tree_difference
from reprobridge.spec.requirement_source import SourceWish, archive_name

KIND = "sdist-tree"
"""Kind of the store's results that lead from an sdist's SHA-256 to its tree."""
LEFT_OUT = (*(f"**/{name}" for name in sorted(VERSION_CONTROL)), "**/__pycache__", "**/*.egg-info")
"""Globs of what is no part of a folder to build: version control's own, and what running and building leaves."""


@frozen
class Source:
    """A source in the store."""

    tree: Digest
    """Its files."""
    file: LockedFile | None = None
    """The sdist that they come from."""


@frozen(kw_only=True)
class ToBuild:
    """A source of which a wheel shall be built; what it is said in the words of `LockedBuild`."""

    kind: str
    """`sdist`, `archive`, `git` or `path`."""
    origin: str
    """Release, address or folder."""
    source: Source
    """Its files."""
    name: str | None = None
    """Normalised project name; None: whatever it builds."""
    commit: str | None = None
    """Of a git origin."""
    subdirectory: str | None = None
    """The part of the tree that holds the project."""

    @property
    def subject(self) -> str:
        """As `LockedBuild.subject`."""
        return self.name or "" if self.kind == "sdist" else self.origin


def bring_sdist(wanted: Wanted, doors: Doors) -> Source:
    """Fetch an sdist. Raises NetworkError, ArtifactError for what is broken or hostile."""
    from reprobridge.lock.archive import open_archive, strip_top

    Fetcher(doors.store, doors.network, vendored=doors.vendored).fetch_one(wanted)
    file = LockedFile(wanted.name, wanted.sha256, doors.store.size(wanted.sha256))
    match doors.store.result(KIND, file.sha256):
        case {"tree": str(tree)} if has_tree(doors.store, Digest.parse(tree)):
            return Source(Digest.parse(tree), file)
    exclusion = Exclusion()
    with open_archive(doors.store.path(file.sha256), doors.scratch, name=file.name) as members:
        found = [one for one in strip_top(members) if not exclusion.covers(one.entry.path)]
        kept = keep_tree(doors.store, found, where=file.name)
    doors.store.remember(KIND, file.sha256, {"tree": str(kept.tree)})
    return Source(kept.tree, file)


def bring_wish(wish: SourceWish, folder: Path, doors: Doors) -> ToBuild:
    """Bring what a requirement names. Raises LockError, NetworkError, ArtifactError."""
    match wish.kind:
        case "archive":
            source = bring_sdist(_archive(wish, doors), doors)
        case "git":
            source = Source(_commit(wish.origin, str(wish.commit), doors))
        case _:
            source = Source(_wished_folder(wish, folder, doors))
    return ToBuild(
        kind=wish.kind,
        origin=wish.origin,
        source=source,
        name=wish.name,
        commit=wish.commit,
        subdirectory=wish.subdirectory,
    )


def _wished_folder(wish: SourceWish, folder: Path, doors: Doors) -> Digest:
    if not (folder / wish.origin).is_dir():
        raise LockError(
            "there is no such folder to build",
            where=wish.place,
            expected=f"a folder {wish.origin} beside reprobridge.yaml",
            found="a file" if (folder / wish.origin).exists() else "nothing",
            hint="correct the path, or put the folder there",
        )
    return read_project_folder(folder / wish.origin, doors)


def read_project_folder(folder: Path, doors: Doors) -> Digest:
    """The tree of a folder as it is now; one that was not edited costs a look at its files."""
    from reprobridge.lock.folder import read_folder

    try:
        return read_folder(doors.store, folder, LEFT_OUT).kept.tree
    except ArtifactError as error:
        # Nothing can be excluded from a package, as the hint for an artifact's own source says.
        hint = "a package is built from all that its folder holds: repair it, or move it out"
        raise ArtifactError(
            error.message, where=error.where, expected=error.expected, found=error.found, hint=hint
        ) from error


def obtain_source(build: LockedBuild, folder: Path, doors: Doors) -> Digest:
    """Have a locked source in the store; `folder` is the artifact's. Raises LockError when it is another one now."""
    from reprobridge.lock.source import take_vendored

    if build.kind != "path" and (has_tree(doors.store, build.tree) or take_vendored(build.tree, doors)):
        return build.tree
    match build.kind:
        case "git":
            found = _commit(build.origin, str(build.commit), doors)
        case "path":
            found = read_project_folder(folder / build.origin, doors)
        case _:
            (wanted,) = wanted_sdists((build,), doors)
            found = bring_sdist(wanted, doors).tree
    if found != build.tree:
        raise LockError(
            "the source of a package is not the locked one",
            where=f"{build.name}, {build.origin}",
            expected=f"tree {build.tree}",
            found=tree_difference(doors.store, build.tree, found),
            hint="run `reprobridge lock` if the change is meant",
        )
    return found


def wanted_sdists(builds: tuple[LockedBuild, ...], doors: Doors) -> Iterator[Wanted]:
    """The locked sdists as something to fetch; an index is only asked when one is needed."""
    for build in builds:
        if build.file is not None:
            yield Wanted(
                name=build.file.name,
                sha256=build.file.sha256,
                size=build.file.size,
                addresses=lambda build=build: _addresses(build, doors),  # type: ignore[misc]
            )


def _addresses(build: LockedBuild, doors: Doors) -> list[str]:
    if build.kind == "archive":
        return [build.origin]
    from reprobridge.lock.source_pypi import find_sdist
    from reprobridge.spec.model import PypiSource

    name, _, version = build.origin.partition("==")
    return [find_sdist(PypiSource(name, version), doors, build.index).url]


def _commit(url: str, commit: str, doors: Doors) -> Digest:
    from reprobridge.lock.source_git import open_commit
    from reprobridge.spec.model import GitSource

    with open_commit(GitSource(url, commit, submodules=True), Exclusion(), doors) as content:
        return keep_tree(doors.store, content.found, where=f"{url} at {commit}").tree


def _archive(wish: SourceWish, doors: Doors) -> Wanted:
    """The archive; one of unknown digest is fetched here, and locked as it is."""
    sha256 = wish.sha256 or fetch_unknown(doors.store, doors.network, wish.origin)
    return Wanted(name=archive_name(wish.origin), sha256=sha256, size=None, addresses=lambda: [wish.origin])
