"""Bringing published files into the store: from the store itself, a vendor folder, or an address.

Whatever the way, a file counts only when its SHA-256 (and its size, where known) is the one asked for, and it
appears in the store in one step. An address that fails or gives other bytes is followed by the next one.
Addresses are asked for at the first need, so that a warm store never starts uv or reads apt's sources.
Local files are copied, never linked: a later edit of the user's file must not change the store.
Nobody's server decides how much is written: a file has its locked size, one of unknown size at most `LARGEST`.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from reprobridge.digest import CHUNK, Digest
from reprobridge.errors import ArtifactError, NetworkError, ReproBridgeError, StoreError
from reprobridge.frozen import frozen
from reprobridge.lock.model import LockedFile
from reprobridge.store.store import BlobWriter, Store
from reprobridge.system.interrupts import ThreadInterrupted
from reprobridge.system.network import Network, NotThere, Sink, fetch_at_most
from reprobridge.wording import counted, without_passwords

WORKERS = 4
"""Downloads side by side."""
_PATIENCE = 1.0
"""Seconds for those that are ended to clean up."""

LARGEST = 10 * 10**9
"""Most bytes of a file whose size nobody has said: a layer of it would be too large for registries."""

Addresses = Callable[[], Sequence[str]]
"""Gives the addresses of a file, best first; may be slow, may raise, is called from any thread."""


@frozen(kw_only=True)
class Wanted:
    """A file to bring into the store."""

    name: str
    """Its file name, for people and for vendor folders."""
    sha256: Digest
    """Of its bytes."""
    size: int | None
    """Its length in bytes; None when nobody has said it yet."""
    addresses: Addresses
    """Where it may be had."""
    template: str | None = None
    """The base system whose file it is; None: none's."""


class Progress(Protocol):
    """Is told how downloads go on, from several threads."""

    def received(self, wanted: Wanted, size: int) -> None:
        """So many bytes of the file are here; less than before when it is tried again."""

    def finished(self, wanted: Wanted) -> None:
        """The file is in the store."""


class Silence:
    """Progress that nobody looks at."""

    def received(self, wanted: Wanted, size: int) -> None:
        """Nothing."""

    def finished(self, wanted: Wanted) -> None:
        """Nothing."""


class AddressBook:
    """Addresses of many files that are found together, once, when the first of them is needed."""

    def __init__(self, find: Callable[[], Mapping[Digest, Sequence[str]]]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._found: Mapping[Digest, Sequence[str]] | None = None

    def of(self, file: LockedFile, template: str | None = None) -> Wanted:
        """The file as something to fetch; `template` as in `Wanted`."""
        return Wanted(
            name=file.name,
            sha256=file.sha256,
            size=file.size,
            addresses=lambda: self._look_up(file.sha256),
            template=template,
        )

    def _look_up(self, sha256: Digest) -> Sequence[str]:
        with self._lock:
            if self._found is None:
                self._found = self._find()
            return self._found.get(sha256, ())


class Fetcher:
    """Brings files into one store."""

    def __init__(
        self,
        store: Store,
        network: Network,
        *,
        vendored: Sequence[Path] = (),
        progress: Progress | None = None,
        largest: int = LARGEST,
    ) -> None:
        """`vendored`: folders whose files are named by their SHA-256 (hex) or by their file name.

        `largest`: most bytes of a file whose size is not known.
        """
        self._store = store
        self._network = network
        self._vendored = tuple(vendored)
        self._progress = progress or Silence()
        self._largest = largest

    def fetch(self, wanted: Iterable[Wanted]) -> Generator[Wanted]:
        """Yield each file as soon as it is in the store, those that are there already first.

        Raises ArtifactError when a file can be had nowhere with the right bytes, NetworkError when it can
        be had nowhere. An error, an interrupt or a consumer that stops ends all downloads, and no
        unfinished file is left.
        """
        missing: dict[Digest, list[Wanted]] = {}
        for one in wanted:
            if self._has(one):
                yield one
            else:
                missing.setdefault(one.sha256, []).append(one)
        if missing:
            yield from self._bring_all(missing)

    def fetch_one(self, wanted: Wanted) -> None:
        """Bring a single file; errors as for `fetch`."""
        for _ in self.fetch([wanted]):
            pass

    def _has(self, wanted: Wanted) -> bool:
        if not self._store.has(wanted.sha256):
            return False
        # A machine that lost power may have kept a name without all of its bytes.
        return wanted.size is None or self._store.size(wanted.sha256) == wanted.size

    def _bring_all(self, missing: dict[Digest, list[Wanted]]) -> Iterator[Wanted]:
        import queue

        todo: queue.SimpleQueue[Wanted] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[Digest, Exception | None]] = queue.SimpleQueue()
        halt = _Halt()

        def work() -> None:
            with contextlib.suppress(queue.Empty, ThreadInterrupted):
                while not halt.called:
                    one = todo.get_nowait()
                    done.put((one.sha256, self._outcome(one, halt)))

        for group in missing.values():
            todo.put(group[0])
        # Daemons: after an interrupt nobody waits long for a server that doesn't answer.
        crew = [threading.Thread(target=work, daemon=True) for _ in range(min(WORKERS, len(missing)))]
        try:
            for thread in crew:
                thread.start()
            for _ in missing:
                sha256, error = done.get()
                if error is not None:
                    raise error
                yield from missing[sha256]
        finally:
            halt.call()
            patience = time.monotonic() + _PATIENCE
            for thread in crew:
                if thread.ident is not None:
                    thread.join(max(patience - time.monotonic(), 0))

    def _outcome(self, wanted: Wanted, halt: "_Halt") -> Exception | None:
        try:
            self._bring(wanted, halt)
            self._progress.finished(wanted)
        except Exception as error:  # noqa: BLE001 - carried over to the thread that waits, and raised there
            return error
        return None

    def _bring(self, wanted: Wanted, halt: "_Halt") -> None:
        failures: list[tuple[str, ReproBridgeError]] = []
        for place, read in self._places(wanted):
            try:
                limit = self._largest if wanted.size is None else wanted.size
                arrival = _Arrival(self._store, wanted, limit, self._progress, halt)
                with contextlib.closing(arrival):
                    read(arrival.begin)
                    arrival.keep()
                    return
            except (NetworkError, ArtifactError) as error:
                failures.append((place, error))
            except OSError as error:
                raise _no_room(self._store, wanted.name, error) from error
        raise _nowhere(wanted, failures)

    def _places(self, wanted: Wanted) -> Iterator[tuple[str, Callable[[Callable[[], Sink]], None]]]:
        for folder in self._vendored:
            for name in (wanted.sha256.hex, wanted.name):
                if (path := folder / name).is_file():
                    yield str(path), lambda begin, path=path: _read(path, begin)  # type: ignore[misc]
        for address in wanted.addresses():
            yield address, lambda begin, address=address: self._network.fetch(address, begin)  # type: ignore[misc]


class _Halt:
    """Ends all arrivals: those on their way are dropped at once, and no new one begins."""

    def __init__(self) -> None:
        self.called = False
        self._lock = threading.Lock()
        self._writers: set[BlobWriter] = set()

    def call(self) -> None:
        with self._lock:
            self.called = True
            writers, self._writers = self._writers, set()
        for writer in writers:
            writer.__exit__(None, None, None)

    def enter(self, writer: BlobWriter) -> None:
        with self._lock:
            if self.called:
                raise _HaltedError
            self._writers.add(writer.__enter__())

    def leave(self, writer: BlobWriter) -> None:
        with self._lock:
            mine = writer in self._writers
            self._writers.discard(writer)
        if mine:
            writer.__exit__(None, None, None)


class _HaltedError(Exception):
    """Somebody called a halt; nobody hears of it."""


class _Arrival:
    """One file on its way into the store from one place; each attempt begins anew."""

    def __init__(self, store: Store, wanted: Wanted, limit: int, progress: Progress, halt: _Halt) -> None:
        self._store, self._progress, self._halt = store, progress, halt
        self._wanted, self._limit = wanted, limit
        self._writer: BlobWriter | None = None

    def close(self) -> None:
        """Forget what arrived and wasn't kept."""
        if self._writer is not None:
            self._halt.leave(self._writer)
            self._writer = None

    def begin(self) -> Sink:
        """What takes the bytes of the next attempt."""
        self.close()
        writer = self._store.writer()
        self._halt.enter(writer)
        self._writer = writer
        return lambda data: self._take(writer, data)

    def _take(self, writer: BlobWriter, data: bytes) -> None:
        if self._halt.called:
            raise _HaltedError
        writer.write(data)
        if writer.size > self._limit:
            raise ArtifactError("too long", found=f"more than {self._limit} bytes")
        self._progress.received(self._wanted, writer.size)

    def keep(self) -> None:
        """Put the finished file into the store. Raises ArtifactError when it is not the one asked for."""
        if self._writer is None:
            raise NetworkError("nothing arrived")
        if self._wanted.size is not None and self._writer.size != self._wanted.size:
            found = f"{self._writer.size} bytes"
            raise ArtifactError("too short", expected=f"{self._wanted.size} bytes", found=found)
        self._writer.commit(self._wanted.sha256)


def fetch_unknown(store: Store, network: Network, url: str, largest: int = LARGEST) -> Digest:
    """Bring what lies at an address, whatever it is, into the store. Raises NetworkError (TooLong beyond `largest`)."""
    writers: list[BlobWriter] = []
    with contextlib.ExitStack() as attempt:

        def begin() -> Sink:
            attempt.close()  # an earlier one that stumbled
            writers[:] = [attempt.enter_context(store.writer())]
            return writers[0].write

        try:
            fetch_at_most(network, url, largest, begin)
            return writers[0].commit()
        except OSError as error:
            raise _no_room(store, without_passwords(url), error) from error


def _no_room(store: Store, what: str, error: OSError) -> StoreError:
    return StoreError(
        "cannot keep a file",
        where=what,
        expected=f"room for it in {store.root}",
        found=error.strerror or str(error),
    )


def _read(path: Path, begin: Callable[[], Sink]) -> None:
    sink = begin()
    with path.open("rb") as stream:
        while block := stream.read(CHUNK):
            sink(block)


def _nowhere(wanted: Wanted, failures: list[tuple[str, ReproBridgeError]]) -> ReproBridgeError:
    if not failures:
        return NetworkError(
            "a file can be had nowhere",
            where=wanted.name,
            expected=str(wanted.sha256),
            found="no address for it",
            hint="set REPROBRIDGE_VENDOR to a folder that holds it, or configure a mirror or index that has it",
        )
    wrong = any(isinstance(error, ArtifactError) for _, error in failures)
    kind = ArtifactError if wrong else NetworkError
    size = "" if wanted.size is None else f", {wanted.size} bytes"
    of = f" of the template {wanted.template}" if wanted.template else ""
    return kind(
        f"not the file{of} that was locked" if wrong else f"cannot fetch a file{of}",
        where=wanted.name,
        expected=f"{wanted.sha256}{size}",
        found=_reasons(failures),
        hint="have your index or mirror give the locked file, or set REPROBRIDGE_VENDOR to a folder that holds it"
        if wrong
        else f"{_next_step(failures)}, or set REPROBRIDGE_VENDOR to a folder that holds the file{_newer(wanted, failures)}",
    )


def _newer(wanted: Wanted, failures: list[tuple[str, ReproBridgeError]]) -> str:
    """The way out for authors where a file of a base system has left a mirror."""
    if wanted.template is None or not any(isinstance(error, NotThere) for _, error in failures):
        return ""
    return "; authors take newer files of the template with `reprobridge lock --upgrade-template`"


def _reasons(failures: list[tuple[str, ReproBridgeError]]) -> str:
    """Each reason once, with the first place that gave it and how many others did."""
    places: dict[str, list[str]] = {}
    for place, error in failures:
        places.setdefault(error.found or error.message, []).append(without_passwords(place))
    others = {reason: len(given) - 1 for reason, given in places.items()}
    more = {
        reason: f" and {counted(number, 'other place')}" if number else ""
        for reason, number in others.items()
    }
    return "; ".join(f"{reason} at {given[0]}{more[reason]}" for reason, given in places.items())


def _next_step(failures: list[tuple[str, ReproBridgeError]]) -> str:
    """What the doors advise when all of them do (`--offline`), else another try."""
    hints = {error.hint for _, error in failures}
    return next(iter(hints)) or "try again" if len(hints) == 1 else "try again"
