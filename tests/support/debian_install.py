"""Debian packages of today from the real mirror: locked, fetched, and installed by the real installer.

    selection = select("debian12-py311", ["graphviz"], store)
    theirs = install(selection, folder / "root.tar")

mmdebstrap installs the base in one go, as it does any system; what comes on top is installed by apt.
"""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from reprobridge.lock.debian.index import IndexSources
from reprobridge.lock.debian.lock import DebianWish, lock_base, lock_debian
from reprobridge.lock.debian.mirrors import deb_urls, read_settings
from reprobridge.lock.fetch import Fetcher, Wanted
from reprobridge.lock.model import LockedDeb, LockedDebian
from reprobridge.lock.template import Template, load_template
from reprobridge.plan.model import DebRecipe
from reprobridge.store.store import Store
from reprobridge.system.network import RealNetwork
from support.merged_root import RootEntry, tar_entries
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


def install(selection: Selection, archive: Path) -> dict[str, RootEntry]:
    """The same versions, installed with all their scripts."""
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
        "--dpkgopt=path-include=/usr/share/*",
        "--dpkgopt=force-unsafe-io",  # nobody needs this root after a crash
        f"--setup-hook={links}",
        *([f"--customize-hook={apt} -oDPkg::Chroot-Directory=$1 {extra}"] if extra else []),
        template.suites[0].suite,
        str(archive),
        *lines,
    ]
    environment = {"PATH": os.environ["PATH"], "HOME": "/root", "LC_ALL": "C.UTF-8"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return slim(tar_entries(archive.read_bytes()))


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
