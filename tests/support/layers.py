"""Layers made by hand for sandboxes: files from a dictionary, this machine's shell, this machine's Python.

A layer is a gzip-compressed tar of several gzip members, as the builder writes them.
"""

import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reprobridge.digest import Digest

MTIME = 315619200
"""Time of every entry."""
MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"
"""This interpreter's minor version."""
PYTHON = f"/usr/local/bin/python{MINOR}"
"""Where `python_tree` puts the interpreter."""


@dataclass(frozen=True)
class Link:
    """A symbolic link in a layer's dictionary."""

    target: str


@dataclass(frozen=True)
class Entry:
    """A file or (without data) a folder with a mode or owner of its own in a layer's dictionary."""

    data: bytes | None = None
    mode: int = 0o644
    uid: int = 0
    gid: int = 0


Tree = Mapping[str, bytes | str | Link | Entry]
"""Path -> content: bytes or text are files with mode 0644 (0755 below a folder named bin)."""


@dataclass(frozen=True)
class MadeLayer:
    """A layer's bytes with both digests."""

    compressed: bytes
    diff_id: Digest
    digest: Digest

    def write(self, folder: Path) -> Path:
        """Put the blob into a folder under its digest."""
        path = folder / self.digest.hex
        path.write_bytes(self.compressed)
        return path


def make_layer(tree: Tree, *, extra: Iterable[tuple[tarfile.TarInfo, bytes]] = ()) -> MadeLayer:
    """A layer of these paths in sorted order, parents included; `extra` members follow as they are."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted({*tree, *(parent for name in tree for parent in _parents(name))}):
            info, data = _member(path, tree.get(path, Entry(mode=0o755)))
            archive.addfile(info, io.BytesIO(data))
        for info, data in extra:
            archive.addfile(info, io.BytesIO(data))
    return layer_of(raw.getvalue())


def layer_of(tar: bytes) -> MadeLayer:
    """A layer of this tar stream, compressed in several gzip members."""
    third = len(tar) // 3
    pieces = tar[:third], tar[third : 2 * third], tar[2 * third :]
    compressed = b"".join(gzip.compress(piece, 1, mtime=0) for piece in pieces)
    return MadeLayer(compressed, Digest(hashlib.sha256(tar).hexdigest()), Digest.of(compressed))


def _parents(path: str) -> Iterable[str]:
    """The folders above a path, outermost first."""
    parts = path.split("/")
    return ("/".join(parts[:depth]) for depth in range(1, len(parts)))


def _member(path: str, content: bytes | str | Link | Entry) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(path)
    info.mtime = MTIME
    if isinstance(content, Link):
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, content.target, 0o777
        return info, b""
    if not isinstance(content, Entry):
        data = content.encode() if isinstance(content, str) else content
        content = Entry(data, 0o755 if "/bin/" in f"/{path}" else 0o644)
    info.mode, info.uid, info.gid = content.mode, content.uid, content.gid
    if content.data is None:
        info.type = tarfile.DIRTYPE
        return info, b""
    info.size = len(content.data)
    return info, content.data


# this machine's programs


def shell_tree() -> dict[str, bytes | str | Link | Entry]:
    """The shell and a few tools of this machine with their libraries, and the folders that every image has."""
    tree: dict[str, bytes | str | Link | Entry] = {
        "tmp": Entry(mode=0o1777),
        "out": Entry(mode=0o1777),
        "proc": Entry(mode=0o755),
        "dev": Entry(mode=0o755),
    }
    for name in ("sh", "cat", "ls", "id", "touch", "env", "sleep", "mkdir", "readlink"):
        tree |= program_tree(name)
    return tree


def program_tree(name: str) -> dict[str, bytes | str | Link | Entry]:
    """/bin/NAME with its libraries at their own places."""
    path = Path(f"/bin/{name}").resolve()
    tree: dict[str, bytes | str | Link | Entry] = {f"bin/{name}": Entry(path.read_bytes(), 0o755)}
    return tree | _libraries(path)


def _libraries(path: Path) -> dict[str, bytes | str | Link | Entry]:
    listed = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False).stdout
    found = re.findall(r"(/\S+) \(0x", listed)
    return {library.lstrip("/"): Entry(Path(library).read_bytes(), 0o755) for library in found}


def python_tree() -> dict[str, bytes | str | Link | Entry]:
    """This interpreter and its standard library, moved to /usr/local, with the libraries that they need."""
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    tree: dict[str, bytes | str | Link | Entry] = {PYTHON.lstrip("/"): Entry(program.read_bytes(), 0o755)}
    library = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))
    left_out = {
        "test",
        "tests",
        "__pycache__",
        "site-packages",
        "dist-packages",
        "idlelib",
        "tkinter",
        "ensurepip",
    }
    needed = [program]
    for parent, folders, names in os.walk(library):
        folders[:] = sorted(set(folders) - left_out)
        for name in names:
            path = Path(parent, name)
            if path.suffix in (".py", ".so"):
                place = f"usr/local/lib/python{MINOR}/{path.relative_to(library)}"
                tree[place] = Entry(path.read_bytes(), 0o644)
                needed += [path] if path.suffix == ".so" else []
    for path in needed:
        for place, content in _libraries(path).items():
            tree[place] = content
            if "/libpython" in place:  # found by $ORIGIN/../lib
                tree[f"usr/local/lib/{place.rpartition('/')[2]}"] = content
    return tree
