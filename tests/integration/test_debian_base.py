"""Base systems from the real mirror: equal to what dpkg installs, and alive.

Today's packages of a template are locked, converted and merged. The same versions are installed by
mmdebstrap, which runs every maintainer script; the two roots are compared path by path (kind, mode, owner,
link, bytes). What differs stands in `DIFFERENCES` with its reason, and nothing else may.
"""

from collections.abc import Iterator

import pytest

from reprobridge.assemble.notes import state_notes
from support.debian_install import DIFFERENCES, Converted, converted, install, run_inside, unexplained
from support.merged_root import RootEntry

pytestmark = [pytest.mark.slow, pytest.mark.network]


@pytest.fixture(scope="module", params=["debian12-py311", "debian13-py313"])
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Converted]:
    """Today's packages of a template."""
    with converted(request.param, [], tmp_path_factory) as made:
        yield made


@pytest.fixture(scope="module")
def installed(base: Converted, tmp_path_factory: pytest.TempPathFactory) -> dict[str, RootEntry]:
    """The same packages installed by dpkg."""
    return install(base.selection, tmp_path_factory)


def test_every_path_is_dpkgs_but_for_the_named_differences(
    base: Converted, installed: dict[str, RootEntry]
) -> None:
    ours = base.made.root
    assert unexplained(ours, installed, DIFFERENCES) == []
    same = {path for path in ours if ours[path] == installed.get(path) and ours[path].kind == "file"}
    assert len(same) > 4000


def test_the_databases_are_byte_for_byte_dpkgs(base: Converted, installed: dict[str, RootEntry]) -> None:
    for path in (
        "var/lib/dpkg/status",
        "var/lib/dpkg/alternatives/awk",
        "etc/ld.so.cache",
        "etc/ssl/certs/ca-certificates.crt",
        "etc/passwd",
        "etc/group",
        "etc/shells",
    ):
        assert base.made.root[path].data == installed[path].data, path


def test_packages_and_state_want_no_path_twice(base: Converted) -> None:
    assert base.made.problems == []


def test_nothing_is_noted_of_packages_that_every_image_has(base: Converted) -> None:
    assert list(state_notes(base.made.state)) == []


def test_everything_can_be_read_by_any_user(base: Converted) -> None:
    closed = {
        path
        for path, entry in base.made.root.items()
        if (entry.kind == "file" and not entry.mode & 0o004)
        or (entry.kind == "dir" and entry.mode & 0o005 != 0o005)
    }
    assert closed == {"root", "etc/security/opasswd", "etc/ssl/private", "var/cache/ldconfig"}


IMPORTS = (
    "ssl, sqlite3, ctypes, lzma, bz2, zlib, curses, readline, hashlib, uuid, decimal, dbm, multiprocessing"
)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["sh", "-c", "echo $0"], "sh"),
        (["bash", "-lc", "echo $BASH_VERSION"], "5."),
        (["python3", "-c", f"import {IMPORTS}; print('imported')"], "imported"),
        (["python3", "-c", "import ctypes.util as u; print(u.find_library('sqlite3'))"], "libsqlite3.so.0"),
        (["python3", "-c", "import zoneinfo; print(zoneinfo.ZoneInfo('Europe/Berlin'))"], "Europe/Berlin"),
        (
            [
                "python3",
                "-c",
                "import ssl; print(ssl.create_default_context().cert_store_stats()['x509'] > 90)",
            ],
            "True",
        ),
        (["getent", "passwd", "nobody"], "nobody:*:65534"),
        (["getent", "services", "https"], "443/tcp"),
        (["awk", "BEGIN { print 6 * 7 }"], "42"),
        (["which", "awk"], "/usr/bin/awk"),
        (["perl", "-e", "print 6 * 7"], "42"),
        (["date", "+%Z"], "UTC"),
        (["id", "-u"], "12345"),
        (
            [
                "sh",
                "-c",
                "echo packed | gzip | gunzip && tar c /etc/hostname 2>&1 | head -c0; find /etc/os-release",
            ],
            "packed",
        ),
        (["update-alternatives", "--query", "awk"], "Value: /usr/bin/mawk"),
        (["dpkg-query", "-W", "-f", "${Status}", "python3"], "install ok installed"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_it_works_for_any_user_on_a_read_only_root(
    base: Converted, command: list[str], expected: str
) -> None:
    assert expected in run_inside(base.folder, *command)


def test_dpkg_finds_nothing_wrong(base: Converted) -> None:
    assert run_inside(base.folder, "dpkg", "--audit") == ""
    assert run_inside(base.folder, "dpkg", "--verify", as_root=True) == ""
    listed = [line for line in run_inside(base.folder, "dpkg", "-l").splitlines() if line.startswith("ii ")]
    assert len(listed) == len(base.selection.debs)


def test_a_certificate_is_verified_by_its_hash_link(base: Converted) -> None:
    certificate = "/usr/share/ca-certificates/mozilla/ISRG_Root_X1.crt"
    words = ("verify", "-CApath", "/etc/ssl/certs", certificate)
    assert "OK" in run_inside(base.folder, "openssl", *words)


def test_the_interpreter_is_the_templates(base: Converted) -> None:
    script = "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2])"
    template = base.selection.template
    shown = run_inside(base.folder, template.interpreter, "-c", script)
    assert shown.split() == [template.interpreter, template.python]
