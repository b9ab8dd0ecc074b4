"""git as a program: fetching one commit, and reading its tree exactly as committed.

Why the program: guides/decisions/0004-git-command.md. It is fetched as the user's own git would, with their
credentials, proxies and rewritten addresses; it is read without any configuration (`git_environment.py`). What a
check-out does (line ends, filters, LFS, export rules) never happens: files are taken from the object database as
they are.
"""

import contextlib
import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from reprobridge.errors import LockError, NetworkError
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.git_environment import (
    PROTOCOLS,
    QUIET_SSH,
    SSH_COMMANDS,
    closed_environment,
    open_arguments,
    open_environment,
)
from reprobridge.lock.git_refusal import cannot_fetch, obstacle, reason
from reprobridge.system import files
from reprobridge.system.network import Offline
from reprobridge.system.processes import Command, Completed
from reprobridge.wording import without_passwords

ATTEMPTS = 3
"""How often a fetch is tried when a name can't be resolved or a connection breaks."""

_FETCH = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-filter")
_EVERYTHING = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_SCHEME = re.compile(r"([A-Za-z0-9+.-]+)://")
_SCP_LIKE = re.compile(r"[^/:]+:")
_ROOT = re.compile(r"[A-Za-z0-9+.-]+://[^/]*|[^/:]+:|")
"""What an address has before its path: no relative address climbs out of it."""


@frozen
class Blob:
    """A file, link or submodule in a commit."""

    mode: str
    """git's: `100644`, `100755`, `120000` (link), `160000` (submodule)."""
    id: str
    """Of the object, or the submodule's commit."""
    size: int
    """Bytes of the object; 0 for a submodule."""
    path: str
    """Relative to the folder that was listed."""


class Repository:
    """A bare repository of our own that holds one commit of somebody else's."""

    def __init__(self, doors: Doors, folder: Path, url: str) -> None:
        self._doors, self._folder = doors, folder
        self.url = url
        """As it was given; a `.gitmodules` may hold one with a password."""

    @classmethod
    @contextlib.contextmanager
    def with_commit(
        cls, doors: Doors, url: str, commit: str, *, local: bool = True
    ) -> Iterator["Repository"]:
        """A scratch repository into which the commit has been fetched; gone afterwards.

        `url` is an address or an absolute path; `local`: whether it may lead to files of this machine. Raises
        NetworkError when the repository can't be reached, LockError when it lacks the commit.
        """
        with files.scratch_folder(doors.scratch) as folder:
            repository = cls(doors, folder, url)
            repository._require(["init", "--quiet", "--bare", "--template=", "."])
            repository._fetch(commit, local=local)
            yield repository

    def _fetch(self, commit: str, *, local: bool) -> None:
        """The commit alone, or all branches and tags: not every server gives one that none of them points to."""
        environment = self._open_environment(local=local)
        done = self._try_fetch(["--depth=1", "--", self.url, commit], environment)
        if done.returncode != 0 and not obstacle(done.stderr):
            done = self._try_fetch(["--", self.url, *_EVERYTHING], environment)
        if done.returncode != 0:
            raise self._cannot_fetch(commit, done)
        kind = self._git(["cat-file", "-t", commit])
        if kind.stdout.strip() != b"commit":
            raise LockError(
                "the repository does not have the commit",
                where=self._shown,
                expected=f"commit {commit}",
                found=f"a {kind.stdout.decode().strip()}" if kind.stdout else "none on any branch or tag",
                hint="push the commit, or correct `source.commit`",
            )

    def _try_fetch(self, arguments: Sequence[str], environment: dict[str, str]) -> Completed:
        argv = ("git", *open_arguments(self._doors.environment, self.url), *_FETCH, *arguments)
        for attempt in range(1, ATTEMPTS + 1):
            done = self._run(argv, environment)
            stumbled = done.returncode != 0 and (kind := obstacle(done.stderr)) and kind.passing
            if not stumbled or attempt == ATTEMPTS:
                break
            self._doors.pause(2.0**attempt)
        return done

    def _cannot_fetch(self, commit: str, done: Completed) -> NetworkError:
        if isinstance(self._doors.network, Offline) and not is_local(self.url):
            return NetworkError(
                f"cannot fetch {self._shown}",
                expected="a network",
                found="offline mode",
                hint="drop --offline",
            )
        return cannot_fetch(self.url, commit, done.stderr, done.returncode)

    def _open_environment(self, *, local: bool) -> dict[str, str]:
        """What a fetch runs in; offline, the user's `insteadOf` may still lead to a mirror on this machine."""
        user = self._doors.environment
        network = "" if isinstance(self._doors.network, Offline) else PROTOCOLS
        protocols = ":".join(filter(None, ("file" if local else "", network)))
        environment = open_environment(user, GIT_DIR=str(self._folder), GIT_ALLOW_PROTOCOL=protocols)
        if SSH_COMMANDS & environment.keys():
            return environment
        # The variable would hide the user's own command in their configuration.
        argv = ("git", *open_arguments(user, self.url), "config", "--get", "core.sshCommand")
        if self._run(argv, environment).returncode == 0:
            return environment
        return {**environment, "GIT_SSH_COMMAND": QUIET_SSH}

    def date(self, commit: str) -> int | None:
        """The commit's date in seconds since 1970; None for one that git itself cannot read."""
        shown = self._require(["show", "--no-patch", "--no-show-signature", "--format=%ct", commit]).strip()
        return int(shown) if shown.isdecimal() else None

    def list(self, commit: str, folder: str | None) -> list[Blob]:
        """Every file, link and submodule below a folder of a commit. Raises LockError without the folder."""
        tree = f"{commit}:{folder}" if folder else commit
        done = self._git(["ls-tree", "-r", "-z", "-l", "--full-tree", tree])
        if done.returncode != 0:
            raise LockError(
                "the commit does not have the folder",
                where=self._shown,
                expected=f"a folder {folder}",
                found=done.failure,
                hint="correct `source.subdirectory`",
            )
        return [_blob(line) for line in done.stdout.split(b"\0") if line]

    def submodules(self, commit: str) -> dict[str, str]:
        """Path -> address of the submodules that the commit names, as they stand there."""
        done = self._git(["config", "--blob", f"{commit}:.gitmodules", "-z", "--list"])
        values = dict(line.partition("\n")[::2] for line in done.stdout.decode(errors="replace").split("\0"))
        paths = {name: path for name, path in values.items() if re.fullmatch(r"submodule\..*\.path", name)}
        return {path: values.get(f"{name.removesuffix('path')}url", "") for name, path in paths.items()}

    @contextlib.contextmanager
    def contents(self, blobs: Sequence[Blob]) -> Iterator["Contents"]:
        """The bytes of these blobs, spooled into one temporary file by one git process."""
        objects = list({blob.id: blob for blob in blobs}.values())
        with contextlib.ExitStack() as stack:
            spool_path, spool = stack.enter_context(files.unfinished(self._folder))
            wish_path, wish = stack.enter_context(files.unfinished(self._folder))
            wish.write("".join(f"{blob.id}\n" for blob in objects).encode())
            wish.flush()
            errors: list[bytes] = []
            done = self._doors.processes.run(
                Command(
                    argv=("git", "cat-file", "--batch"),
                    cwd=self._folder,
                    environment=self._closed_environment(),
                    stdin=stack.enter_context(wish_path.open("rb")),
                    on_stdout=spool.write,
                    on_stderr=errors.append,
                )
            )
            spool.flush()
            contents = Contents(spool_path, objects)
            if done.returncode != 0 or spool.tell() != contents.size:
                found = b"".join(errors).decode(errors="replace").strip() or "objects are missing"
                raise LockError(
                    "the commit is incomplete",
                    where=self._shown,
                    expected="all objects",
                    found=found,
                    hint="name a whole repository: none that was cloned with `--filter`, and one that `git fsck` finds sound",
                )
            yield contents

    def _require(self, arguments: Sequence[str]) -> str:
        done = self._git(arguments)
        if done.returncode != 0:
            raise LockError(
                f"git {arguments[0]} failed", where=self._shown, expected="success", found=reason(done.stderr)
            )
        return done.stdout.decode()

    def _git(self, arguments: Sequence[str]) -> Completed:
        return self._run(("git", *arguments), self._closed_environment())

    def _run(self, argv: tuple[str, ...], environment: dict[str, str]) -> Completed:
        return self._doors.processes.run(Command(argv=argv, cwd=self._folder, environment=environment))

    def _closed_environment(self) -> dict[str, str]:
        return closed_environment(self._doors.environment, GIT_DIR=str(self._folder))

    @property
    def _shown(self) -> str:
        """The address, for people."""
        return without_passwords(self.url)


class Contents:
    """Where each blob's bytes stand in the output of `git cat-file --batch`."""

    def __init__(self, spool: Path, objects: Sequence[Blob]) -> None:
        self._spool = spool
        self._offsets: dict[str, int] = {}
        self.size = 0
        """Bytes that the whole output must have."""
        for blob in objects:
            head = len(f"{blob.id} blob {blob.size}\n")
            self._offsets[blob.id] = self.size + head
            self.size += head + blob.size + 1

    def opener(self, blob: Blob) -> "functools.partial[BinaryIO]":
        """Opens the spool at the blob's first byte; the reader knows its size."""
        return functools.partial(_open_at, self._spool, self._offsets[blob.id])

    def text(self, blob: Blob) -> str:
        """A link's target."""
        with self.opener(blob)() as stream:
            return stream.read(blob.size).decode("utf-8", "surrogateescape")


def is_local(url: str) -> bool:
    """Whether git would read this from the file system of this machine."""
    if scheme := _SCHEME.match(url):
        return scheme[1].lower() == "file"
    return not _SCP_LIKE.match(url)


def resolve_relative(base: str, url: str) -> str | None:
    """The address of a submodule that is given relative to its parent's, as git does it.

    None for one that climbs out of the parent's server; git would go on with what is left of the host's name.
    """
    if not url.startswith(("./", "../")):
        return url
    root = "".join(_ROOT.findall(base)[:1])
    path, joint = base[len(root) :].rstrip("/"), "/"
    while url.startswith(("./", "../")):
        if url.startswith("../"):
            if not path:
                return None
            # Where an address of ssh's short form has one part only, nothing stands between it and the colon.
            path, joint, _ = path.rpartition("/")
        url = url.partition("/")[2]
    return f"{root}{path}{joint}{url}"


def _blob(line: bytes) -> Blob:
    head, _, path = line.partition(b"\t")
    mode, _, name, size = head.decode().split()
    return Blob(mode, name, 0 if size == "-" else int(size), path.decode("utf-8", "surrogateescape"))


def _open_at(path: Path, offset: int) -> BinaryIO:
    stream = path.open("rb")
    stream.seek(offset)
    return stream
