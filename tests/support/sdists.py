"""Small source distributions, made deterministically."""

import gzip
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass

from support.made_files import MadeFile

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "{version}"
"""


@dataclass(frozen=True, kw_only=True)
class Sdist(MadeFile):
    """A finished `NAME-VERSION.tar.gz`."""


def build_sdist(name: str, version: str = "1.0", *, files: Mapping[str, str | bytes]) -> Sdist:
    """An sdist with PKG-INFO and, unless `files` has one, a pyproject.toml that builds with hatchling."""
    normal = name.lower().replace("-", "_").replace(".", "_")
    generated: dict[str, str | bytes] = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "pyproject.toml": PYPROJECT.format(name=name, version=version),
    }
    contents = {**generated, **files}
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(contents):
            content = contents[path]
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(f"{normal}-{version}/{path}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    packed = gzip.compress(tar.getvalue(), compresslevel=0, mtime=0)  # level 0: the same with every zlib
    return Sdist(filename=f"{normal}-{version}.tar.gz", data=packed)
