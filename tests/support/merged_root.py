"""The root file system that fragments make together: one tree of entries, to compare or to unpack.

    root = merged_root([gzip bytes of a fragment, …], [its index, …])
    root["usr/bin/sh"].link

A merging helper for tests of converters, independent of the assembler: later fragments win, folders come
from the indexes, parents are implied.
"""

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reprobridge.assemble.index import IndexEntry, parents
from reprobridge.oci.tar import END


@dataclass(frozen=True)
class RootEntry:
    """One path."""

    kind: str
    """`file`, `dir`, `symlink` or `hardlink`."""
    mode: int
    uid: int = 0
    gid: int = 0
    link: str = ""
    """Target of a link."""
    data: bytes = b""
    """Content of a file."""

    @property
    def sha256(self) -> str:
        """Digest of the content, 64 hexadecimal digits."""
        return hashlib.sha256(self.data).hexdigest()


def merged_root(fragments: Iterable[tuple[bytes, Iterable[IndexEntry]]]) -> dict[str, RootEntry]:
    """Path to entry of everything in these fragments: (gzip members, index) each."""
    root: dict[str, RootEntry] = {}
    folders: dict[str, RootEntry] = {}
    for compressed, index in fragments:
        root |= tar_entries(gzip.decompress(compressed) + END)
        folders |= {
            row.path: RootEntry("dir", row.mode, row.uid, row.gid) for row in index if row.kind == "5"
        }
    for path in [*root, *folders]:
        for parent in parents(path):
            folders.setdefault(parent, RootEntry("dir", 0o755))
    return {**folders, **root}


def tar_entries(data: bytes) -> dict[str, RootEntry]:
    """The members of a tar, by path without `./` and slashes around."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        entries = {_clean(member.name): _entry(archive, member) for member in archive}
    entries.pop("", None)
    return entries


def unpack(root: Mapping[str, RootEntry], target: Path) -> None:
    """Write a tree into a folder; owners only as root."""
    for path in sorted(root):
        entry, place = root[path], target / path
        match entry.kind:
            case "dir":
                place.mkdir(parents=True, exist_ok=True)
            case "file":
                place.write_bytes(entry.data)
            case "symlink":
                place.symlink_to(entry.link)
    for path, entry in root.items():
        place = target / path
        if entry.kind == "hardlink":
            os.link(target / entry.link, place)
        elif entry.kind != "symlink":
            if os.geteuid() == 0:
                os.chown(place, entry.uid, entry.gid)
            place.chmod(entry.mode)


def _entry(archive: tarfile.TarFile, member: tarfile.TarInfo) -> RootEntry:
    owner = (member.uid, member.gid)
    if member.isdir():
        return RootEntry("dir", member.mode & 0o7777, *owner)
    if member.issym():
        return RootEntry("symlink", 0o777, *owner, link=member.linkname)
    if member.islnk():
        return RootEntry("hardlink", member.mode & 0o7777, *owner, link=_clean(member.linkname))
    if member.isreg():
        content = archive.extractfile(member)
        return RootEntry("file", member.mode & 0o7777, *owner, data=content.read() if content else b"")
    return RootEntry("special", member.mode & 0o7777, *owner)


def _clean(name: str) -> str:
    return name.removeprefix("./").strip("/")
