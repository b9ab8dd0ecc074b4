"""Wheels put through the converter in memory, with both streams kept for a look.

result = convert_wheel(wheel, tmp_path)
result.files["opt/env/bin/tool"].mode, result.tar, result.gzip, result.facts
"""

import hashlib
import io
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from reprobridge.assemble.aside import Aside
from reprobridge.assemble.fragment import FragmentWriter, LayerSink
from reprobridge.assemble.index import IndexEntry
from reprobridge.assemble.wheel.convert import convert
from reprobridge.assemble.wheel.facts import WheelFacts, read_facts
from reprobridge.digest import Digest
from reprobridge.lock.model import LockedFile
from reprobridge.oci.tar import END
from reprobridge.plan.model import BytecodeRecipe, FragmentRecipe, WheelRecipe
from support.wheels import Wheel


@dataclass
class Captured(LayerSink):
    """A sink that keeps everything."""

    pieces: list[bytes] = field(default_factory=list)
    """Uncompressed, as they came."""
    packed: list[bytes] = field(default_factory=list)
    """Compressed, as they came."""

    def tar(self, data: bytes) -> None:
        """Keep uncompressed bytes."""
        self.pieces.append(bytes(data))

    def gzip(self, data: bytes) -> None:
        """Keep compressed bytes."""
        self.packed.append(bytes(data))


@dataclass(frozen=True)
class TarFile:
    """A file of the tar stream."""

    mode: int
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came out."""

    tar: bytes
    """The uncompressed stream, without the archive's end."""
    gzip: bytes
    """The compressed stream."""
    entries: list[IndexEntry]
    facts: WheelFacts

    @property
    def files(self) -> dict[str, TarFile]:
        """What a tar reader finds, by path, in the stream's order."""
        return read_tar(self.tar)


class OneFile:
    """`Inputs` that has a single file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def path(self, digest: Digest) -> Path:
        """The file, whatever is asked for."""
        return self._path

    def tree(self, digest: Digest) -> Path:
        """Not for wheels."""
        raise NotImplementedError

    def compiled(self, recipe: BytecodeRecipe) -> Path:
        """Not for wheels."""
        raise NotImplementedError

    def facts(self, recipe: FragmentRecipe) -> bytes:
        """Not for wheels."""
        raise NotImplementedError

    def index(self, recipe: FragmentRecipe) -> list[IndexEntry]:
        """Not for wheels."""
        raise NotImplementedError

    def listing(self, recipe: FragmentRecipe) -> bytes:
        """Not for wheels."""
        raise NotImplementedError


def convert_wheel(
    wheel: Wheel, folder: Path, *, origin: str | None = None, omit: Iterable[str] = (), python: str = "3.11"
) -> Result:
    """Convert a wheel that is saved in a folder for it."""
    return convert_file(wheel.write(folder), origin=origin, omit=omit, python=python)


def convert_file(
    path: Path, *, origin: str | None = None, omit: Iterable[str] = (), python: str = "3.11"
) -> Result:
    """Convert a wheel file."""
    sink = Captured()
    recipe = WheelRecipe(wheel=locked_wheel(path), python=python, origin=origin, omit=tuple(omit))
    return _converted(recipe, path, FragmentWriter(sink, folders=False), sink)


def convert_beside_a_helper(path: Path) -> Result:
    """Convert a wheel file as a big one is: hashed and compressed by a thread beside the conversion."""
    sink = Captured()
    with Aside(sink) as aside:
        writer = FragmentWriter(aside, folders=False, helper=aside)
        found = _converted(WheelRecipe(wheel=locked_wheel(path), python="3.11"), path, writer, sink)
        aside.settle()
    return replace(found, tar=b"".join(sink.pieces), gzip=b"".join(sink.packed))


def locked_wheel(path: Path) -> LockedFile:
    """What a lock says of the file."""
    data = path.read_bytes()
    return LockedFile(path.name, Digest(hashlib.sha256(data).hexdigest()), len(data))


def _converted(recipe: WheelRecipe, path: Path, writer: FragmentWriter, sink: Captured) -> Result:
    facts = convert(recipe, OneFile(path), writer)
    writer.close()
    assert facts is not None
    return Result(
        tar=b"".join(sink.pieces), gzip=b"".join(sink.packed), entries=writer.entries, facts=read_facts(facts)
    )


def read_tar(stream: bytes) -> dict[str, TarFile]:
    """Every regular file of a tar stream without end, by path; anything else fails."""
    found: dict[str, TarFile] = {}
    with tarfile.open(fileobj=io.BytesIO(stream + END)) as archive:
        for member in archive:
            extracted = archive.extractfile(member)
            assert member.isreg()
            assert extracted is not None
            assert member.name not in found
            found[member.name] = TarFile(member.mode, extracted.read())
    return found
