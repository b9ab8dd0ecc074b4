"""Sources that are commits of git repositories, with or without their submodules."""

import contextlib
from collections.abc import Iterator

from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.exclusion import Exclusion
from reprobridge.lock.git import Blob, Repository, is_local, resolve_relative
from reprobridge.lock.tree import Found, found_file, found_link
from reprobridge.spec.model import GitSource
from reprobridge.spec.nodes import shown
from reprobridge.wording import has_login

_LINK, _SUBMODULE, _EXECUTABLE = "120000", "160000", "100755"


@frozen
class CommitFiles:
    """What a commit holds, readable while its context is open."""

    found: list[Found]
    """Files and links."""
    date: int | None
    """The commit's date in seconds since 1970, where git can read it."""
    warnings: tuple[str, ...]
    """Submodules that were left out."""


@contextlib.contextmanager
def open_commit(source: GitSource, exclusion: Exclusion, doors: Doors) -> Iterator[CommitFiles]:
    """Fetch a commit and give its files as they are in the object database.

    Raises NetworkError when a repository can't be reached, LockError when it lacks the commit, folder or
    submodule.
    """
    with contextlib.ExitStack() as stack:
        repository = stack.enter_context(Repository.with_commit(doors, source.url, source.commit))
        reading = _Reading(doors, exclusion, stack, submodules=source.submodules, local=is_local(source.url))
        found = reading.files(repository, source.commit, folder=source.subdirectory)
        yield CommitFiles(found, repository.date(source.commit), tuple(reading.warnings))


class _Reading:
    """Walks a commit and the commits of its submodules; repositories stay until the stack closes."""

    def __init__(
        self,
        doors: Doors,
        exclusion: Exclusion,
        stack: contextlib.ExitStack,
        *,
        submodules: bool,
        local: bool,
    ) -> None:
        self._doors, self._exclusion, self._stack = doors, exclusion, stack
        self._submodules, self._local = submodules, local
        self.warnings: list[str] = []

    def files(
        self, repository: Repository, commit: str, *, folder: str | None = None, prefix: str = ""
    ) -> list[Found]:
        """Everything below a folder of a commit, under a prefix."""
        listed = [
            blob for blob in repository.list(commit, folder) if not self._exclusion.covers(prefix + blob.path)
        ]
        blobs = [blob for blob in listed if blob.mode != _SUBMODULE]
        contents = self._stack.enter_context(repository.contents(blobs))
        found = [
            found_link(prefix + blob.path, contents.text(blob))
            if blob.mode == _LINK
            else found_file(
                prefix + blob.path,
                blob.size,
                executable=blob.mode == _EXECUTABLE,
                opener=contents.opener(blob),
            )
            for blob in blobs
        ]
        inner = [blob for blob in listed if blob.mode == _SUBMODULE]
        if not inner:
            return found
        addresses = repository.submodules(commit)
        self.warnings += [
            f".gitmodules holds a login, and would reach the image: the address of {path}"
            for path, url in sorted(addresses.items())
            if has_login(url)
        ]
        if not self._submodules:
            self.warnings += [
                f"the submodule {prefix}{blob.path} is not part of the source" for blob in inner
            ]
            return found
        for blob in inner:
            url = addresses.get(f"{folder}/{blob.path}" if folder else blob.path, "")
            found += self._submodule(repository, blob, url, prefix=prefix)
        return found

    def _submodule(self, parent: Repository, blob: Blob, url: str, *, prefix: str) -> list[Found]:
        place = f"{prefix}{blob.path}"
        address = resolve_relative(parent.url, url)
        if address is None:
            raise _no_submodule(place, "an address that stays on the server of the repository", url)
        if not address or address.startswith("-"):
            raise _no_submodule(place, "an address in .gitmodules", address)
        # A server's repository must not lead into the files of this machine (CVE-2022-39253).
        if is_local(address) and not self._local:
            raise _no_submodule(place, "an address on the network", address)
        fetched = Repository.with_commit(self._doors, address, blob.id, local=self._local)
        repository = self._stack.enter_context(fetched)
        return self.files(repository, blob.id, prefix=f"{place}/")


def _no_submodule(place: str, expected: str, address: str) -> LockError:
    return LockError(
        "a submodule cannot be fetched",
        where=place,
        expected=expected,
        found=shown(address) if address else "none",
        hint="set `source.submodules: false` if the code runs without it",
    )
