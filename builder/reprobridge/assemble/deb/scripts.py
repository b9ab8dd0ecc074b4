"""What a package's maintainer scripts would have done, judged by reading them.

No script runs in our images. Their usual effects are made otherwise (`debian_state/`), many have none in
an image that was never upgraded, and the scripts of some packages were read by a person (`REVIEWED`).
Every other command makes the package one "with unknown effects", which the build names: a list of known
commands that is too short asks a question too much, one that is too long would break an image silently.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from reprobridge.assemble.deb.pixbuf import unknown_loaders
from reprobridge.assemble.deb.tools import tool_effect
from reprobridge.shell.following import CONFMODULE, Call, follow
from reprobridge.shell.state import UNKNOWN

REVIEWED: Mapping[str, str] = {
    "base-files": "folders, profile, motd and root's dot files are part of the state",
    "base-passwd": "passwd and group come from its master files",
    "bash": "one alternative; /etc/shells is part of the state",
    "ca-certificates": "bundle, links and configuration are part of the state",
    "ca-certificates-java": "the key store is part of the state",
    "coreutils": "removes a file of an earlier version",
    "dash": "is /bin/sh already; its diversions are only for upgrades",
    "dbus": "the mode of a helper, and services",
    "dbus-daemon": "an empty folder; the machine's identity is the container engine's",
    "dbus-system-bus-common": "a user for the system's bus, which no image of ours starts",
    "debianutils": "/etc/shells is part of the state",
    "dpkg": "moves files of earlier versions; timers need systemd",
    "fontconfig": "makes caches that programs make themselves when there are none",
    "fontconfig-config": "the links of the default answers are part of the state",
    "git-lfs": "etc/gitconfig is part of the state",
    "hicolor-icon-theme": "a cache of icons that programs do without",
    "init-system-helpers": "removes files of an earlier version",
    "java-common": "etc/.java is part of the state",
    "libc-bin": "nsswitch.conf is part of the state; the multiarch folders need no ld.so.cache",
    "libc6": "restarts services after an upgrade",
    "libglib2.0-0": "modules are found without their cache; packages with settings are named on their own",
    "libglib2.0-0t64": "modules are found without their cache; packages with settings are named on their own",
    "libgdk-pixbuf-2.0-0": "the list of loaders is part of the state; those that we do not know are named on their own",
    "libgssapi-krb5-2": "restarts services after an upgrade",
    "libgvc6": "the plugins' configuration is part of the state",
    "libgtk-3-0": "a list of input methods, of which the simple one is built in",
    "libgtk-3-0t64": "a list of input methods, of which the simple one is built in",
    "libibverbs1": "makes a group for devices, and a container's belong to its engine",
    "libopenmpi-dev": "alternatives; links for earlier compilers of Fortran",
    "libpam-modules": "etc/security/opasswd is part of the state",
    "libpam-runtime": "etc/pam.d/common-* are left out, since nobody logs in to an image",
    "libpam-systemd": "likewise",
    "libpaper1": "etc/papersize is part of the state",
    "libsensors5": "forgets a file of an earlier version",
    "login": "etc/subuid and etc/subgid are part of the state",
    "login.defs": "moves a file of an earlier version",
    "netbase": "etc/networks is part of the state",
    "openssh-client": "a group for ssh-agent, whose set-gid bit is dropped",
    "openssl": "migrates a folder of an earlier version",
    "passwd": "shadow files are part of the state",
    "pkgconf-bin": "an empty folder",
    "procps": "moves files of earlier versions",
    "python3": "byte code is not needed; the interpreter's links are in the package",
    "r-base-core": "etc/R/Renviron and its folder for packages are part of the state",
    "readline-common": "etc/inputrc is part of the state",
    "sudo": "the mode of a file that has it",
    "sysstat": "settings of a service",
    "systemd": "services, users of theirs by its sysusers.d, and a folder for their logs",
    "systemd-sysv": "commands that stop a machine, and the configuration of a boot loader",
    "timgm6mb-soundfont": "alternatives, in folders that come with them",
    "tzdata": "etc/localtime and etc/timezone are part of the state",
    "ucf": "keeps files of its own from earlier versions",
    "unixodbc-common": "empty lists of drivers and sources",
    "xfonts-utils": "lists of an X server's own fonts",
}
"""Package -> why its scripts leave nothing out, by reading those of bookworm and trixie."""

_REVIEWED_PATTERNS = (
    re.compile(r"(lib)?python3\.\d+(-minimal|-stdlib)?"),  # byte code, an empty folder for packages
    re.compile(r"swi-prolog-\w+(-\w+)*"),  # indexes of libraries, made when they are lacking
    re.compile(r"openjdk-\d+-(jre|jdk)(-headless|-zero)?"),  # alternatives; the rest as java-common's
)

LACKING: Mapping[str, str] = {
    "locales": "make locales (programs know C and C.UTF-8 only); the package locales-all brings every one",
    "octave": "list Octave's packages, without which `pkg load` finds none (use addpath on their folders)",
    "tex-common": "make TeX's formats, font maps and lists of files, without which latex does not start "
    "(in matplotlib use its own mathtext, without text.usetex)",
    "texlive-base": "see tex-common",
    "texlive-latex-base": "see tex-common",
}
"""Package -> what its scripts do that we do not, and that matters, where a person knows it."""

SETTINGS = (
    "compile its settings, without which programs that ask for them end (before them run "
    "/usr/lib/*/glib-2.0/glib-compile-schemas with a --targetdir, and name that folder in GSETTINGS_SCHEMA_DIR)"
)
"""What other packages' scripts do with lists of settings."""

HARMLESS = frozenset(
    (
        # the shell's own, besides those that `following.py` follows
        *("[[", "command", "type", "hash", "umask", "wait"),
        # look, and change nothing (that some may write or run others is found on its own, `tools.py`)
        *("cat", "grep", "egrep", "fgrep", "sed", "awk", "cut", "tr", "head", "tail", "sort", "uniq", "wc"),
        *(
            "expr",
            "basename",
            "dirname",
            "readlink",
            "realpath",
            "which",
            "id",
            "getent",
            "stat",
            "ls",
            "find",
        ),
        *("md5sum", "sha256sum", "cmp", "diff", "pidof", "sleep", "sync", "kill"),
        *("cd", "date", "ischroot", "mktemp", "mountpoint", "seq", "uname"),
        *("dpkg", "dpkg-query", "dpkg-realpath", "dpkg-vendor"),
        # remove what an earlier version left, or ask questions
        *("rm", "rmdir", "dpkg-maintscript-helper", "dpkg-trigger"),
        # rename what another package ships: where an image has both, the conflict is named on its own
        "dpkg-divert",
        # services, which no image of ours runs
        *("deb-systemd-helper", "deb-systemd-invoke", "systemctl", "systemd-run"),
        *("invoke-rc.d", "update-rc.d", "service", "initctl", "udevadm"),
        # the kernel's, which is the host's
        "update-binfmts",
        # the machine's identity, which is the container engine's
        *("dbus-uuidgen", "systemd-machine-id-setup", "journalctl"),
        # made by the Debian state instead
        *("update-gsfontmap", "ldconfig", "update-alternatives", "systemd-tmpfiles", "systemd-sysusers"),
        # login shells, of which no image of ours starts one
        "add-shell",
        # byte code, menus, icons, the fonts of an X server and manual pages: programs work the same without
        *("py3compile", "py3clean", "pycompile", "pyclean", "update-python-modules", "update-menus"),
        *("update-mime", "update-desktop-database", "update-mime-database", "gtk-update-icon-cache"),
        *(
            "update-icon-caches",
            "mandb",
            "man-db",
            "update-info-dir",
            "helpztags",
            "pypycompile",
            "pypy3compile",
        ),
        *("update-fonts-alias", "update-fonts-dir", "update-fonts-scale"),
    )
)
"""Commands that change nothing in a fresh image, or whose effect is made by the state or not needed."""

ARGUMENTS: Mapping[str, tuple[str, ...]] = {"preinst": ("install",), "postinst": ("configure", "")}
"""How dpkg calls the scripts of a package that was never installed (deb-postinst(5))."""
_PYTHON = re.compile(r"(/usr/bin/)?python3(\.\d+)?")
_SHELLS = re.compile(r"#! ?(/usr)?/bin/(sh|bash|dash)\b")
_SOURCED = (CONFMODULE, "/usr/share/dpkg/sh/dpkg-error.sh")
_SETTINGS = re.compile(r"usr/share/glib-2\.0/schemas/.+\.gschema\.xml")
_STREAMS = re.compile(r"/dev/(null|stderr|stdout|tty)")


def is_reviewed(package: str) -> bool:
    """Whether a person read the package's scripts."""
    return package in REVIEWED or any(pattern.fullmatch(package) for pattern in _REVIEWED_PATTERNS)


def effects_left_out(package: str, scripts: Mapping[str, str]) -> tuple[str, ...]:
    """What the scripts (name -> text) of a package may do that we do not, in words for a note."""
    if package in LACKING:
        return (LACKING[package],)
    return tuple(
        f"{name}: {effect}"
        for name, text in scripts.items()
        if name in ARGUMENTS and text
        for effect in unknown_effects(package, name, text)
    )


def unknown_effects(package: str, name: str, script: str) -> tuple[str, ...]:
    """The commands of a script (`preinst` or `postinst`) that we cannot account for, sorted.

    Only what a first installation reaches counts; a reviewed package has none.
    """
    if is_reviewed(package):
        return ()
    if not _SHELLS.match(script):
        return ("a script in another language",)
    try:
        calls = follow(script, ARGUMENTS[name], {"DPKG_ROOT": "", "DPKG_MAINTSCRIPT_PACKAGE": package})
    except (ValueError, RecursionError):
        return ("a script that cannot be followed",)
    return tuple(sorted({effect for call in calls for effect in _effects(call)}))


def untriggered(paths: Collection[str]) -> Iterator[str]:
    """What scripts of other packages would do for these files of a package."""
    if any(_SETTINGS.fullmatch(path) for path in paths):
        yield SETTINGS
    for loader in unknown_loaders(paths):
        yield f"register {loader}, without which gdk-pixbuf opens no image of its kind"


def _effects(call: Call) -> Iterator[str]:
    for target in call.writes:
        if not _STREAMS.fullmatch(target):
            yield f"> {_shown(target)}"
    match call.words:
        case [("sed" | "awk" | "find" | "sort" | "uniq") as tool, *options] if effect := tool_effect(
            tool, options
        ):
            yield effect
        case [("." | "source"), file, *_] if file in _SOURCED:
            return
        case ["dpkg-statoverride", "--list", *_]:
            return
        case [python, *options] if _PYTHON.fullmatch(python) and _compiles(options):
            return
        case ["command", option, *_] if option not in ("-v", "-V", "-pv"):
            yield "command"
        case [command, *_] if command not in HARMLESS and not command.startswith("db_"):
            yield _shown(command)
        case _:
            return


def _compiles(options: Sequence[str]) -> bool:
    """Whether Python is called for byte code, which is not needed."""
    operands = [option for option in options if not option.startswith("-")]
    return "".join(operands[:1]).endswith("/py_compile.py") and "-c" not in options


def _shown(word: str) -> str:
    """A word of a script for a reader."""
    return "a computed command" if word.startswith(UNKNOWN) else word.replace(UNKNOWN, "…")
