"""Applying the patch series: original tree in, refined tree out.

Patches are applied by `git apply` (ADR 0004), strictly: no fuzz, all or nothing, never outside of the tree,
in a scratch folder that no repository reaches. Each change's effect is what really differs before and after,
so every changed line belongs to exactly one change, and a change without effect is an error.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from reprobridge.digest import Digest, digest_json
from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.exclusion import Exclusion
from reprobridge.lock.folder import look, read_folder
from reprobridge.lock.git_environment import closed_environment
from reprobridge.lock.kept_tree import has_tree
from reprobridge.lock.model import LockedChange
from reprobridge.lock.tree import history_in, native_path, unpack_tree
from reprobridge.spec.model import Change, Spec
from reprobridge.system import files
from reprobridge.system.processes import Command, Completed

KIND = "refined-tree"
"""Kind of the store's results that remember what a series made of a tree."""
RULES = 2
"""Grows when the same tree and series give another result."""

_FAILED = re.compile(r"error: patch failed: (?P<file>.*):(?P<line>\d+)")
_HUNK = re.compile(rb"^@@ -(?P<line>\d+)", re.MULTILINE)


@frozen
class Refined:
    """A tree with all changes applied."""

    tree: Digest
    """Its digest; the tree is in the store."""
    changes: tuple[LockedChange, ...]
    """In the order of the series."""


def apply_changes(tree: Digest, spec: Spec, doors: Doors) -> Refined:
    """Apply the spec's series to a tree of the store. Raises LockError that names change, patch and hunk."""
    if not spec.changes:
        return Refined(tree, ())
    _refuse_history(tree, doors)
    patches = [[change.id, str(Digest.of(spec.files[change.patch]))] for change in spec.changes]
    key = digest_json({"tree": str(tree), "patches": patches, "exclude": list(spec.exclude), "rules": RULES})
    if refined := _remembered(doors, key, spec):
        return refined
    with files.scratch_folder(doors.scratch) as root:
        unpack_tree(doors.store, tree, root)
        series = _Series(root, spec, doors)
        touched = [series.apply(change) for change in spec.changes]
        tree = read_folder(doors.store, root, where="the changed source").kept.tree
        refined = Refined(tree, _locked(spec, touched))
    doors.store.remember(
        KIND, key, {"tree": str(refined.tree), "changes": [list(one.files) for one in refined.changes]}
    )
    return refined


def _locked(spec: Spec, touched: Sequence[Sequence[str]]) -> tuple[LockedChange, ...]:
    pairs = zip(spec.changes, touched, strict=True)
    return tuple(LockedChange(Digest.of(spec.files[change.patch]), tuple(files)) for change, files in pairs)


def _remembered(doors: Doors, key: Digest, spec: Spec) -> Refined | None:
    match doors.store.result(KIND, key):
        case {"tree": str(tree), "changes": [*changes]} if has_tree(doors.store, Digest.parse(tree)):
            return Refined(Digest.parse(tree), _locked(spec, changes))
    return None


def _refuse_history(tree: Digest, doors: Doors) -> None:
    """Git would take a `.git` in the scratch folder for a repository, and its configuration for the user's."""
    if history := history_in(doors.store, tree):
        raise LockError(
            "a source with version control's own files in it cannot be changed",
            where="source.path",
            expected="the code alone",
            found=", ".join(history),
            hint="add them to `source.exclude`",
        )


class _Series:
    """A folder that changes are applied to, one after the other."""

    def __init__(self, root: Path, spec: Spec, doors: Doors) -> None:
        self._root, self._spec, self._doors = root, spec, doors

    def apply(self, change: Change) -> list[str]:
        """Apply it; gives the paths that it changes, makes or removes, sorted."""
        patch = self._spec.files[change.patch]
        named = self._named(change, patch)
        self._refuse_excluded(change, named)
        before, contents = _paths(self._root), self._contents(named)
        done = self._git(patch)
        if done.returncode != 0:
            raise _does_not_apply(change, patch, done)
        after = _paths(self._root)
        changed = {path for path, row in self._contents(named).items() if row != contents[path]}
        touched = changed | (before ^ after)
        self._refuse_excluded(change, touched)
        if not touched:
            raise _wrong(
                change, "a patch that changes something", "one without effect", hint="drop the change"
            )
        return sorted(touched)

    def _named(self, change: Change, patch: bytes) -> set[str]:
        """Paths that the patch names: all that it touches, but for the old names of renamed files."""
        done = self._git(patch, "--numstat", "-z")
        if done.returncode != 0:
            hint = "make it anew with `git diff --binary`"
            raise _wrong(change, "a unified diff, as `git diff` writes it", _words(done), hint=hint)
        lines = done.stdout.decode("utf-8", "surrogateescape").split("\0")
        named = {line.split("\t", 2)[2] for line in lines if line}
        if outside := sorted(path for path in named if path.startswith("/") or ".." in path.split("/")):
            hint = "make it in the source's top folder, by `git diff` or `diff -u`"
            raise _wrong(change, "a patch of files of the source", ", ".join(outside), hint=hint)
        return named

    def _contents(self, paths: set[str]) -> dict[str, str | None]:
        return {path: _content(self._root / native_path(path)) for path in paths}

    def _refuse_excluded(self, change: Change, paths: set[str]) -> None:
        exclusion = Exclusion(self._spec.exclude)
        excluded = sorted(path for path in paths if exclusion.covers(path))
        if excluded:
            raise _wrong(
                change,
                "a patch of files that are part of the source",
                f"{', '.join(excluded)}, excluded by `source.exclude` or as version control's own",
                hint="drop these hunks from the patch, or narrow the exclusion",
            )

    def _git(self, patch: bytes, *arguments: str) -> Completed:
        argv = ("git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", *arguments, "-")
        # Inside a repository, git apply would silently skip what lies outside of its work tree.
        environment = closed_environment(
            self._doors.environment, GIT_CEILING_DIRECTORIES=str(self._root.parent.resolve())
        )
        return self._doors.processes.run(
            Command(argv=argv, cwd=self._root, environment=environment, stdin=patch)
        )


def _paths(root: Path) -> set[str]:
    return {seen.path for seen in look(root, Exclusion())}


def _content(path: Path) -> str | None:
    """What makes two states of a path differ: its kind, executable bit and bytes; None: it isn't there."""
    if path.is_symlink():
        return f"link {path.readlink()}"
    if not path.is_file():
        return None
    with path.open("rb") as stream:
        return f"{path.stat().st_mode & 0o100} {hashlib.file_digest(stream, 'sha256').hexdigest()}"


def _does_not_apply(change: Change, patch: bytes, done: Completed) -> LockError:
    message = done.stderr.decode(errors="replace")
    if failed := _FAILED.search(message):
        file, line = failed["file"], int(failed["line"])
        place = f"{file}, {_hunk(patch, file, line)} (line {line}): "
    else:
        place = ""
    return _wrong(
        change,
        "a patch that fits the source and the changes before it",
        place + _words(done),
        hint="make the patch anew against the locked source: the series is applied in order, without fuzz",
    )


def _hunk(patch: bytes, file: str, line: int) -> str:
    """Which hunk of the file's part of the patch begins at that line of the old file."""
    for part in re.split(rb"^(?=diff --git |--- )", patch, flags=re.MULTILINE):
        starts = [int(hunk["line"]) for hunk in _HUNK.finditer(part)]
        if line in starts and file.encode() in part:
            return f"hunk {starts.index(line) + 1} of {len(starts)}"
    return "a hunk"


def _words(done: Completed) -> str:
    """What git said, without its prefixes."""
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return "; ".join(line.removeprefix("error: ") for line in lines) or f"exit status {done.returncode}"


def _wrong(change: Change, expected: str, found: str, *, hint: str | None = None) -> LockError:
    return LockError(
        f"change {change.id} cannot be applied",
        where=change.patch.as_posix(),
        expected=expected,
        found=found,
        hint=hint,
    )
