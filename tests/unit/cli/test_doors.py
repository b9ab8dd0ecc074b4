"""The doors that commands get."""

from pathlib import Path

import pytest

from reprobridge.cli.doors import Doors
from reprobridge.errors import NetworkError
from reprobridge.system.http import Request
from support.file_server import FileServer


def doors(root: Path, *, offline: bool) -> Doors:
    return Doors(store_root=root, offline=offline, quiet=True)


def test_registries_are_reached_through_one_door(file_server: FileServer, tmp_path: Path) -> None:
    opened = doors(tmp_path, offline=False)
    try:
        with opened.http.exchange(Request(method="GET", url=file_server.put("/x", b"there"))) as answer:
            assert b"".join(answer.blocks()) == b"there"
        assert opened.http is opened.http
    finally:
        opened.close()


def test_offline_no_registry_is_asked(file_server: FileServer, tmp_path: Path) -> None:
    request = Request(method="GET", url=file_server.url)
    opened = doors(tmp_path, offline=True)
    with pytest.raises(NetworkError, match="drop --offline"), opened.http.exchange(request):
        pass
    opened.close()
    assert file_server.requests == []
