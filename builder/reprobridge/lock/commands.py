"""Files that tasks name and the code does not have: told when locking, hours before a run would."""

import posixpath
from collections.abc import Iterator

from reprobridge.digest import Digest
from reprobridge.lock.kept_tree import kept_tree
from reprobridge.lock.tree import read_tree
from reprobridge.oci.tar import EntryKind
from reprobridge.spec.command import Kind, needs
from reprobridge.spec.model import Spec
from reprobridge.spec.nodes import shown
from reprobridge.store.store import Store


def missing_files(spec: Spec, refined: Digest, store: Store) -> tuple[str, ...]:
    """A warning for each file that a task names and the refined code lacks; none where the code is not here."""
    named = list(_named(spec))
    kept = kept_tree(store, refined)
    if not named or kept is None:
        return ()
    lacking = {path for _, path, _ in named}
    for entry, _ in read_tree(store.path(kept.blob)):
        lacking -= {entry.path, *_folders(entry.path)}
        if entry.kind is EntryKind.SYMLINK:  # what lies where a link leads may be there: it is not followed
            lacking = {path for path in lacking if not path.startswith(f"{entry.path}/")}
        if not lacking:
            return ()
    return tuple(
        f"{place}: {shown(path)} is not in the code, so that {consequence}"
        for place, path, consequence in named
        if path in lacking
    )


def _named(spec: Spec) -> Iterator[tuple[str, str, str]]:
    """Where a task names a file of the code, that file's path in it, and what happens where it is missing."""
    for number, task in enumerate(spec.tasks):
        commands = {"command": task.command, **({"smoke.command": task.smoke.command} if task.smoke else {})}
        for key, command in commands.items():
            for need in needs(command):
                if _is_file(need.kind, need.name):
                    yield f"tasks[{number}].{key}", posixpath.normpath(need.name), "the command can't start"
        for index, path in enumerate(task.checkpoints):
            yield f"tasks[{number}].checkpoints[{index}]", path, "there is no model to evaluate"


def _is_file(kind: Kind, name: str) -> bool:
    """Whether the name can only be that of a file of the code; a shell looks for a bare one on PATH too."""
    relative = not name.startswith("/") and ".." not in name.split("/") and posixpath.normpath(name) != "."
    return relative and (kind is Kind.SCRIPT or (kind is not Kind.MODULE and "/" in name))


def _folders(path: str) -> Iterator[str]:
    """The folders above a path; none of them has an entry of its own."""
    while path := posixpath.dirname(path):
        yield path
