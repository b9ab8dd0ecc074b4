"""Writing files: whole or not at all.

Every file appears under its final name by one rename of a finished temporary file in the same folder,
so that a reader never sees half a file and a killed process leaves at most a `.tmp-*` file behind.
No fsync: what we write can be made again, and what leaves the store is compared with its digest.
"""

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO

TEMPORARY = ".tmp-"
"""Prefix of unfinished files; whoever owns the folder may delete old ones."""

_SPOOL_IN_MEMORY = 8 << 20


def _temporary(folder: Path) -> Path:
    """A name for something unfinished: says which process makes it, and is nobody else's."""
    return folder / f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"


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
    path = _temporary(folder)
    stream = _created(path)
    try:
        with stream:
            yield path, stream
    finally:
        path.unlink(missing_ok=True)


def is_abandoned(temporary: Path) -> bool:
    """Whether the process that writes this unfinished file (its name says which) is gone."""
    pid = temporary.name.removeprefix(TEMPORARY).partition("-")[0]
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return False
    except (ProcessLookupError, ValueError):
        return True
    return False


def keep(temporary: Path, stream: BinaryIO, target: Path, *, mode: int = 0o644) -> None:
    """Let a finished temporary file become `target` in one step, with exactly this mode whatever the umask."""
    stream.flush()
    os.fchmod(stream.fileno(), mode)
    try:
        temporary.replace(target)
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.replace(target)


def write_file(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Replace `path` by these bytes in one step."""
    with unfinished(path.parent) as (temporary, stream):
        stream.write(data)
        keep(temporary, stream, path, mode=mode)


def create_file(path: Path, data: bytes, *, mode: int) -> None:
    """Write a file that nobody has made yet, never readable by more than `mode` says. Raises FileExistsError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            os.fchmod(stream.fileno(), mode)
    except OSError:
        path.unlink()
        raise


def read_regular(path: Path, limit: int) -> bytes:
    """A file that somebody else laid there: at most `limit` + 1 of its bytes, so that a longer one is seen.

    Raises OSError also for a link, a pipe, a device or a folder.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        return stream.read(limit + 1)


def delete(path: Path) -> None:
    """Delete a file; silent when it is not there."""
    path.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(path: Path, *, exclusive: bool) -> Iterator[None]:
    """Hold the lock that this file stands for: with others who share it, or alone. Waits for those before."""
    with path.open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield


def write_stream(path: Path, blocks: Iterable[bytes], *, mode: int = 0o644) -> None:
    """Replace `path` in one step by bytes that come in pieces; an error on the way leaves it as it was."""
    with unfinished(path.parent) as (temporary, stream):
        for block in blocks:
            stream.write(block)
        stream.flush()
        os.fchmod(stream.fileno(), mode)
        temporary.replace(path)


def link_or_copy(source: Path, target: Path) -> None:
    """Make `target` hold the bytes of `source`: a hard link where the file system allows it, else a copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(target.parent)
    try:
        try:
            os.link(source, temporary)
        except OSError:
            import shutil

            shutil.copyfile(source, temporary)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def publish_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Make the folder `target` appear at once with what `fill(folder)` put in; keeps an existing one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(target.parent)
    temporary.mkdir()
    try:
        fill(temporary)
        try:
            temporary.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    finally:
        remove_folder(temporary)


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


@contextlib.contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """An empty folder below `parent` that is gone afterwards."""
    parent.mkdir(parents=True, exist_ok=True)
    folder = _temporary(parent)
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
