"""What a package's maintainer scripts would have done, judged by reading them.

No script runs in our images. Their usual effects are made otherwise (`debian_state.py`), many have none in
an image that was never upgraded, and the scripts of some packages were read by a person (`REVIEWED`).
Every other command makes the package one "with unknown effects", which the build names: a list of known
commands that is too short asks a question too much, one that is too long would break an image silently.
"""

import re
from collections.abc import Iterator, Mapping

REVIEWED: Mapping[str, str] = {
    "base-files": "folders, profile, motd and root's dot files are part of the state",
    "base-passwd": "passwd and group come from its master files",
    "bash": "one alternative; /etc/shells is part of the state",
    "ca-certificates": "bundle, links and configuration are part of the state",
    "coreutils": "removes a file of an earlier version",
    "dash": "is /bin/sh already; its diversions are only for upgrades",
    "debconf": "its database answers questions of scripts, and no script runs",
    "debianutils": "/etc/shells is part of the state",
    "dpkg": "moves files of earlier versions; timers need systemd",
    "fontconfig": "makes caches that programs make themselves when there are none",
    "fontconfig-config": "writes the defaults that the library has without the file",
    "gzip": "moves files of earlier versions",
    "init-system-helpers": "removes files of an earlier version",
    "libc-bin": "nsswitch.conf is part of the state; the multiarch folders need no ld.so.cache",
    "libc6": "restarts services after an upgrade",
    "libgssapi-krb5-2": "restarts services after an upgrade",
    "libgcrypt20": "migrates a folder of an earlier version",
    "libreadline8t64": "diversions are only for upgrades",
    "libpam-modules": "etc/security/opasswd is part of the state",
    "libpam-runtime": "etc/pam.d/common-* are part of the state",
    "libpam0g": "restarts services after an upgrade",
    "login": "etc/subuid and etc/subgid are part of the state",
    "netbase": "etc/networks is part of the state",
    "openssl": "migrates a folder of an earlier version",
    "passwd": "shadow files are part of the state",
    "perl": "diversions are only for upgrades",
    "perl-base": "removes files of an earlier version",
    "python3": "byte code is not needed; the interpreter's links are in the package",
    "python3-distutils": "byte code is not needed",
    "python3-lib2to3": "byte code is not needed",
    "python3-minimal": "byte code is not needed",
    "readline-common": "etc/inputrc is part of the state",
    "tar": "one alternative",
    "tzdata": "etc/localtime and etc/timezone are part of the state",
    "util-linux": "one alternative; migrates folders of earlier versions",
    "util-linux-extra": "links of an init system",
}
"""Package -> why its scripts leave nothing out, by reading those of bookworm and trixie."""

_REVIEWED_PATTERNS = (re.compile(r"(lib)?python3\.\d+(-minimal|-stdlib)?"),)
"""Likewise: they compile byte code and make an empty /usr/local/lib/python3.*/dist-packages."""

HARMLESS = frozenset(
    (
        # the shell's own
        *(
            "[",
            "[[",
            ":",
            "test",
            "true",
            "false",
            "exit",
            "return",
            "set",
            "unset",
            "shift",
            "local",
            "export",
        ),
        *("readonly", "trap", "read", "getopts", "case", "esac", "in", "for", "select", "do", "done"),
        *("if", "then", "elif", "else", "fi", "while", "until", "break", "continue", "function", "command"),
        *("type", "hash", "umask", "wait", "echo", "printf", "pathfind"),
        # look, and change nothing (writing through `>`, `sed -i` and `find -exec` is found on its own)
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
        *("dpkg", "dpkg-query", "dpkg-realpath", "dpkg-vendor"),
        # remove what an earlier version left, or ask questions
        *("rm", "rmdir", "dpkg-maintscript-helper", "dpkg-trigger"),
        # services, which no image of ours runs
        *(
            "deb-systemd-helper",
            "deb-systemd-invoke",
            "systemctl",
            "systemd-run",
            "invoke-rc.d",
            "update-rc.d",
        ),
        *("service", "initctl", "udevadm"),
        # made by the Debian state instead
        *("ldconfig", "update-alternatives", "systemd-tmpfiles", "systemd-sysusers"),
        # byte code, menus, icons and manual pages: programs work the same without
        *("py3compile", "py3clean", "pycompile", "pyclean", "update-python-modules", "update-menus"),
        *("update-mime", "update-desktop-database", "update-mime-database", "gtk-update-icon-cache"),
        *("update-icon-caches", "mandb", "man-db"),
    )
)
"""Commands that change nothing in a fresh image, or whose effect is made by the state or not needed."""

_WRITING: Mapping[str, re.Pattern[str]] = {
    "sed -i": re.compile(r"\bsed\b[^\n;|&]*\s(-[a-zA-Z]*i|--in-place)"),
    "find -exec": re.compile(r"\bfind\b[^\n]*\s-(exec|execdir|ok)\b"),
}
_REDIRECTION = re.compile(r"(?<![0-9&<>=-])>{1,2}\s*(?!&|/dev/(null|stderr|stdout|tty))(\S+)")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1.*?\n.*?\n\s*\2\n", re.DOTALL)
_FUNCTION = re.compile(r"^\s*(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)", re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_SEPARATOR = re.compile(r"\n|;|&&|\|\||\||\(|\)|`|\{|\}|(?<![<>])&(?![>0-9])")
_OPENING = frozenset(("if", "then", "elif", "else", "while", "until", "do", "!", "time"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=\S*")
_SOURCED = ("/usr/share/debconf/confmodule", "/usr/share/dpkg/sh/dpkg-error.sh")


def unknown_effects(package: str, script: str) -> tuple[str, ...]:
    """The commands of a script that we cannot account for, sorted; empty for a reviewed package."""
    if package in REVIEWED or any(pattern.fullmatch(package) for pattern in _REVIEWED_PATTERNS):
        return ()
    if not script.startswith(("#!/bin/sh", "#! /bin/sh", "#!/bin/bash", "#! /bin/bash", "#!/usr/bin/sh")):
        return ("a script in another language",)
    text = _HEREDOC.sub("\n", re.sub(r"\\\n", " ", script))
    text = re.sub(r"\$\{[^{}]*\}", "_", text)
    text = "\n".join(re.sub(r"(^|\s)#.*", "", line) for line in text.splitlines())
    found = {name for name, pattern in _WRITING.items() if pattern.search(text)}
    text = _QUOTED.sub("_", text)
    found |= {f"> {match[2]}" for match in _REDIRECTION.finditer(text)}
    own = set(_FUNCTION.findall(text))
    found |= {word for word in _commands(text) if word not in HARMLESS and word not in own}
    return tuple(sorted(found))


def _commands(text: str) -> Iterator[str]:
    """The first word of each simple command; patterns of `case` are left out."""
    text = re.sub(r"\$\(\(.*?\)\)", "_", text)
    text = re.sub(r"\bcase\b.*?\bin\b", "\n", text, flags=re.DOTALL)
    text = re.sub(r"(?m)^\s*\(?[^\s()]+(\s*\|\s*[^\s()]+)*\s*\)", "\n", text)
    for command in _SEPARATOR.split(text):
        words = command.split()
        while words and (words[0] in _OPENING or _ASSIGNMENT.fullmatch(words[0])):
            words.pop(0)
        if not words or words[0] == "for" or words[0].startswith(("<", ">", "2>", "db_")):
            continue  # a loop's list, a redirection, a question of debconf's
        if words[0].startswith(("$", "_")):
            words[0] = "a computed command"
        if words[0] in (".", "source") and words[1:2] and words[1] in _SOURCED:
            continue
        yield words[0]
