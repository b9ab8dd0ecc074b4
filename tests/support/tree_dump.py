"""A folder or a tar as lines of text, so that a test compares trees by reading them.

    dir 0755 opt/env
    file 0644 cc55e2ec opt/env/pyvenv.cfg
    symlink opt/env/bin/python -> /usr/bin/python3
    hardlink opt/env/lib64 -> opt/env/lib

`cc55e2ec` are the first eight digits of the content's SHA-256; `empty` stands for no content.
Paths have no leading `./` or `/` and no trailing slash; lines are sorted by path, as bytes, unless the
order is what a test looks at.
"""

import gzip
import hashlib
import io
import os
import stat
import tarfile
from pathlib import Path

_KINDS = {
    tarfile.CHRTYPE: "chardev",
    tarfile.BLKTYPE: "blockdev",
    tarfile.FIFOTYPE: "fifo",
}


def dump_folder(root: Path) -> list[str]:
    """Every path below a folder, which itself is left out. Hard links appear as files."""
    lines: dict[str, str] = {}
    for folder, folders, files in os.walk(root):
        for entry in (*folders, *files):
            path = Path(folder, entry)
            name = path.relative_to(root).as_posix()
            lines[name] = _path_line(path, name)
    return [lines[name] for name in sorted(lines, key=os.fsencode)]


def dump_tar(archive: bytes | Path, *, ordered: bool = True, owners: bool = False) -> list[str]:
    """Every member of a tar or a gzipped tar of one or more gzip members.

    `ordered=False` keeps the archive's order; `owners=True` puts `uid:gid` behind the mode.
    A path that stands in the archive twice gives two lines.
    """
    data = archive.read_bytes() if isinstance(archive, Path) else archive
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        entries = [(_clean(member.name), _member_line(tar, member, owners=owners)) for member in tar]
    if ordered:
        entries.sort(key=lambda entry: os.fsencode(entry[0]))
    return [line for _, line in entries]


def _path_line(path: Path, name: str) -> str:
    status = path.lstat()
    mode = f"{stat.S_IMODE(status.st_mode):04o}"
    if stat.S_ISLNK(status.st_mode):
        return f"symlink {name} -> {path.readlink()}"
    if stat.S_ISDIR(status.st_mode):
        return f"dir {mode} {name}"
    if stat.S_ISREG(status.st_mode):
        return f"file {mode} {_short_digest(path.read_bytes())} {name}"
    return f"special {mode} {name}"


def _member_line(tar: tarfile.TarFile, member: tarfile.TarInfo, *, owners: bool) -> str:
    name = _clean(member.name)
    mode = f"{member.mode:04o} {member.uid}:{member.gid}" if owners else f"{member.mode:04o}"
    if member.isreg():
        content = tar.extractfile(member)
        return f"file {mode} {_short_digest(content.read() if content else b'')} {name}"
    if member.isdir():
        return f"dir {mode} {name}"
    if member.issym():
        return f"symlink {name} -> {member.linkname}"
    if member.islnk():
        return f"hardlink {name} -> {_clean(member.linkname)}"
    return f"{_KINDS.get(member.type, 'unknown')} {mode} {member.devmajor},{member.devminor} {name}"


def _clean(name: str) -> str:
    return name.removeprefix("./").strip("/")


def _short_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8] if content else "empty"
