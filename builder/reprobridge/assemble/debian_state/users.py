"""/etc/passwd and /etc/group: the master files of base-passwd, and what sysusers.d(5) of packages adds.

Shadow files exist only where the package `passwd` does, as on any Debian; no account has a password.
Users that a package's script would make with `adduser` are not made: such a script is reported as unknown.
"""

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from reprobridge.assemble.debian_state.tree import StateTree, real_path

_DAYS = 19_000
"""Days since 1970 of the last password change in shadow: constant, since no account has a password."""
_SHADOW_GROUP = 42


@dataclass(slots=True)
class Accounts:
    """Users and groups by name."""

    users: dict[str, list[str]] = field(default_factory=dict)
    """Name -> the seven fields of passwd(5)."""
    groups: dict[str, list[str]] = field(default_factory=dict)
    """Name -> the four fields of group(5)."""

    def uid(self, name: str) -> int:
        """Number of a user, given by name or number; 0 when there is none."""
        return int(self.users[name][2]) if name in self.users else _number(name)

    def gid(self, name: str) -> int:
        """Number of a group, given by name or number; 0 when there is none."""
        return int(self.groups[name][2]) if name in self.groups else _number(name)


def add_accounts(tree: StateTree, *, shadow: bool) -> Accounts:
    """Write passwd and group (and the shadow files), and give who is in them."""
    accounts = Accounts(_rows(tree, "passwd"), _rows(tree, "group"))
    for _, data in tree.collected("usr/lib/sysusers.d"):
        for line in data.decode("utf-8", "replace").splitlines():
            _take_sysusers_line(accounts, line)
    if not accounts.users:
        return accounts
    if shadow:
        _add_shadow(tree, accounts)
    tree.put("etc/passwd", _text(accounts.users))
    tree.put("etc/group", _text(accounts.groups))
    return accounts


def _rows(tree: StateTree, name: str) -> dict[str, list[str]]:
    data = tree.read(f"usr/share/base-passwd/{name}.master") or b""
    rows = (line.split(":") for line in data.decode().splitlines() if line.strip())
    return {row[0]: row for row in rows}


def _take_sysusers_line(accounts: Accounts, line: str) -> None:
    words = shlex.split(line, comments=True)
    match words:
        case [("u" | "u!"), name, *rest]:
            _add_user(accounts, name, rest)
        case ["g", name, *rest]:
            _add_group(accounts, name, rest[0] if rest else "-")
        case ["m", user, group, *_]:
            _add_group(accounts, group, "-")
            members = accounts.groups[group][3].split(",") if accounts.groups[group][3] else []
            if user not in members:
                accounts.groups[group][3] = ",".join([*members, user])
        case _:
            return  # a comment, or a range of numbers for accounts to come


def _add_user(accounts: Accounts, name: str, rest: list[str]) -> None:
    if name in accounts.users:
        return
    identity, gecos, home, shell = [*rest, *["-"] * 4][:4]
    uid, _, group = identity.partition(":")
    if not group:
        _add_group(accounts, name, uid)
        group = name
    taken = {int(row[2]) for row in accounts.users.values()}
    wanted = _number(uid) if uid.isdigit() else accounts.gid(group)
    number = wanted if wanted and wanted not in taken else _free_number(taken)
    accounts.users[name] = [
        *(name, "*", str(number), str(accounts.gid(group)), "" if gecos == "-" else gecos),
        *("/" if home == "-" else home, "/usr/sbin/nologin" if shell == "-" else shell),
    ]


def _add_group(accounts: Accounts, name: str, identity: str) -> None:
    if name in accounts.groups:
        return
    taken = {int(row[2]) for row in accounts.groups.values()} | {
        int(row[2]) for row in accounts.users.values()
    }
    wanted = int(identity) if identity.isdigit() else None
    number = wanted if wanted is not None and wanted not in taken else _free_number(taken)
    accounts.groups[name] = [name, "*", str(number), ""]


def _free_number(taken: Collection[int]) -> int:
    """The highest system number that nobody has, as systemd-sysusers chooses them."""
    return next(number for number in range(999, 99, -1) if number not in taken)


def _add_shadow(tree: StateTree, accounts: Accounts) -> None:
    """As `shadowconfig on`: the second field of passwd and group moves to files that only root reads."""
    users = "".join(f"{name}:*:{_DAYS}:0:99999:7:::\n" for name in accounts.users)
    groups = "".join(f"{name}:*::{row[3]}\n" for name, row in accounts.groups.items())
    tree.put("etc/shadow", users.encode(), 0o640, _SHADOW_GROUP)
    tree.put("etc/gshadow", groups.encode(), 0o640, _SHADOW_GROUP)
    for row in (*accounts.users.values(), *accounts.groups.values()):
        row[1] = "x"


def _text(rows: Mapping[str, list[str]]) -> bytes:
    return "".join(f"{':'.join(row)}\n" for row in rows.values()).encode()


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def login_shells(tree: StateTree) -> Iterator[str]:
    """Every login shell that packages declare, each also by its path on the merged /usr (update-shells(8))."""
    sources = [tree.read("usr/share/debianutils/shells") or b""]
    sources += [data for _, data in tree.collected("usr/share/debianutils/shells.d")]
    for data in sources:
        for line in data.decode().splitlines():
            if line and not line.startswith("#"):
                yield line
                yield f"/{real_path(line)}"


def add_shells(tree: StateTree) -> None:
    """/etc/shells and the state of update-shells(8)."""
    template = tree.read("usr/share/debianutils/shells")
    if template is None:
        return
    shells = list(dict.fromkeys(login_shells(tree)))
    comments = [line for line in template.decode().splitlines() if line.startswith("#")]
    tree.put("etc/shells", "".join(f"{line}\n" for line in (*comments, *shells)).encode())
    tree.put("var/lib/shells.state", "".join(f"{shell}\n" for shell in shells).encode())
