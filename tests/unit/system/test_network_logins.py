"""Logins of downloads: from the address or the user's netrc, and to nobody else."""

from base64 import b64encode
from pathlib import Path

import pytest

from reprobridge.errors import NetworkError
from reprobridge.system.network import NotThere, RealNetwork, read_url
from support.file_server import FileServer, redirect, status


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RealNetwork:
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    return RealNetwork(pause=lambda _: None)


def basic(user: str, password: str) -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def logins(server: FileServer) -> list[str | None]:
    return [request.headers.get("authorization") for request in server.requests]


def test_the_login_of_a_host_is_taken_from_netrc(
    network: RealNetwork, tmp_path: Path, file_server: FileServer
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ann password secret\n")
    assert read_url(network, file_server.put("/a", b"a")) == b"a"
    assert logins(file_server) == [basic("ann", "secret")]


def test_the_login_in_an_address_is_the_stronger_one(
    network: RealNetwork, tmp_path: Path, file_server: FileServer
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ann password secret\n")
    read_url(network, file_server.put("/a", b"a").replace("//", "//bob:other@"))
    assert logins(file_server) == [basic("bob", "other")]


def test_a_host_that_is_not_named_gets_none(
    network: RealNetwork, tmp_path: Path, file_server: FileServer
) -> None:
    (tmp_path / "netrc").write_text("machine example.org login ann password secret\n")
    read_url(network, file_server.put("/a", b"a"))
    assert logins(file_server) == [None]


def test_a_login_does_not_follow_to_another_host(
    network: RealNetwork, tmp_path: Path, file_server: FileServer
) -> None:
    (tmp_path / "netrc").write_text("machine localhost login ann password secret\n")
    url = file_server.put("/b", b"b")
    here = file_server.put("/a", b"a").replace("127.0.0.1", "localhost")
    file_server.fail("/a", redirect(url))
    assert read_url(network, here) == b"b"
    assert logins(file_server) == [basic("ann", "secret"), None]


def test_without_a_login_there_is_one_attempt_and_a_hint(
    network: RealNetwork, file_server: FileServer
) -> None:
    url = file_server.put("/a", b"a")
    file_server.fail("/a", status(401))
    with pytest.raises(NotThere, match="netrc"):
        read_url(network, url)
    assert len(file_server.requests) == 1


def test_no_error_shows_a_password(network: RealNetwork, file_server: FileServer) -> None:
    for url in (file_server.url, "http://127.0.0.1:99999", "http://127.0.0.1:9"):
        with pytest.raises(NetworkError) as raised:
            read_url(network, url.replace("//", "//ann:secret@") + "/none")
        assert "secret" not in str(raised.value)


def test_a_broken_netrc_is_no_login(network: RealNetwork, file_server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ann passwort secret\n")
    assert read_url(network, file_server.put("/a", b"a")) == b"a"
    assert logins(file_server) == [None]
