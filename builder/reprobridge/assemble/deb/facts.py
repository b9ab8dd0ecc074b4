"""What a package's converter leaves for the Debian state: facts of its control data and of special paths.

Facts are canonical JSON, so they have one text; bytes of files stand in them as Latin-1 text, which keeps
every byte. The Debian state is a function of all packages' facts and of nothing else.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from reprobridge.assemble.deb.mime import MimeRule
from reprobridge.digest import Json, canonical_json
from reprobridge.frozen import field, frozen


class Slave(NamedTuple):
    """A link that follows an alternative's choice."""

    link: str
    """Where it stands, absolute."""
    name: str
    """Its name in /etc/alternatives."""
    path: str
    """What it leads to, absolute."""


class Alternative(NamedTuple):
    """One call of `update-alternatives --install`."""

    link: str
    """Generic link, absolute."""
    name: str
    """Its name in /etc/alternatives."""
    path: str
    """The candidate, absolute."""
    priority: int
    """The highest wins."""
    slaves: tuple[Slave, ...] = ()
    """In the order of the call."""


class Library(NamedTuple):
    """A shared library."""

    path: str
    """In the image."""
    machine: int
    """ELF's number of its processor."""
    soname: str
    """The name by which the dynamic linker looks it up; empty when it has none."""


class Folder(NamedTuple):
    """A folder whose mode or owner matters."""

    path: str
    """In the image."""
    mode: int
    """Permission bits."""
    uid: int
    """Owner."""
    gid: int
    """Group."""


@frozen(kw_only=True)
class DebFacts:
    """Facts of one package."""

    control: str
    """Its control paragraph."""
    conffiles: tuple[tuple[str, str], ...] = ()
    """Absolute path and MD5 (hex, the dpkg database's) of each configuration file, in the package's order."""
    scripts: Mapping[str, str]
    """Maintainer script -> SHA-256 (hex) of its text."""
    alternatives: tuple[Alternative, ...] = ()
    """What its postinst would have registered."""
    triggers: tuple[str, ...] = ()
    """Directives of its triggers file, for example `interest ldconfig`."""
    folders: tuple[Folder, ...] = ()
    """Folders with a mode or owner of their own, sorted."""
    files: Mapping[str, bytes]
    """Image path -> bytes of the small files that the Debian state is made from."""
    libraries: tuple[Library, ...] = ()
    """Shared libraries where the dynamic linker may look, sorted by path."""
    graphviz: Mapping[str, str] = field(default_factory=dict)
    """Plugin of Graphviz -> its part of the configuration that `dot` reads."""
    mime: Mapping[str, tuple[MimeRule, ...]] = field(default_factory=dict)
    """List of types of files -> its rules."""
    dropped: tuple[tuple[str, int], ...] = ()
    """Files that lost set-uid or set-gid bits, with the mode in the package."""
    unknown: tuple[str, ...] = ()
    """Commands of its scripts whose effects are neither replaced nor declared harmless."""

    def to_bytes(self) -> bytes:
        """The facts' text."""
        value: dict[str, Json] = {
            "control": self.control,
            "conffiles": self.conffiles,
            "scripts": dict(self.scripts),
            "alternatives": self.alternatives,
            "triggers": self.triggers,
            "folders": self.folders,
            "files": {path: data.decode("latin-1") for path, data in self.files.items()},
            "libraries": self.libraries,
            "graphviz": dict(self.graphviz),
            "mime": dict(self.mime),
            "dropped": self.dropped,
            "unknown": self.unknown,
        }
        return canonical_json(value)


def read_facts(data: bytes) -> DebFacts:
    """The facts in a text that `DebFacts.to_bytes` wrote."""
    value: Any = json.loads(data)
    return DebFacts(
        control=value["control"],
        conffiles=tuple((path, md5) for path, md5 in value["conffiles"]),
        scripts=value["scripts"],
        alternatives=tuple(
            Alternative(link, name, path, priority, tuple(map(Slave._make, slaves)))
            for link, name, path, priority, slaves in value["alternatives"]
        ),
        triggers=tuple(value["triggers"]),
        folders=tuple(map(Folder._make, value["folders"])),
        files={path: text.encode("latin-1") for path, text in value["files"].items()},
        libraries=tuple(map(Library._make, value["libraries"])),
        graphviz=value["graphviz"],
        mime={path: tuple(map(MimeRule._make, rules)) for path, rules in value["mime"].items()},
        dropped=tuple((path, mode) for path, mode in value["dropped"]),
        unknown=tuple(value["unknown"]),
    )
