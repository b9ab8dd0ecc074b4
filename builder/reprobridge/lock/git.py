"""git as a program: fetching one commit, and reading its tree exactly as committed.

Why the program: guides/decisions/0004-git-command.md. What could make one commit give different trees, or
could run somebody's code, is switched off: the user's and the system's configuration, hooks, templates,
prompts, lazy fetches, and everything that a check-out does (line ends, filters, LFS, export rules): files
are taken from the object database as they are.
"""

import contextlib
import functools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from reprobridge.errors import LockError, NetworkError
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.system import files
from reprobridge.system.processes import Command, Completed

ATTEMPTS = 3
"""How often a fetch is tried when a name can't be resolved or a connection breaks."""

_KEPT = frozenset({"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND"})
_SETTINGS = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.autocrlf=false"),
    *("-c", "credential.helper="),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "http.lowSpeedLimit=1000"),
    *("-c", "http.lowSpeedTime=60"),
)
_STUMBLES = ("resolve host", "timed out", "reset by peer", "hung up", "early EOF", "HTTP 5", "error: 5")
_SCP_LIKE = re.compile(r"[^/:]+:")


def git_environment(user: Mapping[str, str], **extra: str) -> dict[str, str]:
    """The user's environment without what changes git's results, and with what keeps it from asking."""
    kept = {name: value for name, value in user.items() if not name.startswith("GIT_") or name in _KEPT}
    fixed = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C.UTF-8",
    }
    if not {"GIT_SSH", "GIT_SSH_COMMAND"} & kept.keys():
        fixed["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes"
    return {**kept, **fixed, **extra}


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
        self._doors, self._folder, self.url = doors, folder, url

    @classmethod
    @contextlib.contextmanager
    def with_commit(cls, doors: Doors, url: str, commit: str) -> Iterator["Repository"]:
        """A scratch repository into which the commit has been fetched; gone afterwards.

        `url` is an address or an absolute path. Raises NetworkError when the repository can't be reached,
        LockError when it lacks the commit.
        """
        with files.scratch_folder(doors.scratch) as folder:
            repository = cls(doors, folder, url)
            repository._require(["init", "--quiet", "--bare", "--template=", "."])
            repository._fetch(commit)
            yield repository

    def _fetch(self, commit: str) -> None:
        common = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"]
        shallow = self._try_fetch([*common, "--depth=1", "--", self.url, commit])
        if shallow.returncode != 0:
            self._fetch_all(common)
        kind = self._git(["cat-file", "-t", commit])
        if kind.stdout.strip() != b"commit":
            raise LockError(
                "the repository does not have the commit",
                where=self.url,
                expected=f"commit {commit}",
                found=f"a {kind.stdout.decode().strip()}" if kind.stdout else "none on any branch or tag",
                hint="push the commit, or correct `source.commit`",
            )

    def _fetch_all(self, common: Sequence[str]) -> None:
        """All branches and tags: not every server gives a commit that none of them points to."""
        everything = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
        done = self._try_fetch([*common, "--", self.url, *everything])
        if done.returncode != 0:
            raise NetworkError(
                "cannot fetch the source",
                where=self.url,
                expected="a git repository",
                found=done.failure,
                hint="git's own settings (proxy, insteadOf, credentials) are not read; environment variables are",
            )

    def _try_fetch(self, arguments: Sequence[str]) -> Completed:
        for attempt in range(1, ATTEMPTS + 1):
            done = self._git(arguments)
            message = done.stderr.decode(errors="replace")
            if done.returncode == 0 or attempt == ATTEMPTS or not any(word in message for word in _STUMBLES):
                break
            self._doors.pause(2.0**attempt)
        return done

    def date(self, commit: str) -> int:
        """The commit's date in seconds since 1970."""
        return int(self._require(["show", "--no-patch", "--no-show-signature", "--format=%ct", commit]))

    def list(self, commit: str, folder: str | None) -> list[Blob]:
        """Every file, link and submodule below a folder of a commit. Raises LockError without the folder."""
        tree = f"{commit}:{folder}" if folder else commit
        done = self._git(["ls-tree", "-r", "-z", "-l", "--full-tree", tree])
        if done.returncode != 0:
            raise LockError(
                "the commit does not have the folder",
                where=self.url,
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
                    argv=("git", *_SETTINGS, "cat-file", "--batch"),
                    cwd=self._folder,
                    environment=self._environment(),
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
                    "the commit is incomplete", where=self.url, expected="all objects", found=found
                )
            yield contents

    def _require(self, arguments: Sequence[str]) -> str:
        done = self._git(arguments)
        if done.returncode != 0:
            raise LockError(
                f"git {arguments[0]} failed", where=self.url, expected="success", found=done.failure
            )
        return done.stdout.decode()

    def _git(self, arguments: Sequence[str]) -> Completed:
        argv = ("git", *_SETTINGS, *arguments)
        return self._doors.processes.run(
            Command(argv=argv, cwd=self._folder, environment=self._environment())
        )

    def _environment(self) -> dict[str, str]:
        protocols = "file:git:http:https:ssh" if is_local(self.url) else "git:http:https:ssh"
        return git_environment(
            self._doors.environment, GIT_DIR=str(self._folder), GIT_ALLOW_PROTOCOL=protocols
        )


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
    return urlsplit(url).scheme in {"", "file"} and not (_SCP_LIKE.match(url) and "://" not in url)


def resolve_relative(base: str, url: str) -> str:
    """The address of a submodule that is given relative to its parent's, as git does it."""
    if not url.startswith(("./", "../")):
        return url
    base, joint = base.rstrip("/"), "/"
    while url.startswith(("./", "../")):
        if url.startswith("../"):
            cut = max(base.rfind("/"), base.rfind(":"))
            base, joint = base[:cut], base[cut]
        url = url.partition("/")[2]
    return f"{base}{joint}{url}"


def _blob(line: bytes) -> Blob:
    head, _, path = line.partition(b"\t")
    mode, _, name, size = head.decode().split()
    return Blob(mode, name, 0 if size == "-" else int(size), path.decode("utf-8", "surrogateescape"))


def _open_at(path: Path, offset: int) -> BinaryIO:
    stream = path.open("rb")
    stream.seek(offset)
    return stream
