"""Folders, links and small files that base packages' scripts make, and what tmpfiles.d(5) of packages adds.

`MADE` is the reviewed list of what scripts of bookworm and trixie leave behind in a fresh image; a file
that they copy from a default is in `COPIES`. Where a package is missing, so are its paths.
"""

import posixpath
import shlex
from collections.abc import Mapping

from reprobridge.assemble.deb.facts import DebFacts
from reprobridge.assemble.deb.paths import ALIASED, MOVED_FOLDERS
from reprobridge.assemble.debian_state.tree import StateTree, real_path
from reprobridge.assemble.debian_state.users import Accounts
from reprobridge.frozen import field, frozen

COPIES: Mapping[str, str] = {
    "usr/share/base-files/profile": "etc/profile",
    "usr/share/base-files/motd": "etc/motd",
    "usr/share/base-files/dot.profile": "root/.profile",
    "usr/share/base-files/dot.bashrc": "root/.bashrc",
    "usr/share/base-files/info.dir": "usr/share/info/dir",
    "usr/share/libc-bin/nsswitch.conf": "etc/nsswitch.conf",
    "usr/share/readline/inputrc": "etc/inputrc",
}
"""Default -> where a script copies it."""


@frozen(kw_only=True)
class Made:
    """What a package's scripts leave behind."""

    files: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Path -> text and mode."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Path -> target."""
    folders: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Path -> mode and group."""


_PAPER = b"\nR_PAPERSIZE_USER=${R_PAPERSIZE}"
"""Where R's settings get the paper's size, which is A4 unless somebody chose another."""
_LOCAL = ("bin", "etc", "games", "include", "lib", "sbin", "share", "share/man", "src")
_LFS = """\
[filter "lfs"]
\tclean = git-lfs clean -- %f
\tsmudge = git-lfs smudge -- %f
\tprocess = git-lfs filter-process
\trequired = true
"""
"""What `git lfs install --system` writes."""
_TOP = ("mnt", "srv", "opt", "media", "etc/opt", "var/opt")

MADE: Mapping[str, Made] = {
    "base-files": Made(
        links={
            **MOVED_FOLDERS,
            "etc/dpkg/origins/default": "debian",
            "usr/local/man": "share/man",
            "var/spool/mail": "../mail",
        },
        folders={
            **dict.fromkeys(_TOP, (0o755, 0)),
            **{f"usr/local/{name}": (0o755, 0) for name in _LOCAL},
            "run/lock": (0o1777, 0),
            "var/mail": (0o2775, 8),
        },
    ),
    "libpam-modules": Made(files={"etc/environment": ("", 0o644), "etc/security/opasswd": ("", 0o600)}),
    "base-passwd": Made(files={"etc/subgid": ("", 0o644), "etc/subuid": ("", 0o644)}),
    "netbase": Made(
        files={
            "etc/networks": ("default\t\t0.0.0.0\nloopback\t127.0.0.0\nlink-local\t169.254.0.0\n\n", 0o644)
        }
    ),
    "java-common": Made(
        files={
            f"etc/.java/.systemPrefs/{name}": ("", 0o644) for name in (".system.lock", ".systemRootModFile")
        }
    ),
    "git-lfs": Made(files={"etc/gitconfig": (_LFS, 0o644)}),
    "libpaper1": Made(files={"etc/papersize": ("a4\n", 0o644)}),
    "r-base-core": Made(folders={"usr/local/lib/R/site-library": (0o755, 0)}),
    "tzdata": Made(links={"etc/localtime": "/usr/share/zoneinfo/Etc/UTC"}),
}
"""Package -> what its scripts leave behind."""


def add_folders(tree: StateTree, packages: Mapping[str, DebFacts]) -> None:
    """The merged layout, packages' folders of their own, and what scripts make."""
    for top in sorted(ALIASED):
        if tree.has_below(f"usr/{top}"):
            tree.link(top, f"usr/{top}")
    for facts in packages.values():
        for path, mode, uid, gid in facts.folders:
            tree.folder(path, mode, uid, gid)
    for source, target in COPIES.items():
        if (data := tree.read(source)) is not None:
            tree.put(target, data)
    for package in sorted(packages.keys() & MADE.keys()):
        _add_made(tree, MADE[package])
    _add_settings(tree)
    for package in packages:
        if package.startswith("python3.") and package.endswith("-minimal"):
            tree.folder(f"usr/local/lib/{package.removesuffix('-minimal')}/dist-packages")


def _add_settings(tree: StateTree) -> None:
    """What scripts derive from files of their packages: defaults of fontconfig, Ghostscript and R."""
    for names in (("10-hinting-slight.conf",), ("70-no-bitmaps-except-emoji.conf", "70-no-bitmaps.conf")):
        available = [f"/usr/share/fontconfig/conf.avail/{name}" for name in names]
        for path in [path for path in available if tree.has(path)][:1]:
            tree.link(f"etc/fonts/conf.d/{posixpath.basename(path)}", path)
    if tree.has("/usr/sbin/update-gsfontmap"):
        for name, folder in (("Fontmap", "fontmap.d"), ("cidfmap", "cidfmap.d")):
            parts = tree.collected(f"etc/ghostscript/{folder}")
            tree.put(f"var/lib/ghostscript/fonts/{name}", b"".join(data for _, data in parts))
    if (data := tree.read("usr/lib/R/etc/Renviron.ucf")) is not None:
        tree.put("etc/R/Renviron", data.replace(_PAPER, _PAPER.replace(b"}", b"-'a4'}")))


def _add_made(tree: StateTree, made: Made) -> None:
    for path, (text, mode) in made.files.items():
        tree.put(path, text.encode(), mode)
    for path, target in made.links.items():
        tree.link(path, target)
    for path, (mode, gid) in made.folders.items():
        tree.folder(path, mode, 0, gid)


# tmpfiles.d


def add_tmpfiles(tree: StateTree, accounts: Accounts) -> None:
    """What systemd-tmpfiles --create would make at boot, since a container has no boot.

    Folders, files and links only (`d`, `D`, `f`, `L`); the other types clean up or adjust a running system.
    """
    for _, data in tree.collected("usr/lib/tmpfiles.d"):
        for line in data.decode("utf-8", "replace").splitlines():
            _take_tmpfiles_line(tree, accounts, shlex.split(line, comments=True))


def _take_tmpfiles_line(tree: StateTree, accounts: Accounts, words: list[str]) -> None:
    kind, path, mode, user, group, _, argument = [*words, *["-"] * 7][:7]
    place = real_path(path)
    if "%" in path or not place or tree.has(path):
        return
    uid, gid = accounts.uid(user), accounts.gid(group)
    match kind.rstrip("!+=~^$-"):
        case "d" | "D":
            tree.folder(place, int(mode.lstrip("~:"), 8) if mode != "-" else 0o755, uid, gid)
        case "f":
            text = "" if argument == "-" else argument
            tree.put(place, text.encode(), int(mode.lstrip("~:"), 8) if mode != "-" else 0o644, gid)
        case "L" if argument != "-":
            tree.link(place, argument)
        case _:
            return
