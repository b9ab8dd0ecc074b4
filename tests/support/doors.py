"""Finds where source code opens a process, a socket or a file for writing, or prints.

Only `builder/reprobridge/system` may do the first three and only `builder/reprobridge/cli` the last. What
is found is found by name: a rule for honest colleagues, which a getattr could get around.
"""

import ast
import re
from collections.abc import Iterator

_MODULES = frozenset({
    "aiohttp", "asyncio", "ftplib", "http.client", "http.server", "httpx", "multiprocessing", "pty",
    "requests", "smtplib", "socket", "socketserver", "ssl", "subprocess", "telnetlib", "tempfile",
    "urllib.request", "urllib3", "xmlrpc",
})  # fmt: skip
"""Importing one of these is opening a door."""

_OS = frozenset({
    "chmod", "chown", "execv", "execve", "execvp", "execvpe", "fchmod", "fork", "forkpty", "kill", "killpg",
    "lchown", "link", "makedirs", "mkdir", "mkfifo", "mknod", "popen", "posix_spawn", "remove",
    "removedirs", "rename", "renames", "replace", "rmdir", "setxattr", "spawnv", "symlink", "system",
    "truncate", "umask", "unlink", "utime", "write",
})  # fmt: skip
"""Functions of os that change the world outside."""

_SHUTIL = frozenset({"chown", "copy", "copy2", "copyfile", "copymode", "copystat", "copytree", "make_archive",
                     "move", "rmtree", "unpack_archive"})  # fmt: skip

_PATH = frozenset({"chmod", "hardlink_to", "lchmod", "mkdir", "rename", "rmdir", "symlink_to", "touch",
                   "unlink", "write_bytes", "write_text"})  # fmt: skip
"""Methods of pathlib.Path that write."""


def opened_doors(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, what) of each process, socket and file write, outside `if TYPE_CHECKING:`."""
    for node in _running_nodes(tree):
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom(module=str(module)):
                names = [module, *(f"{module}.{alias.name}" for alias in node.names)]
            case ast.Call():
                names = [] if (what := _write(node)) is None else [what]
                yield from ((node.lineno, name) for name in names)
                continue
            case _:
                continue
        yield from ((node.lineno, f"import {name}") for name in names if _is_door(name))


def printed(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, what) of each print, use of a standard stream, and exit."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="print" | "input" | "exit" | "quit" as name)):
                yield node.lineno, f"{name}()"
            case ast.Attribute(value=ast.Name(id="sys"), attr="stdout" | "stderr" | "exit" as name):
                yield node.lineno, f"sys.{name}"
            case ast.Raise(exc=ast.Name(id="SystemExit") | ast.Call(func=ast.Name(id="SystemExit"))):
                yield node.lineno, "raise SystemExit"


def _running_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below one, but for the bodies of `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if (
            isinstance(child, ast.If)
            and isinstance(child.test, ast.Name)
            and child.test.id == "TYPE_CHECKING"
        ):
            continue
        yield child
        yield from _running_nodes(child)


def _is_door(name: str) -> bool:
    parts = name.split(".")
    return any(".".join(parts[: count + 1]) in _MODULES for count in range(len(parts)))


def _write(call: ast.Call) -> str | None:
    """What a call writes by, or None."""
    match call.func:
        case ast.Name(id="open"):
            return "open() for writing" if _is_for_writing(_mode(call, at=1)) else None
        case ast.Attribute(value=ast.Name(id="os"), attr="open"):
            return None if _opens_for_reading(call) else "os.open() for writing"
        case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in _OS:
            return f"os.{name}()"
        case ast.Attribute(value=ast.Name(id="shutil"), attr=name) if name in _SHUTIL:
            return f"shutil.{name}()"
        case ast.Attribute(attr=name) if name in _PATH:
            return f".{name}()"
        case ast.Attribute(attr="replace") if len(call.args) == 1 and not call.keywords:
            return ".replace() of a path"  # that of a text takes two arguments
        case ast.Attribute(attr="open") if not any(keyword.arg == "fileobj" for keyword in call.keywords):
            # path.open(mode), tarfile.open(path, mode); what is no literal may be no mode: store.open(digest)
            modes = [_mode(call, at=at) for at in (0, 1)]
            literal = [mode for mode in modes if isinstance(mode, ast.Constant)]
            return ".open() for writing" if any(map(_is_for_writing, literal)) else None
    return None


def _opens_for_reading(call: ast.Call) -> bool:
    """Whether an os.open call opens /dev/null, or names flags and none of them is one for writing."""
    path, flags = (ast.unparse(argument) for argument in call.args[:2])
    named = set(re.findall(r"\bO_\w+", flags))
    writing = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC", "O_TMPFILE"}
    return path == "os.devnull" or (bool(named) and not named & writing)


def _mode(call: ast.Call, *, at: int) -> ast.expr | None:
    """The mode argument of an open call."""
    for keyword in call.keywords:
        if keyword.arg == "mode":
            return keyword.value
    return call.args[at] if len(call.args) > at else None


def _is_for_writing(mode: ast.expr | None) -> bool:
    """Whether a mode is one for writing, or can't be read off."""
    match mode:
        case None:
            return False
        case ast.Constant(value=str(text)):
            return re.fullmatch(r"[wax][bt+]*([|:]\w*)?|r[bt]*\+[bt]*", text) is not None
        case _:
            return True
