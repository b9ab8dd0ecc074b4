"""What a wheel says about itself: WHEEL, METADATA and entry_points.txt.

Small readers of our own, because what they find reaches image bytes (scripts, bill of materials), and those
may not depend on the Python that we run on.
Sources: binary distribution format, core metadata 2.4, entry points specification.
"""

import re
from collections.abc import Iterator, Mapping

from reprobridge.assemble.wheel.archive import WheelArchive
from reprobridge.assemble.wheel.directory import broken
from reprobridge.frozen import frozen
from reprobridge.spec.package_name import normalized

WHEEL_VERSION = (1, 0)
"""The newest version of the format that we know; pip refuses a newer major one and warns of a newer minor."""

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_ENTRY_POINT = re.compile(r"(?P<module>\w+(?:\.\w+)*)\s*:\s*(?P<attribute>\w+(?:\.\w+)*)\s*(?:\[[^\]]*\])?")
_SCRIPT_NAME = re.compile(r"(?!\.{1,2}$)(?!\.wh\.)[^\s/\\\[\x00-\x1f]+")


@frozen(kw_only=True)
class EntryPoint:
    """A function that a script starts; extras are dropped, as every installer does."""

    name: str
    """Of the script."""
    module: str
    """Where the function is."""
    attribute: str
    """Dotted path to it inside the module."""


@frozen(kw_only=True)
class WheelMetadata:
    """A wheel's dist-info folder, read."""

    folder: str
    """`NAME-VERSION.dist-info`."""
    name: str
    """As the project spells it."""
    version: str
    """PEP 440 version."""
    headers: Mapping[str, tuple[str, ...]]
    """METADATA's fields by lower-case name, each with all its values."""
    console: tuple[EntryPoint, ...]
    """Console scripts, sorted by name."""
    gui: tuple[EntryPoint, ...]
    """GUI scripts, sorted by name."""
    warnings: tuple[str, ...]
    """What is odd, but no reason to refuse."""

    def one(self, field: str) -> str | None:
        """A field that stands at most once."""
        values = self.headers.get(field, ())
        return values[0] if values else None


def read_metadata(archive: WheelArchive) -> WheelMetadata:
    """Read and check the dist-info folder. Raises ArtifactError for what pip refuses to install."""
    project, version = _from_file_name(archive.name)
    folder = _dist_info(archive, project)
    warnings = tuple(_check_format(archive, folder))
    headers = _headers(archive, f"{folder}/METADATA")
    found = [(headers.get(field) or ("",))[0] for field in ("name", "version")]
    if not _NAME.fullmatch(found[0]) or normalized(found[0]) != project:
        raise broken(archive.name, f"{folder}/METADATA", f"Name: {project}", repr(found[0]))
    if not _same_version(found[1], version):
        raise broken(archive.name, f"{folder}/METADATA", f"Version: {version}", repr(found[1]))
    console, gui = _scripts(archive, folder)
    return WheelMetadata(
        folder=folder,
        name=found[0],
        version=found[1],
        headers=headers,
        console=console,
        gui=gui,
        warnings=warnings,
    )


def _from_file_name(wheel: str) -> tuple[str, str]:
    parts = wheel.removesuffix(".whl").split("-")
    if not wheel.endswith(".whl") or len(parts) not in (5, 6):
        raise broken(wheel, None, "NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl", "another file name")
    return normalized(parts[0]), parts[1]


def _same_version(one: str, other: str) -> bool:
    if one == other:
        return True
    from packaging.version import InvalidVersion, Version

    try:
        return Version(one) == Version(other.replace("_", "-"))
    except InvalidVersion:
        return False


def _dist_info(archive: WheelArchive, project: str) -> str:
    tops = {name.partition("/")[0] for name in archive.members if "/" in name}
    folders = sorted(top for top in tops if top.endswith(".dist-info"))
    if len(folders) != 1:
        raise broken(archive.name, None, "one .dist-info folder", ", ".join(folders) or "none")
    found = normalized(folders[0].removesuffix(".dist-info").partition("-")[0])
    if found != project:
        raise broken(archive.name, folders[0], f"the .dist-info folder of {project}", f"that of {found}")
    return folders[0]


def _check_format(archive: WheelArchive, folder: str) -> Iterator[str]:
    path = f"{folder}/WHEEL"
    text = (_headers(archive, path).get("wheel-version") or ("",))[0]
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)*", text):
        raise broken(archive.name, path, "Wheel-Version: 1.0", repr(text))
    version = tuple(int(part) for part in text.split("."))
    if version[0] > WHEEL_VERSION[0]:
        raise broken(archive.name, path, "Wheel-Version 1", f"Wheel-Version {text}")
    if version > WHEEL_VERSION:
        yield f"{path}: Wheel-Version {text} is newer than 1.0"


def _headers(archive: WheelArchive, path: str) -> dict[str, tuple[str, ...]]:
    """The header fields of a file in the format of e-mail; its body is left out."""
    fields: dict[str, list[str]] = {}
    last: list[str] | None = None
    for line in _lines(archive, path):
        if not line:
            break
        if line[0] in " \t":
            if last:
                last[-1] += "\n" + line.strip()
            continue
        key, colon, value = line.partition(":")
        if colon:
            last = fields.setdefault(key.strip().lower(), [])
            last.append(value.strip())
    return {key: tuple(values) for key, values in fields.items()}


def _lines(archive: WheelArchive, path: str) -> list[str]:
    member = archive.members.get(path)
    if member is None:
        raise broken(archive.name, path, "this file", "none")
    try:
        return archive.read(member).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise broken(archive.name, path, "a text in UTF-8", str(error)) from error


def _scripts(archive: WheelArchive, folder: str) -> tuple[tuple[EntryPoint, ...], tuple[EntryPoint, ...]]:
    path = f"{folder}/entry_points.txt"
    found: dict[str, dict[str, EntryPoint]] = {"console_scripts": {}, "gui_scripts": {}}
    section: dict[str, EntryPoint] | None = None
    for line in map(str.strip, _lines(archive, path) if path in archive.members else []):
        if line.startswith("[") and line.endswith("]"):
            section = found.get(line[1:-1].strip())
        elif section is not None and line and line[0] not in "#;":
            name, _, value = (part.strip() for part in line.partition("="))
            target = _ENTRY_POINT.fullmatch(value)
            if target is None or not _SCRIPT_NAME.fullmatch(name):
                raise broken(archive.name, path, "SCRIPT = MODULE:FUNCTION", repr(line))
            section[name] = EntryPoint(name=name, module=target["module"], attribute=target["attribute"])
    console, gui = ({name: points[name] for name in sorted(points)} for points in found.values())
    return tuple(console.values()), tuple(gui.values())
