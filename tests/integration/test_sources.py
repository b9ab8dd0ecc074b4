"""Sources from a real index with the real uv, and downloads that are killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import LockError, NetworkError
from reprobridge.lock.doors import Doors
from reprobridge.lock.fetch import Fetcher
from reprobridge.lock.source import lock_source, obtain_refined, wanted_source
from reprobridge.lock.tree import tree_rows
from reprobridge.lock.vendor import vendor
from reprobridge.spec.model import PypiSource
from reprobridge.store.prune import prune
from reprobridge.store.store import Store
from support.file_server import FileServer, status
from support.lock_doors import doors, impatient, temporary_files
from support.package_index import serve_index
from support.sdists import Sdist, build_sdist
from support.specs import sample_spec
from support.wheels import simple_wheel

# It would leave a file behind if it ever ran.
SETUP = "import pathlib, os\npathlib.Path(os.environ['RAN']).touch()\nfrom setuptools import setup\nsetup()\n"
SDIST = build_sdist(
    "Old-Paper",
    "1.2",
    files={
        "setup.py": SETUP,
        "run.py": "print(1)\n",
        "pyproject.toml": "[build-system]\nrequires = ['setuptools']\n",
    },
)
SPEC = sample_spec(source=PypiSource("old-paper", "1.2"))


def index_doors(store: Path, index: str, setting: str = "UV_DEFAULT_INDEX", **more: str) -> Doors:
    environment = {
        setting: index,
        "UV_CACHE_DIR": f"{store}-uv",
        "RAN": f"{store}-ran",
        "HOME": str(store),
        "XDG_CONFIG_DIRS": "/nowhere",
    }
    return doors(store, network=impatient(), environment={**environment, **more})


def locked_digest(sdist: Sdist = SDIST) -> Digest:
    return Digest(sdist.sha256)


@pytest.mark.parametrize("setting", ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"])
def test_a_releases_sdist_is_found_in_the_users_index_and_none_of_its_code_runs(
    store_folder: Path, file_server: FileServer, setting: str
) -> None:
    wheel = simple_wheel("old-paper", "1.2")
    index = serve_index(file_server, [SDIST, wheel, build_sdist("old-paper", "1.3", files={})])
    resolved = lock_source(SPEC, Path("/nowhere"), index_doors(store_folder, index, setting))
    locked = resolved.locked
    assert (locked.kind, locked.origin, locked.date) == ("pypi", "old-paper==1.2", "2025-01-01T00:00:00Z")
    assert locked.file is not None
    assert (locked.file.name, locked.file.sha256) == (SDIST.filename, locked_digest())
    assert "run.py" in tree_rows(Store(store_folder), locked.tree)
    assert not Path(f"{store_folder}-ran").exists()
    assert file_server.url not in repr(locked)


def test_a_locked_release_comes_from_another_index_into_an_empty_store(
    tmp_path: Path, file_server: FileServer
) -> None:
    first = index_doors(tmp_path / "one", serve_index(file_server, [SDIST], at="/one"))
    locked = lock_source(SPEC, tmp_path, first).locked
    second = index_doors(tmp_path / "two", serve_index(file_server, [SDIST], at="/two"))
    assert obtain_refined(SPEC, locked, tmp_path, second) == locked.refined


def test_a_locked_release_comes_from_a_vendor_folder_without_an_index(
    tmp_path: Path, file_server: FileServer
) -> None:
    first = index_doors(tmp_path / "one", serve_index(file_server, [SDIST]))
    locked = lock_source(SPEC, tmp_path, first).locked
    assert locked.file is not None
    first.store.path(locked.file.sha256).unlink()  # the tree is still there, its archive isn't
    Fetcher(first.store, first.network).fetch_one(*wanted_source(SPEC, locked, first))
    vendor(tmp_path / "vendor", [locked.file], (), first.store)
    offline = doors(tmp_path / "two", environment={"REPROBRIDGE_VENDOR": str(tmp_path / "vendor")})
    assert obtain_refined(SPEC, locked, tmp_path, offline) == locked.refined


@pytest.mark.parametrize(
    "offered", [[], [simple_wheel("old-paper", "1.2")], [build_sdist("old-paper", "1.3", files={})]]
)
def test_a_release_without_a_source_is_an_error_that_names_it(
    store_folder: Path, file_server: FileServer, offered: list[Sdist]
) -> None:
    index = serve_index(file_server, offered)
    with pytest.raises(LockError, match=r"an sdist of old-paper==1\.2"):
        lock_source(SPEC, Path("/nowhere"), index_doors(store_folder, index))
    assert not temporary_files(store_folder)


def test_an_index_that_lost_the_locked_file_is_an_error(tmp_path: Path, file_server: FileServer) -> None:
    index = serve_index(file_server, [SDIST])
    locked = lock_source(SPEC, tmp_path, index_doors(tmp_path / "one", index)).locked
    file_server.fail(f"/files/{SDIST.filename}", status(404))
    with pytest.raises(NetworkError, match=SDIST.filename):
        obtain_refined(SPEC, locked, tmp_path, index_doors(tmp_path / "two", index))


def test_an_index_that_does_not_answer_is_a_network_error(store_folder: Path) -> None:
    silent = index_doors(store_folder, "http://127.0.0.1:9/simple", UV_HTTP_RETRIES="0")
    with pytest.raises(NetworkError, match="index cannot be asked"):
        lock_source(SPEC, Path("/nowhere"), silent)


FETCH = """
import os
import sys
from pathlib import Path
from reprobridge.digest import Digest
from reprobridge.lock.fetch import Fetcher, Wanted
from reprobridge.store.store import Store

class Slow:
    def fetch(self, url, open_sink):
        sink = open_sink()
        sink(b"half")
        os.write(1, b"halfway\\n")
        os.read(0, 1)

wanted = [Wanted(name=n, sha256=Digest.of(n.encode()), size=9, addresses=lambda: ["x"]) for n in ("a", "b")]
list(Fetcher(Store(Path(sys.argv[1])), Slow()).fetch(wanted))
"""


def start_fetch(store: Path) -> "subprocess.Popen[bytes]":
    source_root = Path(__file__).resolve().parents[2] / "builder"
    process = subprocess.Popen(
        [sys.executable, "-c", FETCH, str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(source_root)},
    )
    assert process.stdout is not None
    for _ in range(2):
        assert process.stdout.readline() == b"halfway\n"
    return process


def test_a_fetch_that_is_killed_leaves_a_sound_store(store_folder: Path, file_server: FileServer) -> None:
    with start_fetch(store_folder) as process:
        assert len(temporary_files(store_folder)) == 2
        process.kill()
        process.communicate()
    store = Store(store_folder)
    assert not [
        path for path in (store_folder / "blobs").rglob("*") if path.is_file() and path.name[0] != "."
    ]
    index = serve_index(file_server, [SDIST])
    assert lock_source(SPEC, Path("/nowhere"), index_doors(store_folder, index)).locked.file
    prune(store, keep_after=0)
    assert not temporary_files(store_folder)


def test_a_fetch_that_is_interrupted_ends_at_once_and_leaves_no_unfinished_file(store_folder: Path) -> None:
    with start_fetch(store_folder) as process:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)  # its standard input stays open until here
    assert b"KeyboardInterrupt" in errors
    assert not temporary_files(store_folder)
