"""Doing a part of a test as an ordinary user: in a forked child that has given up being root."""

import os
import pickle
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

ORDINARY = 12321
"""Uid and gid of the ordinary user; it has no name, which nothing needs."""

T = TypeVar("T")


@contextmanager
def ordinary_folder() -> Iterator[Path]:
    """An empty folder that belongs to the ordinary user, where that user can reach it."""
    folder = Path(tempfile.mkdtemp(prefix="rb-user-"))  # pytest's own folders are closed to others
    try:
        if os.geteuid() == 0:
            os.chown(folder, ORDINARY, ORDINARY)
        yield folder
    finally:
        shutil.rmtree(folder)


def as_ordinary_user(work: Callable[[], T]) -> T:
    """What `work` gives when an ordinary user does it; ours directly when the tests aren't run by root.

    Modules that `work` needs must be imported before: this user may not be able to read the interpreter.
    """
    if os.geteuid() != 0:
        return work()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work_in_child(work, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        succeeded, value = pickle.loads(stream.read())
    os.waitpid(child, 0)
    if not succeeded:
        raise AssertionError(f"as an ordinary user:\n{value}")
    return value  # type: ignore[no-any-return]


def _work_in_child(work: Callable[[], object], writer: int) -> None:
    try:
        os.setgroups([])
        os.setresgid(ORDINARY, ORDINARY, ORDINARY)
        os.setresuid(ORDINARY, ORDINARY, ORDINARY)
        result = pickle.dumps((True, work()))
    except BaseException:  # noqa: BLE001  whatever happens in the child is told in the parent
        result = pickle.dumps((False, traceback.format_exc()))
    with os.fdopen(writer, "wb") as stream:
        stream.write(result)
    os._exit(0)
