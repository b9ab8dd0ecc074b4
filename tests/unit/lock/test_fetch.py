"""Files on their way into the store: faults, wrong bytes, interrupts, order."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, NetworkError
from reprobridge.lock.fetch import AddressBook, Fetcher, Wanted, fetch_unknown
from reprobridge.lock.model import LockedFile
from reprobridge.store.store import Store
from reprobridge.system.network import Offline, Sink, TooLong
from support.file_server import FileServer, endless, redirect, status, truncated, wrong_bytes
from support.lock_doors import impatient, temporary_files
from support.odd_files import KINDS, make_odd

DATA = b"a wheel" * 100_000


def wanted(*addresses: str, data: bytes = DATA, name: str = "a.whl", size: int | None = -1) -> Wanted:
    """The file; `size=None`: nobody has said how long it is."""
    length = len(data) if size == -1 else size
    return Wanted(name=name, sha256=Digest.of(data), size=length, addresses=lambda: addresses)


def never() -> Sequence[str]:
    raise AssertionError("nobody needs to know where this is")


@pytest.fixture
def store(store_folder: Path) -> Store:
    return Store(store_folder)


@pytest.fixture
def fetcher(store: Store) -> Fetcher:
    return Fetcher(store, impatient())


def test_a_file_is_fetched_checked_and_kept(store: Store, fetcher: Fetcher, file_server: FileServer) -> None:
    fetcher.fetch_one(wanted(file_server.put("/a.whl", DATA)))
    assert store.read(Digest.of(DATA)) == DATA


def test_what_the_store_has_is_not_looked_up(store: Store) -> None:
    store.add(DATA)
    one = Wanted(name="a.whl", sha256=Digest.of(DATA), size=len(DATA), addresses=never)
    assert list(Fetcher(store, Offline()).fetch([one])) == [one]


def test_a_stored_file_of_another_length_is_fetched_again(
    store: Store, fetcher: Fetcher, file_server: FileServer
) -> None:
    store.path(store.add(DATA)).write_bytes(DATA[:10])
    fetcher.fetch_one(wanted(file_server.put("/a.whl", DATA)))
    assert store.read(Digest.of(DATA)) == DATA


@pytest.mark.parametrize("named_by", ["file name", "digest"])
def test_a_vendored_file_is_taken_without_a_network(store: Store, tmp_path: Path, named_by: str) -> None:
    name = "a.whl" if named_by == "file name" else Digest.of(DATA).hex
    (tmp_path / name).write_bytes(DATA)
    one = Wanted(name="a.whl", sha256=Digest.of(DATA), size=len(DATA), addresses=never)
    Fetcher(store, Offline(), vendored=[tmp_path / "none", tmp_path]).fetch_one(one)
    assert store.read(Digest.of(DATA)) == DATA


def test_a_vendored_file_with_wrong_bytes_is_passed_over(
    store: Store, tmp_path: Path, file_server: FileServer
) -> None:
    (tmp_path / "a.whl").write_bytes(b"another build")
    Fetcher(store, impatient(), vendored=[tmp_path]).fetch_one(wanted(file_server.put("/a.whl", DATA)))
    assert store.has(Digest.of(DATA))


def test_a_local_file_is_copied_so_that_editing_it_leaves_the_store_alone(
    store: Store, fetcher: Fetcher, tmp_path: Path
) -> None:
    local = tmp_path / "a file.whl"
    local.write_bytes(DATA)
    fetcher.fetch_one(wanted(local.as_uri()))
    with local.open("r+b") as stream:
        stream.write(b"edited")
    assert store.read(Digest.of(DATA)) == DATA


@pytest.mark.parametrize("fault", [status(404), status(500), truncated(1000), wrong_bytes(), status(403)])
def test_the_next_address_is_tried_after_a_fault(
    store: Store, fetcher: Fetcher, file_server: FileServer, fault: object
) -> None:
    bad, good = file_server.put("/bad.whl", DATA), file_server.put("/good.whl", DATA)
    file_server.fail("/bad.whl", fault)  # type: ignore[arg-type]  # parametrized
    fetcher.fetch_one(wanted(bad, good))
    assert store.read(Digest.of(DATA)) == DATA
    assert not temporary_files(store.root)


@pytest.mark.parametrize("fault", [status(500, times=2), truncated(1000, times=2), redirect("/real.whl")])
def test_a_stumble_is_not_the_end(
    store: Store, fetcher: Fetcher, file_server: FileServer, fault: object
) -> None:
    file_server.put("/real.whl", DATA)
    file_server.fail("/a.whl", fault)  # type: ignore[arg-type]  # parametrized
    fetcher.fetch_one(wanted(file_server.put("/a.whl", DATA)))
    assert store.read(Digest.of(DATA)) == DATA


@pytest.mark.parametrize("size", [len(DATA), None])
def test_wrong_bytes_are_an_error_that_names_file_expected_found_and_address(
    store: Store, fetcher: Fetcher, file_server: FileServer, size: int | None
) -> None:
    url = file_server.put("/a.whl", DATA)
    file_server.fail("/a.whl", wrong_bytes(index=5))
    with pytest.raises(ArtifactError) as raised:
        fetcher.fetch_one(wanted(url, size=size))
    damaged = DATA[:5] + bytes([DATA[5] ^ 1]) + DATA[6:]
    for part in ("a.whl", str(Digest.of(DATA)), str(Digest.of(damaged)), url):
        assert part in str(raised.value)
    assert not store.has(Digest.of(DATA))
    assert not temporary_files(store.root)


@pytest.mark.parametrize("other", [DATA + b"more", DATA[:-1]])
def test_a_file_of_the_wrong_length_is_an_error_that_says_so(
    store: Store, fetcher: Fetcher, file_server: FileServer, other: bytes
) -> None:
    url = file_server.put("/a.whl", other)
    with pytest.raises(ArtifactError, match=f"{len(DATA)} bytes"):
        fetcher.fetch_one(wanted(url))
    assert not temporary_files(store.root)


def test_an_unreachable_file_names_every_reason_with_its_address(
    fetcher: Fetcher, file_server: FileServer
) -> None:
    file_server.put("/broken.whl", DATA)
    file_server.fail("/broken.whl", status(503))
    urls = [f"{file_server.url}/none.whl", f"{file_server.url}/broken.whl", "http://127.0.0.1:1/x"]
    with pytest.raises(NetworkError) as raised:
        fetcher.fetch_one(wanted(*urls))
    for part in (*urls, "status 404", "status 503"):
        assert part in str(raised.value)


def test_a_file_without_an_address_is_an_error_with_a_hint(fetcher: Fetcher) -> None:
    with pytest.raises(NetworkError, match="REPROBRIDGE_VENDOR"):
        fetcher.fetch_one(wanted())


def test_an_error_while_looking_for_addresses_reaches_the_caller(fetcher: Fetcher) -> None:
    def find() -> Sequence[str]:
        raise NetworkError("the index is down")

    with pytest.raises(NetworkError, match="the index is down"):
        fetcher.fetch_one(Wanted(name="a", sha256=Digest.of(b"a"), size=1, addresses=find))


def test_addresses_of_many_files_are_found_once(store: Store, file_server: FileServer) -> None:
    bodies = [b"%d" % number for number in range(20)]
    asked = []

    def find() -> dict[Digest, list[str]]:
        asked.append(1)
        return {Digest.of(body): [file_server.put(f"/{body.decode()}", body)] for body in bodies}

    book = AddressBook(find)
    files = [LockedFile(body.decode(), Digest.of(body), len(body)) for body in bodies]
    arrived = list(Fetcher(store, impatient()).fetch(book.of(file) for file in files))
    assert sorted(one.name for one in arrived) == sorted(body.decode() for body in bodies)
    assert len(asked) == 1


def test_a_file_that_is_wanted_twice_is_fetched_once_and_told_twice(
    fetcher: Fetcher, file_server: FileServer
) -> None:
    url = file_server.put("/a.whl", DATA)
    arrived = list(fetcher.fetch([wanted(url, name="one.whl"), wanted(url, name="two.whl")]))
    assert [one.name for one in arrived] == ["one.whl", "two.whl"]
    assert file_server.paths() == ["/a.whl"]


class GatedNetwork:
    """Sends the first half of every file, and the rest when the gate is opened."""

    def __init__(self, bodies: dict[str, bytes]) -> None:
        self._bodies = bodies
        self.gates = {url: threading.Event() for url in bodies}
        self.halfway = {url: threading.Event() for url in bodies}
        self.left = {url: threading.Event() for url in bodies}

    def fetch(self, url: str, open_sink: Callable[[], Sink]) -> None:
        """Stream the body in two pieces."""
        try:
            sink, body = open_sink(), self._bodies[url]
            sink(body[: len(body) // 2])
            self.halfway[url].set()
            self.gates[url].wait(timeout=30)
            sink(body[len(body) // 2 :])
        finally:
            self.left[url].set()

    def end(self) -> None:
        """Open all gates and wait until everybody who came has left."""
        for url, halfway in self.halfway.items():
            self.gates[url].set()
            if halfway.is_set():
                assert self.left[url].wait(timeout=30)


def gated(count: int) -> tuple[GatedNetwork, list[Wanted]]:
    bodies = {f"https://x/{number}": b"%d" % number * 1000 for number in range(count)}
    files = [wanted(url, data=body, name=url[-1]) for url, body in bodies.items()]
    return GatedNetwork(bodies), files


def test_finished_files_are_given_while_others_are_on_their_way(store: Store) -> None:
    network, files = gated(3)
    arrivals = Fetcher(store, network).fetch(files)
    for number in (2, 0, 1):
        network.gates[f"https://x/{number}"].set()
        assert next(arrivals) == files[number]
    assert list(arrivals) == []


def test_whoever_stops_listening_ends_the_downloads_and_leaves_nothing_unfinished(store: Store) -> None:
    network, files = gated(3)
    arrivals = Fetcher(store, network).fetch(files)
    network.gates["https://x/0"].set()
    next(arrivals)
    for url in ("https://x/1", "https://x/2"):
        assert network.halfway[url].wait(timeout=30)
    arrivals.close()
    assert not temporary_files(store.root)
    network.end()
    assert not temporary_files(store.root)
    assert not store.has(files[1].sha256)


def test_one_failure_ends_the_other_downloads_and_leaves_nothing_unfinished(store: Store) -> None:
    network, files = gated(2)
    lost = Wanted(name="lost", sha256=Digest.of(b"lost"), size=4, addresses=list)
    with pytest.raises(NetworkError, match="lost"):
        list(Fetcher(store, network).fetch([*files, lost]))
    assert not temporary_files(store.root)
    network.end()
    assert not temporary_files(store.root)


def test_progress_hears_of_bytes_and_ends(store: Store, file_server: FileServer) -> None:
    heard: list[tuple[str, int]] = []

    class Listener:
        def received(self, wanted: Wanted, size: int) -> None:
            heard.append((wanted.name, size))

        def finished(self, wanted: Wanted) -> None:
            heard.append((wanted.name, -1))

    Fetcher(store, impatient(), progress=Listener()).fetch_one(wanted(file_server.put("/a.whl", DATA)))
    assert heard[-2:] == [("a.whl", len(DATA)), ("a.whl", -1)]


def test_offline_a_local_file_is_taken_and_held_to_its_digest(store: Store, tmp_path: Path) -> None:
    local = tmp_path / "a file.whl"
    local.write_bytes(DATA[:-1] + b"x")
    fetcher = Fetcher(store, Offline())
    with pytest.raises(ArtifactError, match="not the file that was locked"):
        fetcher.fetch_one(wanted(local.as_uri()))
    local.write_bytes(DATA)
    fetcher.fetch_one(wanted("https://example.org/a.whl", local.as_uri()))
    assert store.read(Digest.of(DATA)) == DATA


@pytest.mark.parametrize("kind", [*KINDS, "nothing"])
def test_a_local_address_of_no_file_is_an_error(store: Store, tmp_path: Path, kind: str) -> None:
    local = tmp_path / "a.whl"
    if kind != "nothing":
        make_odd(local, kind)
    with pytest.raises(NetworkError, match="cannot fetch a file"):
        Fetcher(store, Offline()).fetch_one(wanted(local.as_uri()))


def test_no_password_of_an_address_is_shown(store: Store) -> None:
    addresses = ("https://ann:secret@example.org/a", "https://example.org/b?private_token=secret")
    with pytest.raises(NetworkError, match=r"https://\*\*\*@example") as caught:
        Fetcher(store, Offline()).fetch_one(wanted(*addresses))
    assert "secret" not in str(caught.value)


def test_offline_says_so_and_does_not_advise_to_try_again(store: Store) -> None:
    with pytest.raises(NetworkError, match="hint: drop --offline, or set REPROBRIDGE_VENDOR"):
        Fetcher(store, Offline()).fetch_one(wanted("https://example.org/a", "https://example.org/b"))


def test_places_that_give_the_same_reason_are_counted_not_listed(store: Store) -> None:
    addresses = [f"https://example.org/{number}" for number in range(1, 5)]
    with pytest.raises(
        NetworkError, match=r"found: offline mode at https://example\.org/1 and 3 other places\n"
    ):
        Fetcher(store, Offline()).fetch_one(wanted(*addresses))


@pytest.mark.parametrize(("gone", "advised"), [(True, True), (False, False)])
def test_a_template_whose_file_has_left_the_mirrors_is_named_with_the_way_out(
    fetcher: Fetcher, file_server: FileServer, gone: bool, advised: bool
) -> None:
    url = file_server.put("/pool/bash.deb", DATA)
    file_server.fail("/pool/bash.deb", status(404 if gone else 503))
    file = LockedFile("bash.deb", Digest.of(DATA), len(DATA))
    book = AddressBook(lambda: {file.sha256: [url]})
    with pytest.raises(NetworkError) as raised:
        fetcher.fetch_one(book.of(file, "debian12-py311"))
    assert raised.value.message == "cannot fetch a file of the template debian12-py311"
    assert ("`reprobridge lock --upgrade-template`" in str(raised.value.hint)) is advised
    with pytest.raises(NetworkError) as other:
        fetcher.fetch_one(book.of(file))
    assert "template" not in str(other.value)


@pytest.mark.parametrize("size", [len(DATA), None])
def test_a_file_without_an_end_is_refused_at_its_size_or_where_that_is_unknown_at_the_largest(
    store: Store, file_server: FileServer, size: int | None
) -> None:
    url = file_server.put("/a.whl", DATA)
    file_server.fail("/a.whl", endless())
    with pytest.raises(ArtifactError, match=r"a\.whl") as raised:
        Fetcher(store, impatient(), largest=2 * len(DATA)).fetch_one(wanted(url, size=size))
    assert raised.value.found == f"more than {size or 2 * len(DATA)} bytes at {url}"
    assert file_server.paths() == ["/a.whl"]
    assert not temporary_files(store.root)


def test_a_file_of_unknown_digest_is_kept_under_the_one_that_it_has(
    store: Store, file_server: FileServer
) -> None:
    file_server.fail("/a.tar.gz", truncated(1000, times=2))
    assert fetch_unknown(store, impatient(), file_server.put("/a.tar.gz", DATA)) == Digest.of(DATA)
    assert store.read(Digest.of(DATA)) == DATA
    assert not temporary_files(store.root)


def test_a_file_of_unknown_digest_without_an_end_is_refused_and_nothing_of_it_is_kept(
    store: Store, file_server: FileServer
) -> None:
    url = file_server.put("/a.tar.gz", DATA)
    file_server.fail("/a.tar.gz", endless())
    with pytest.raises(TooLong, match=f"at most {len(DATA)} bytes") as raised:
        fetch_unknown(store, impatient(), url, len(DATA))
    assert url in str(raised.value)
    assert not [path for path in (store.root / "blobs").rglob("*") if path.is_file()]
