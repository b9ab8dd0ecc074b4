"""Scans of layers: what they say, and that they are read once."""

import tarfile
from pathlib import Path

import pytest

from reprobridge.assemble.index import IndexEntry
from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError
from reprobridge.store.store import Store
from reprobridge.validate.scan import RESULT, LayerScan, scan_layer
from support.layers import Entry, Link, layer_of, make_layer

X = Digest.of(b"x").hex


def test_a_scan_has_every_path_with_mode_content_and_owner(tmp_path: Path) -> None:
    hard = tarfile.TarInfo("a/h")
    hard.type, hard.linkname = tarfile.LNKTYPE, "a/x"
    odd = b"caf\xe9".decode("utf-8", "surrogateescape")
    made = make_layer({"a/x": Entry(b"x", 0o640, 7, 42), "l": Link("a/x"), odd: ""}, extra=[(hard, b"")])
    store = Store(tmp_path / "store")
    scan = scan_layer(store, made.digest, made.write(tmp_path))
    assert scan == LayerScan(
        made.diff_id,
        (
            IndexEntry("a", "5", 0o755, 0, ""),
            IndexEntry("a/x", "0", 0o640, 1, X, 7, 42),
            IndexEntry(odd, "0", 0o644, 0, Digest.of(b"").hex),
            IndexEntry("l", "2", 0o777, 0, "a/x"),
            IndexEntry("a/h", "1", 0o644, 0, "a/x"),
        ),
    )
    assert scan_layer(store, made.digest, tmp_path / "no longer needed") == scan


def test_a_spoilt_memory_is_read_again(tmp_path: Path) -> None:
    made = make_layer({"a": "x"})
    store = Store(tmp_path / "store")
    store.remember(RESULT, made.digest, {"entries": [[1, 2]]})
    assert scan_layer(store, made.digest, made.write(tmp_path)).diff_id == made.diff_id


def test_a_broken_layer_is_an_error_and_not_remembered(tmp_path: Path) -> None:
    made = layer_of(b"no tar" * 1000)
    store = Store(tmp_path / "store")
    with pytest.raises(ArtifactError):
        scan_layer(store, made.digest, made.write(tmp_path))
    assert store.result(RESULT, made.digest) is None


def test_other_bytes_than_the_digests_are_an_error_and_not_remembered(tmp_path: Path) -> None:
    genuine, other = make_layer({"a": "x"}), make_layer({"a": "y"})
    store = Store(tmp_path / "store")
    with pytest.raises(ArtifactError, match="not the one"):
        scan_layer(store, genuine.digest, other.write(tmp_path))
    assert store.result(RESULT, genuine.digest) is None


@pytest.mark.parametrize("linkname", ["b", "/etc/passwd", "l"])
def test_a_hard_link_to_something_else_than_an_earlier_file_is_refused(linkname: str, tmp_path: Path) -> None:
    hard = tarfile.TarInfo("z")
    hard.type, hard.linkname = tarfile.LNKTYPE, linkname
    made = make_layer({"a": "x", "l": Link("a")}, extra=[(hard, b"")])
    with pytest.raises(ArtifactError, match="leads nowhere"):
        scan_layer(Store(tmp_path / "store"), made.digest, made.write(tmp_path))


def test_a_path_that_comes_twice_is_refused(tmp_path: Path) -> None:
    made = make_layer({"a": ""}, extra=[(tarfile.TarInfo("a"), b"")])
    with pytest.raises(ArtifactError, match="twice"):
        scan_layer(Store(tmp_path / "store"), made.digest, made.write(tmp_path))
