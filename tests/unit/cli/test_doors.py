"""The doors that commands get."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reprobridge.cli.doors import Doors
from reprobridge.errors import NetworkError, StoreError
from reprobridge.sandbox.view import find_program
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


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({}, "neither"),
        ({"HOME": ""}, "HOME='', and none known"),
        ({"HOME": "here", "XDG_CACHE_HOME": "there", "REPROBRIDGE_STORE": ""}, "HOME='here', and none known"),
    ],
)
def test_a_user_without_a_home_is_asked_for_a_place(
    settings: dict[str, str], found: str, tmp_path: Path
) -> None:
    bubblewrap = find_program()
    assert bubblewrap is not None
    nobody = [str(bubblewrap.path), "--unshare-user", "--uid", "4242", "--bind", "/", "/"]
    argv = [*nobody, sys.executable, "-m", "reprobridge", "cache", "info"]
    lacking = ("HOME", "XDG_CACHE_HOME", "REPROBRIDGE_STORE")
    environment = {name: value for name, value in os.environ.items() if name not in lacking} | settings
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (StoreError.exit_code, "", [])
    assert f"found: {found}\n" in done.stderr
    assert "hint: name a folder with --store" in done.stderr
    argv += ["--store", str(tmp_path / "store")]
    assert subprocess.run(argv, capture_output=True, check=False, env=environment).returncode == 0
