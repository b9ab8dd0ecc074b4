"""Where Debian's files come from: settings, apt's sources, the snapshot service."""

from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.lock.debian.mirrors import DebianSettings, apt_mirrors, deb_urls, read_settings
from reprobridge.lock.model import LockedDeb, LockedSuite


def apt_folder(tmp_path: Path, **files: str) -> Path:
    """An apt configuration: `sources_list`, and files of sources.list.d by their names with `__` for a dot."""
    folder = tmp_path / "apt"
    (folder / "sources.list.d").mkdir(parents=True)
    for name, text in files.items():
        path = "sources.list" if name == "sources_list" else f"sources.list.d/{name.replace('__', '.')}"
        (folder / path).write_text(text)
    return folder


def test_one_line_sources_are_read(tmp_path: Path) -> None:
    text = """\
# deb http://commented.example/debian bookworm main
deb [signed-by=/k.gpg arch=amd64] http://one.example/debian/ bookworm main contrib  # trailing
deb-src http://source.example/debian bookworm main
deb http://security.example/debian-security bookworm-security main
"""
    assert apt_mirrors(apt_folder(tmp_path, sources_list=text)) == {
        "debian": ("http://one.example/debian",),
        "debian-security": ("http://security.example/debian-security",),
    }


def test_deb822_sources_are_read(tmp_path: Path) -> None:
    text = """\
Types: deb deb-src
URIs: http://one.example/debian http://two.example/debian/
Suites: trixie trixie-updates
Components: main

Types: deb
URIs: http://off.example/debian
Suites: trixie
Components: main
Enabled: no

Types: deb-src
URIs: http://source.example/debian
Suites: trixie
Components: main
"""
    expected = ("http://one.example/debian", "http://two.example/debian")
    assert apt_mirrors(apt_folder(tmp_path, debian__sources=text)) == {"debian": expected}


@pytest.mark.parametrize(
    "line",
    [
        "deb http://x.example/ubuntu noble main",
        "deb http://x.example/docker bookworm stable",
        "deb http://x.example/apt cloud-sdk-bookworm main",
        "deb http://x.example/pg bookworm-pgdg main",
        "deb cdrom:[Debian]/ bookworm main",
        "deb http://x.example/debian",
    ],
)
def test_other_peoples_archives_are_left_alone(tmp_path: Path, line: str) -> None:
    assert not any(apt_mirrors(apt_folder(tmp_path, sources_list=line)).values())


def test_a_mirror_list_on_disk_is_followed(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("http://one.example/debian\tpriority:1\nhttp://two.example/debian\n")
    line = f"deb mirror+file:{tmp_path}/list bookworm main"
    expected = ("http://one.example/debian", "http://two.example/debian")
    assert apt_mirrors(apt_folder(tmp_path, sources_list=line)) == {"debian": expected}


def test_settings_win_over_the_hosts_sources(tmp_path: Path) -> None:
    folder = apt_folder(tmp_path, sources_list="deb http://host.example/debian bookworm main")
    environment = {
        "REPROBRIDGE_DEBIAN_MIRROR": "http://a.example/debian/ http://b.example/debian",
        "REPROBRIDGE_DEBIAN_SNAPSHOT": "http://s.example/",
    }
    settings = read_settings(environment, folder)
    assert settings.mirrors["debian"] == ("http://a.example/debian", "http://b.example/debian")
    assert settings.mirrors["debian-security"] == ()
    assert settings.snapshot == "http://s.example"


def test_a_host_without_apt_has_the_snapshot_service_only(tmp_path: Path) -> None:
    settings = read_settings({}, tmp_path / "nothing")
    assert deb_urls(deb(), [suite("debian", "20250101T000000Z")], settings)[0].startswith(settings.snapshot)


def deb(archive: str = "debian") -> LockedDeb:
    """A locked package."""
    return LockedDeb(
        name="hello",
        version="1",
        architecture="amd64",
        archive=archive,
        pool="pool/main/h/hello/hello_1_amd64.deb",
        sha256=Digest.of(b""),
        size=0,
    )


def suite(archive: str, date: str) -> LockedSuite:
    """A locked suite."""
    return LockedSuite(archive=archive, suite="bookworm", release=Digest.of(b""), date=date)


def test_a_package_is_looked_for_at_mirrors_first_and_then_in_snapshots_of_its_archive() -> None:
    settings = DebianSettings(
        mirrors={"debian": ("http://a.example/debian", "http://b.example/debian")},
        snapshot="http://s.example",
    )
    suites = [
        suite("debian", "20250101T000000Z"),
        suite("debian", "20250131T120000Z"),
        suite("debian-security", "20250301T000000Z"),
    ]
    pool = deb().pool
    assert deb_urls(deb(), suites, settings) == [
        f"http://a.example/debian/{pool}",
        f"http://b.example/debian/{pool}",
        f"http://s.example/archive/debian/20250131T120000Z/{pool}",
        f"http://s.example/archive/debian/20250201T120000Z/{pool}",
        f"http://s.example/archive/debian/20250101T000000Z/{pool}",
        f"http://s.example/archive/debian/20250102T000000Z/{pool}",
    ]
