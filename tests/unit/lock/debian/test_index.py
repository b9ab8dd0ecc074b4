"""Signed indexes: what is believed, and what is refused."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reprobridge.errors import LockError, NetworkError
from reprobridge.lock.debian.index import IndexSources, SuiteIndex, read_suite
from reprobridge.lock.debian.mirrors import DebianSettings
from reprobridge.lock.template import Certificate, Template, TemplateSuite
from reprobridge.store.store import Store
from reprobridge.system.network import SMALL, RealNetwork
from support.debian_archive import DebianArchive, signing_key
from support.debs import DebSource, build_deb
from support.file_server import FileServer, endless, said_length, status, wrong_bytes
from support.lock_doors import temporary_files

SUITE = TemplateSuite("debian", "bookworm")
IN_RELEASE = "/debian/dists/bookworm/InRelease"
HELLO = build_deb(DebSource(package="hello"))


def certificate(owner: str | None = None) -> Certificate:
    """The key of the test archive, or of somebody else."""
    key = signing_key(owner) if owner else signing_key()
    return Certificate(key.fingerprint.upper(), key.certificate)


def template(*keyring: Certificate) -> Template:
    """A template of one suite."""
    return Template(
        name="test",
        title="Test",
        suites=(SUITE,),
        components=("main",),
        packages=(),
        python="3.11",
        interpreter="/usr/bin/python3.11",
        glibc="2.36",
        architectures={"linux/amd64": "amd64"},
        keyring=keyring or (certificate(),),
    )


@pytest.fixture
def sources(file_server: FileServer, tmp_path: Path) -> Callable[..., IndexSources]:
    """Index sources with these mirrors (paths on the server)."""

    def make(*mirrors: str) -> IndexSources:
        bases = tuple(file_server.url + mirror for mirror in mirrors or ("/debian",))
        return IndexSources(
            network=RealNetwork(pause=lambda _: None),
            store=Store(tmp_path / "store"),
            settings=DebianSettings(mirrors={"debian": bases}, snapshot=file_server.url + "/snapshot"),
            now=datetime(2025, 2, 1, tzinfo=UTC),
        )

    return make


@pytest.fixture
def archive(file_server: FileServer) -> DebianArchive:
    """A signed archive with one package."""
    archive = DebianArchive.create(file_server)
    archive.publish("bookworm", [HELLO])
    return archive


def read(sources: IndexSources, used: Template | None = None, oldest: str = "") -> SuiteIndex:
    """The suite's index."""
    return read_suite(sources, used or template(), SUITE, "amd64", oldest)


def edit(server: FileServer, path: str, change: Callable[[bytes], bytes]) -> None:
    """Serve a file changed."""
    body = server._files[path].body
    server.put(path, change(body))


@pytest.mark.usefixtures("archive")
def test_a_signed_index_is_read_by_hash(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    index = read(sources())
    assert "Package: hello" in index.texts[0]
    assert index.locked.date == "20250101T000000Z"
    assert [path.split("/")[-2] for path in file_server.paths()] == ["bookworm", "SHA256"]


@pytest.mark.usefixtures("archive")
def test_packages_that_the_store_has_are_not_fetched_again(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    read(sources())
    file_server.forget_requests()
    read(sources())
    assert file_server.paths() == [IN_RELEASE]


@pytest.mark.usefixtures("archive")
def test_any_changed_byte_of_the_signed_text_is_noticed(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    edit(file_server, IN_RELEASE, lambda body: body.replace(b"Origin: Debian", b"Origin: Debiam"))
    with pytest.raises(LockError, match="not signed by a key of the template"):
        read(sources())


@pytest.mark.usefixtures("archive")
def test_text_before_the_signed_part_is_never_read(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    edit(file_server, IN_RELEASE, lambda body: b"Codename: evil\nDate: never\n\n" + body)
    try:
        index = read(sources())
    except LockError:
        return  # refusing it is as good
    assert "Package: hello" in index.texts[0]


@pytest.mark.usefixtures("archive")
def test_an_unsigned_release_is_refused(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    edit(file_server, IN_RELEASE, lambda _: b"Codename: bookworm\nDate: Wed, 01 Jan 2025 00:00:00 UTC\n")
    with pytest.raises(LockError, match=r"no valid|not signed"):
        read(sources())


@pytest.mark.usefixtures("archive")
def test_a_key_outside_the_templates_keyring_does_not_count(sources: Callable[..., IndexSources]) -> None:
    with pytest.raises(LockError, match="not signed by a key of the template"):
        read(sources(), template(certificate("Somebody else <else@example.org>")))


@pytest.mark.usefixtures("archive")
def test_one_known_key_among_several_is_enough(sources: Callable[..., IndexSources]) -> None:
    used = template(certificate("Somebody else <else@example.org>"), certificate())
    assert read(sources(), used).texts


def test_a_keyring_file_with_another_key_than_the_pinned_one_is_refused(
    archive: DebianArchive, sources: Callable[..., IndexSources]
) -> None:
    with pytest.raises(LockError, match="not the pinned one"):
        read(sources(), template(Certificate("0" * 40, archive.keyring)))


def test_a_release_of_another_suite_is_refused(
    archive: DebianArchive, file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    archive.publish("trixie", [HELLO])
    edit(file_server, IN_RELEASE, lambda _: file_server._files["/debian/dists/trixie/InRelease"].body)
    with pytest.raises(LockError, match="another suite"):
        read(sources())


def test_an_expired_index_is_refused_when_locking(
    archive: DebianArchive, sources: Callable[..., IndexSources]
) -> None:
    archive.publish("bookworm", [HELLO], extra="Valid-Until: Fri, 31 Jan 2025 00:00:00 UTC")
    with pytest.raises(LockError, match="expired"):
        read(sources())


@pytest.mark.usefixtures("archive")
def test_an_index_older_than_the_templates_is_refused(sources: Callable[..., IndexSources]) -> None:
    assert read(sources(), oldest="20250101T000000Z").texts
    with pytest.raises(LockError, match="older than"):
        read(sources(), oldest="20250102T000000Z")


@pytest.mark.usefixtures("archive")
def test_packages_with_wrong_bytes_are_refused(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    for path in [path for path in file_server._files if "Packages.xz" in path or "by-hash" in path]:
        file_server.fail(path, wrong_bytes(index=10))
    with pytest.raises(LockError, match="not the one that the signed release lists"):
        read(sources())


@pytest.mark.usefixtures("archive")
def test_packages_without_an_end_are_refused_as_soon_as_they_are_longer_than_the_release_says(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    paths = [path for path in file_server._files if "Packages.xz" in path or "by-hash" in path]
    for path in paths:
        file_server.fail(path, endless())
    made = sources()
    with pytest.raises(LockError, match="not the one that the signed release lists") as raised:
        read(made)
    size = next(len(file_server._files[path].body) for path in paths if path.endswith("Packages.xz"))
    assert f", {size} bytes" in str(raised.value)
    assert f"more than {size} bytes" in str(raised.value)
    assert not temporary_files(made.store.root)


@pytest.mark.usefixtures("archive")
def test_a_release_file_without_an_end_is_refused_with_its_address_and_the_next_mirror_is_asked(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    url = file_server.put("/endless/dists/bookworm/InRelease", b"-----BEGIN PGP SIGNED MESSAGE-----\n" * 1000)
    file_server.fail("/endless/dists/bookworm/InRelease", endless())
    with pytest.raises(NetworkError) as raised:
        read(sources("/endless"))
    for part in (url, f"at most {SMALL} bytes", "REPROBRIDGE_DEBIAN_MIRROR"):
        assert part in str(raised.value)
    assert read(sources("/endless", "/debian")).texts


@pytest.mark.usefixtures("archive")
def test_a_release_file_that_a_wrong_length_cuts_off_is_refused(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    file_server.fail(IN_RELEASE, said_length(200))
    with pytest.raises(LockError, match="not signed by a key of the template"):
        read(sources())


@pytest.mark.usefixtures("archive")
def test_without_by_hash_the_plain_name_is_taken(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    for path in [path for path in file_server._files if "by-hash" in path]:
        file_server.remove(path)
    assert read(sources()).texts


@pytest.mark.usefixtures("archive")
def test_a_mirror_that_fails_is_followed_by_the_next(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    file_server.fail("/broken/dists/bookworm/InRelease", status(500))
    assert read(sources("/broken", "/debian")).texts


def test_without_any_mirror_the_snapshot_of_now_is_read(
    file_server: FileServer, sources: Callable[..., IndexSources]
) -> None:
    DebianArchive(
        server=file_server, at="/snapshot/archive/debian/20250201T000000Z", key=signing_key()
    ).publish("bookworm", [HELLO])
    assert read(sources("/gone")).texts


def test_no_mirror_at_all_is_a_network_error_with_a_hint(sources: Callable[..., IndexSources]) -> None:
    with pytest.raises(NetworkError, match="REPROBRIDGE_DEBIAN_MIRROR"):
        read(sources("/gone"))
