r"""Small Debian packages, made deterministically.

deb = build_deb(DebSource(package="hello", files={"usr/bin/hello": DebFile(data=b"#!/bin/sh\n", mode=0o755)}))
deb.filename, deb.data, deb.sha256, deb.write(folder)
"""

import gzip
import hashlib
import io
import lzma
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from support.made_files import MadeFile

Compression = Literal["xz", "zst", "gz", "none"]
"""Of data.tar and control.tar; `none` is plain `.tar`."""


@dataclass(frozen=True, kw_only=True)
class DebFile:
    """One entry of data.tar: a file unless it says otherwise."""

    data: bytes = b""
    mode: int = 0o644
    kind: bytes = tarfile.REGTYPE
    """A type of tarfile: DIRTYPE, SYMTYPE, LNKTYPE, CHRTYPE, …"""
    link: str = ""
    """Target of a symlink or hard link; a hard link's is a path in the archive without `./`."""
    uid: int = 0
    gid: int = 0
    mtime: int = 1_700_000_000


def folder(mode: int = 0o755) -> DebFile:
    """A directory."""
    return DebFile(kind=tarfile.DIRTYPE, mode=mode)


def symlink(target: str) -> DebFile:
    """A symbolic link."""
    return DebFile(kind=tarfile.SYMTYPE, mode=0o777, link=target)


def hardlink(path: str) -> DebFile:
    """A hard link to an earlier path of the same archive."""
    return DebFile(kind=tarfile.LNKTYPE, link=path)


@dataclass(frozen=True, kw_only=True)
class DebSource:
    """What a package is made of."""

    package: str
    version: str = "1.0-1"
    architecture: str = "amd64"
    fields: Mapping[str, str] = field(default_factory=dict)
    """Further fields of `control`, such as Depends, Provides, Essential, Multi-Arch."""
    files: Mapping[str, DebFile | str] = field(default_factory=dict)
    """Path without `./` to entry; text is a file of mode 0644. Parent folders are added with mode 0755."""
    control: Mapping[str, str] = field(default_factory=dict)
    """Further files of control.tar, such as postinst (mode 0755), conffiles, triggers."""
    compression: Compression = "xz"

    @property
    def stem(self) -> str:
        """`PACKAGE_VERSION_ARCHITECTURE`; a version's epoch is no part of a file name."""
        return f"{self.package}_{self.version.split(':', 1)[-1]}_{self.architecture}"


@dataclass(frozen=True, kw_only=True)
class Deb(MadeFile):
    """A finished package."""

    source: DebSource

    @property
    def pool_path(self) -> str:
        """Where an archive keeps it, such as `pool/main/h/hello/hello_1.0-1_amd64.deb`."""
        name = self.source.package
        return f"pool/main/{name[:4] if name.startswith('lib') else name[:1]}/{name}/{self.filename}"

    @property
    def control(self) -> str:
        """The control paragraph, with a newline at its end."""
        return _control(self.source)


def deb_of(source: DebSource, data: bytes) -> Deb:
    """These bytes as a package's file, whatever they are."""
    return Deb(filename=f"{source.stem}.deb", source=source, data=data)


def build_deb(source: DebSource) -> Deb:
    """Make a package: an ar archive of debian-binary, control.tar and data.tar."""
    entries = {path: _entry(file) for path, file in source.files.items()}
    sums = "".join(
        f"{hashlib.md5(entry.data).hexdigest()}  {path}\n"
        for path, entry in entries.items()
        if entry.kind == tarfile.REGTYPE
    )
    control = {"control": _control(source), "md5sums": sums, **source.control}
    scripts = {"preinst", "postinst", "prerm", "postrm", "config"}
    control_entries = {
        name: DebFile(data=text.encode(), mode=0o755 if name in scripts else 0o644)
        for name, text in control.items()
    }
    suffix = "" if source.compression == "none" else f".{source.compression}"
    members = {
        "debian-binary": b"2.0\n",
        f"control.tar{suffix}": _compress(_tar(control_entries), source.compression),
        f"data.tar{suffix}": _compress(_tar(_with_parents(entries)), source.compression),
    }
    return deb_of(source, write_ar(members))


def write_ar(members: Mapping[str, bytes]) -> bytes:
    """An ar archive with the members in their order, as dpkg-deb writes it."""
    archive = b"!<arch>\n"
    for name, data in members.items():
        header = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n"
        archive += header.encode() + data + (b"\n" if len(data) % 2 else b"")
    return archive


def _entry(file: DebFile | str) -> DebFile:
    return DebFile(data=file.encode()) if isinstance(file, str) else file


def _control(source: DebSource) -> str:
    fields = {
        "Package": source.package,
        "Version": source.version,
        "Architecture": source.architecture,
        "Maintainer": "Tests <tests@example.org>",
        "Description": f"test package {source.package}",
        **source.fields,
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def _with_parents(entries: Mapping[str, DebFile]) -> dict[str, DebFile]:
    """Entries with the folders above them, each before what it holds; otherwise in the given order."""
    complete: dict[str, DebFile] = {"": folder()}
    for path, entry in entries.items():
        for parent in reversed(Path(path).parents[:-1]):
            complete.setdefault(str(parent), entries.get(str(parent), folder()))
        complete[path] = entry
    return complete


def _tar(entries: Mapping[str, DebFile]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, entry in entries.items():
            member = tarfile.TarInfo(f"./{path}")
            member.type, member.mode, member.mtime = entry.kind, entry.mode, entry.mtime
            member.uid, member.gid = entry.uid, entry.gid
            member.linkname = f"./{entry.link}" if entry.kind == tarfile.LNKTYPE else entry.link
            member.size = len(entry.data)
            archive.addfile(member, io.BytesIO(entry.data))
    return buffer.getvalue()


def _compress(data: bytes, compression: Compression) -> bytes:
    match compression:
        case "xz":
            return lzma.compress(data)
        case "zst":
            import zstandard

            return zstandard.ZstdCompressor().compress(data)
        case "gz":
            return gzip.compress(data, mtime=0)
        case "none":
            return data
