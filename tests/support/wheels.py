r"""Small wheels, made deterministically.

    wheel = build_wheel(WheelSource(name="sample", files={"sample/__init__.py": "x = 1\n"}))
    wheel.filename, wheel.data, wheel.sha256, wheel.write(folder)

One of each shape is in support.typical_wheels; those that must be refused are in support.hostile_wheels.
"""

import base64
import hashlib
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from support.made_files import MadeFile
from support.zip_writer import ZipMember, write_zip

Content = str | bytes | ZipMember
"""A file's content (mode 0644, deflated), or a member with everything said; its `name` is replaced."""


@dataclass(frozen=True, kw_only=True)
class WheelSource:
    """What a wheel is made of."""

    name: str
    """As the project spells it, such as `Foo.Bar`; file names use the normalised spelling."""
    version: str = "1.0"
    tag: str = "py3-none-any"
    files: Mapping[str, Content] = field(default_factory=dict)
    """Archive path to content."""
    data: Mapping[str, Content] = field(default_factory=dict)
    """Path below `NAME-VERSION.data`, such as `scripts/tool`, to content."""
    metadata: Mapping[str, Content] = field(default_factory=dict)
    """Path below `NAME-VERSION.dist-info`, such as `entry_points.txt`, to content; replaces a generated file."""
    requires: tuple[str, ...] = ()
    requires_python: str | None = None
    purelib: bool = True
    """`Root-Is-Purelib` of the WHEEL file."""
    record: Mapping[str, str] = field(default_factory=dict)
    """Archive path to the `hash,size` that RECORD claims, when they are not the file's."""
    unrecorded: frozenset[str] = frozenset()
    """Archive paths that RECORD leaves out."""
    appended: tuple[ZipMember, ...] = ()
    """Members behind RECORD, which RECORD doesn't list, exactly as given."""

    @property
    def stem(self) -> str:
        """`NAME-VERSION` as file names have it."""
        return f"{self.name.lower().replace('-', '_').replace('.', '_')}-{self.version}"


@dataclass(frozen=True, kw_only=True)
class Wheel(MadeFile):
    """A finished wheel."""

    metadata: str
    """Content of its METADATA file."""

    @property
    def project(self) -> str:
        """The name part of the file name."""
        return self.filename.split("-", 1)[0]


def build_wheel(source: WheelSource) -> Wheel:
    """Make a wheel: files, data, metadata, RECORD, then what is appended, in this order."""
    info = f"{source.stem}.dist-info"
    metadata = _metadata(source)
    generated: dict[str, Content] = {"METADATA": metadata, "WHEEL": _wheel_file(source)}
    contents: dict[str, Content] = {
        **source.files,
        **{f"{source.stem}.data/{path}": content for path, content in source.data.items()},
        **{f"{info}/{path}": content for path, content in {**generated, **source.metadata}.items()},
    }
    members = [_member(path, content) for path, content in contents.items()]
    if f"{info}/RECORD" not in contents:
        members.append(_member(f"{info}/RECORD", _record(source, members, f"{info}/RECORD")))
    return Wheel(
        filename=f"{source.stem}-{source.tag}.whl",
        data=write_zip((*members, *source.appended)),
        metadata=metadata,
    )


def simple_wheel(name: str, version: str = "1.0", *, requires: Iterable[str] = ()) -> Wheel:
    """A wheel with one package of the same name, whose `VERSION` is the wheel's."""
    package = name.lower().replace("-", "_").replace(".", "_")
    files = {f"{package}/__init__.py": f"VERSION = {version!r}\n"}
    return build_wheel(WheelSource(name=name, version=version, files=files, requires=tuple(requires)))


def executable(text: str) -> ZipMember:
    """Content with mode 0755."""
    return ZipMember(name="", data=text.encode(), mode=stat.S_IFREG | 0o755)


def _member(path: str, content: Content) -> ZipMember:
    if isinstance(content, ZipMember):
        return ZipMember(**{**vars(content), "name": path})
    return ZipMember(name=path, data=content.encode() if isinstance(content, str) else content)


def _metadata(source: WheelSource) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {source.name}", f"Version: {source.version}"]
    if source.requires_python is not None:
        lines.append(f"Requires-Python: {source.requires_python}")
    lines += [f"Requires-Dist: {requirement}" for requirement in source.requires]
    return "\n".join(lines) + "\n"


def _wheel_file(source: WheelSource) -> str:
    python, abi, platform = source.tag.split("-")
    tags = [
        f"Tag: {p}-{a}-{t}" for p in python.split(".") for a in abi.split(".") for t in platform.split(".")
    ]
    root = f"Root-Is-Purelib: {str(source.purelib).lower()}"
    return "\n".join(["Wheel-Version: 1.0", "Generator: tests", root, *tags]) + "\n"


def _record(source: WheelSource, members: Iterable[ZipMember], own_path: str) -> str:
    rows = []
    for member in members:
        path = str(member.name)
        if path not in source.unrecorded:
            claim = source.record.get(path, f"sha256={_record_hash(member.data)},{len(member.data)}")
            rows.append(f"{_quoted(path)},{claim}")
    return "\n".join([*rows, f"{own_path},,"]) + "\n"


def _quoted(path: str) -> str:
    return f'"{path}"' if "," in path else path


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
