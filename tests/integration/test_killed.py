"""Commands that are killed: the same command with the same store then does what it always does."""

import json
import signal
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.system.leftovers import TEMPORARY
from reprobridge.validate.model import CheckId
from support.artifacts import MINIMAL, copy_of, golden_digest
from support.command import digest_of, reprobridge, succeed
from support.struck import Strike, cut_off, struck

pytestmark = [pytest.mark.slow, pytest.mark.network]

MIDST = 1 << 20
"""Bytes: fewer than the largest package, the largest file in it, and the largest layer have."""


def unfinished(folder: Path) -> list[int]:
    """Sizes of the files that a killed command has left, and of those in folders that it has left."""
    found = [path for left in folder.rglob(f"{TEMPORARY}*") for path in (left, *left.rglob("*"))]
    return [path.stat().st_size for path in found if path.is_file()]


def is_killed_in_the_midst(*words: str | Path, store: Path, size: int = MIDST) -> bool:
    """Whether the system has ended the command in the midst of a file."""
    return cut_off(*words, store=store, size=size).returncode == -signal.SIGXFSZ


@pytest.mark.usefixtures("vendored")
def test_a_build_that_is_killed_amid_a_download_and_amid_a_layer_is_finished_by_the_next(
    store_folder: Path,
) -> None:
    words = ("build", MINIMAL, "--workers", "1")
    for size in (MIDST, 32 * MIDST):  # the second is more than any package has, packed or not
        assert is_killed_in_the_midst(*words, store=store_folder, size=size)
        assert max(unfinished(store_folder / "blobs")) == size
    assert digest_of(reprobridge(*words, store=store_folder)) == golden_digest(MINIMAL)
    for path in (store_folder / "blobs").glob("*/*"):
        assert Digest.of(path.read_bytes()).hex == path.name


def test_a_run_and_a_validation_that_are_killed_while_they_unpack_do_their_work_when_they_are_started_again(
    built_store: Path, tmp_path: Path
) -> None:
    run = ("run", MINIMAL, "deviation", "--json", "--out", tmp_path / "out")
    validate = ("validate", MINIMAL, "--json")
    for words in (run, validate):
        assert is_killed_in_the_midst(*words, store=built_store)
        assert max(unfinished(built_store / "unpacked")) == MIDST
    (result,) = json.loads(succeed(reprobridge(*run, store=built_store)))["results"]
    assert (result["value"], result["compatible"]) == (1.1669, True)
    assert len(list((tmp_path / "out").glob("*/*"))) == 1
    checks = json.loads(succeed(reprobridge(*validate, store=built_store)))["checks"]
    assert {check["check"]: check["verdict"] for check in checks} == dict.fromkeys(
        map(str, CheckId), "passed"
    )


def files_in(folder: Path) -> dict[str, Digest]:
    return {path.name: Digest.of(path.read_bytes()) for path in folder.iterdir()}


def test_a_vendoring_that_is_killed_amid_a_file_and_between_files_is_finished_by_the_next(
    built_store: Path, tmp_path: Path
) -> None:
    words = ("vendor", MINIMAL, "--to")
    succeed(reprobridge(*words, tmp_path / "whole", store=built_store))
    whole = files_in(tmp_path / "whole")
    assert is_killed_in_the_midst(*words, tmp_path / "killed", store=built_store)
    between = Strike(signal=signal.SIGKILL, names=10, below=tmp_path / "killed")
    assert (
        struck(*words, tmp_path / "killed", store=built_store, strike=between).returncode == -signal.SIGKILL
    )
    assert files_in(tmp_path / "killed").items() < whole.items()
    succeed(reprobridge(*words, tmp_path / "killed", store=built_store))
    assert files_in(tmp_path / "killed") == whole


def test_a_locking_that_is_killed_at_any_moment_leaves_no_half_lock_and_the_next_writes_it(
    store_folder: Path, tmp_path: Path
) -> None:
    artifact = copy_of(MINIMAL, tmp_path)
    lock = artifact / "reprobridge.lock"
    committed = lock.read_bytes()
    lock.unlink()
    kills = 0
    strike = Strike(signal=signal.SIGKILL, names=1)
    while struck("lock", artifact, store=store_folder, strike=strike).returncode < 0:
        kills += 1
        strike = Strike(signal=signal.SIGKILL, names=1 + kills)
        assert not lock.exists()
    assert kills > 2
    assert lock.read_bytes() == committed
