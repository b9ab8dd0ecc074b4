"""Writing files: whole or not at all.

Every file appears under its final name in one step, finished, so that a reader never sees half a file. `replacing`
writes into a file that has no name until then: when the process is killed, the system takes back what was written.
Where that cannot be (NFS and other file systems without such files, a folder, a file that others read by its path
while it grows, and for the moment in which a finished file takes the place of another), a killed process leaves a
`.tmp-*` behind, which goes with the next archive or folder that is written there, or with the store's next prune
(`leftovers.py`).
No fsync: what is written here can be made again, and what leaves the store is compared with its digest. What can't is
written by `durable.py`.
The store's files have exactly the mode that is asked for; what users get has the mode that their umask leaves
(`USUAL`), as from any other tool.
"""

import contextlib
import errno
import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO

from reprobridge.system.leftovers import hold, leftovers, unfinished_name

Mode = int | None
"""Permission bits of a new file, or `USUAL`."""
USUAL: Mode = None
"""None: what the umask leaves of 0666."""

_USUAL_UMASK = 0o022
_SPOOL_IN_MEMORY = 8 << 20


def _created(path: Path) -> BinaryIO:
    """A new file, open for writing; its folder is made when it is missing, which is seldom."""
    try:
        return path.open("xb")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")


@contextlib.contextmanager
def unfinished(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A temporary file in `folder`, open for writing; deleted at the end unless it was moved away."""
    path = unfinished_name(folder)
    stream = _created(path)
    try:
        with stream:
            yield path, stream
    finally:
        path.unlink(missing_ok=True)


def keep(temporary: Path, stream: BinaryIO, target: Path, *, mode: Mode = 0o644) -> None:
    """Let a finished temporary file become `target` in one step, with exactly this mode whatever the umask."""
    finish(stream, mode)
    try:
        temporary.replace(target)
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.replace(target)


def finish(stream: BinaryIO, mode: Mode) -> None:
    """Nothing is held back any more, and the mode is the one that was asked for."""
    stream.flush()
    if mode is not None:
        os.fchmod(stream.fileno(), mode)


@contextlib.contextmanager
def replacing(target: Path, *, mode: Mode = 0o644) -> Iterator[BinaryIO]:
    """What is written here takes the place of `target` in one step, with exactly this mode whatever the umask.

    An error in the block leaves the target as it was.
    """
    stream = _nameless(target.parent, mode)
    if stream is None:
        with unfinished(target.parent) as (temporary, named):
            hold(named.fileno())
            yield named
            keep(temporary, named, target, mode=mode)
        return
    with stream:
        yield stream
        finish(stream, mode)
        hold(stream.fileno())  # it may get a temporary name; let go when the file is closed
        # With a descriptor, though the path is absolute: only so has Python the kernel follow it.
        _put(lambda path: os.link(_handle(stream), path, src_dir_fd=stream.fileno()), target)


def _nameless(folder: Path, mode: Mode) -> BinaryIO | None:
    """A file in `folder` that has no name yet; None where there are none, or no way to name one."""
    flags = os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC
    first = 0o666 if mode is None else 0o600
    try:
        try:
            descriptor = os.open(folder, flags, first)
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder, flags, first)
    except OSError:  # whatever else is wrong, making a file that has a name says it
        return None
    stream = os.fdopen(descriptor, "wb")
    if os.path.exists(_handle(stream)):  # noqa: PTH110 - pathlib takes thrice as long
        return stream
    stream.close()
    return None


def _handle(stream: BinaryIO) -> str:
    """Where an open file can be reached without a name; nothing is there without /proc."""
    return f"/proc/self/fd/{stream.fileno()}"


def _put(link: Callable[[Path], None], target: Path) -> None:
    """Let what `link` gives a name become `target`: at once where nothing is, else by a rename right behind."""
    try:
        link(target)
    except FileExistsError:
        temporary = unfinished_name(target.parent)
        try:
            link(temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def write_file(path: Path, data: bytes, *, mode: Mode = 0o644) -> None:
    """Replace `path` by these bytes in one step."""
    with replacing(path, mode=mode) as stream:
        stream.write(data)


def obstacle(path: Path) -> str | None:
    """What stands at a path that no new file may take the place of; None: nothing, or a file.

    A link is no file: the one that it leads to would stay as it is.
    """
    if path.is_dir():
        return "a folder"
    if path.exists() and not path.is_file():
        return "a device or pipe"
    return f"a link to {path.readlink()}" if path.is_symlink() else None


def read_regular(path: Path, limit: int) -> bytes:
    """A file that somebody else laid there: at most `limit` + 1 of its bytes, so that a longer one is seen.

    Raises OSError also for a link, a pipe, a device or a folder.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        return stream.read(limit + 1)


def read_named(path: Path, limit: int) -> bytes:
    """A file that the user names: a link or a pipe may stand there, and a pipe that nobody writes to is empty.

    Raises OSError also where there are more bytes than the limit, as a device may give without end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        os.set_blocking(descriptor, True)  # a pipe that somebody writes to is waited for
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


def delete(path: Path) -> None:
    """Delete a file; silent when it is not there."""
    path.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(path: Path, *, exclusive: bool, waiting: Callable[[], object] | None = None) -> Iterator[None]:
    """Hold the lock that this file stands for: with others who share it, or alone.

    Waits for those before; `waiting` is called first where there are any.
    """
    how = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    # Who only shares it may do so where nothing can be written; NFS asks for what fits the kind of lock.
    access = os.O_WRONLY if exclusive else os.O_RDONLY
    descriptor = os.open(path, access | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting is not None:
                waiting()
            fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)


def write_stream(path: Path, blocks: Iterable[bytes], *, mode: Mode = 0o644) -> None:
    """Replace `path` in one step by bytes that come in pieces; an error on the way leaves it as it was."""
    with replacing(path, mode=mode) as stream:
        for block in blocks:
            stream.write(block)


def link_or_copy(source: Path, target: Path, *, mode: Mode = 0o644) -> None:
    """Make `target` hold the bytes of `source`: a hard link where the file system allows it, else a copy.

    A link has the mode of its source, so there is none where the umask that `USUAL` asks for withholds any of it.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if mode is not None or not source.stat().st_mode & _withheld():
        with contextlib.suppress(OSError):
            _put(lambda path: os.link(source, path), target)
            return
    import shutil

    with source.open("rb") as original, replacing(target, mode=mode) as copy:
        shutil.copyfileobj(original, copy, 1 << 20)


def make_usual(folder: Path) -> None:
    """Give each file below a folder, which another tool wrote, the mode that users get."""
    mode = 0o666 & ~_withheld()
    for parent, _, names in os.walk(folder):
        for name in names:
            Path(parent, name).chmod(mode)


def _withheld() -> int:
    """The umask, as Linux tells it since 4.7; else the usual one. `os.umask` would set another, for all threads."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _USUAL_UMASK
    told = re.search(r"^Umask:\s*([0-7]+)$", status, re.MULTILINE)
    return int(told[1], 8) if told else _USUAL_UMASK


def publish_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Make the folder `target` appear at once with what `fill(folder)` put in; keeps an existing one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    clear_leftovers(target.parent)
    temporary = unfinished_name(target.parent)
    temporary.mkdir()
    held = os.open(temporary, os.O_RDONLY | os.O_CLOEXEC)
    try:
        hold(held)
        fill(temporary)
        try:
            temporary.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    finally:
        os.close(held)
        remove_folder(temporary)


def clear_leftovers(folder: Path) -> None:
    """Delete what killed processes left unfinished in a folder that may be shared with others at work."""
    for path in leftovers(folder):
        with contextlib.suppress(OSError):  # others may be at the same
            remove_folder(path) if path.is_dir() else delete(path)


def remove_folder(folder: Path) -> None:
    """Delete a folder and all below it, also where modes forbid it; silent when it is not there."""
    if folder.is_symlink() or not folder.exists():
        return
    import shutil

    for parent, folders, _ in os.walk(folder):
        for name in folders:
            inner = Path(parent, name)
            if not inner.is_symlink():
                inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def take_away(folder: Path) -> None:
    """Let a folder be gone at once, then delete it."""
    temporary = unfinished_name(folder.parent)
    folder.rename(temporary)
    remove_folder(temporary)


def move_folder(source: Path, target: Path) -> None:
    """Let a folder become `target`, where nothing is, for its owner alone to write into; needs no room."""
    source.chmod(0o755)
    source.rename(target)


@contextlib.contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """An empty folder below `parent` that is gone afterwards."""
    parent.mkdir(parents=True, exist_ok=True)
    folder = unfinished_name(parent)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        remove_folder(folder)


@contextlib.contextmanager
def shared_folder(parent: Path) -> Iterator[Path]:
    """An empty folder that every user may write into, out of other users' reach; gone afterwards."""
    with scratch_folder(parent) as outer:
        inner = outer / "shared"
        inner.mkdir()
        inner.chmod(0o1777)
        yield inner


def place_file(path: Path, source: BinaryIO, *, mode: int) -> None:
    """Write a file plainly, with exactly this mode: only below a folder that nobody else uses yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    import shutil

    with path.open("xb") as stream:
        shutil.copyfileobj(source, stream, 1 << 20)
        os.fchmod(stream.fileno(), mode)


def place_link(path: Path, target: str) -> None:
    """Make a symbolic link: only below a folder that nobody else uses yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


@contextlib.contextmanager
def spooled() -> Iterator[IO[bytes]]:
    """An unnamed file for bytes that must be read in another order: in memory while small, else on disk."""
    import tempfile

    with tempfile.SpooledTemporaryFile(max_size=_SPOOL_IN_MEMORY) as stream:
        yield stream
