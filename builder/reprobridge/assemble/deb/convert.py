"""Converter of a Debian package: its files on a merged /usr, its dpkg database files, and its facts.

Nothing is run and nothing is guessed: what maintainer scripts would have made of all packages together is
`debian_state/`'s part, which reads the facts left here.
Modes and owners are the package's, with one exception: set-uid and set-gid bits of files are dropped (an
artifact runs as one unprivileged user) and named in the facts. Folders are only indexed, and only where
their mode or owner matters or nothing else implies them.
The files of control.tar stay in /var/lib/dpkg/info, scripts included, as dpkg leaves them: dpkg needs
prerm and postrm to remove or upgrade a package in an image built on ours, and scanners read md5sums.
"""

import hashlib
import re
import tarfile
from collections.abc import Iterator, Mapping
from typing import BinaryIO, cast

from reprobridge.assemble.converter import Inputs
from reprobridge.assemble.deb.alternatives import parse_alternatives
from reprobridge.assemble.deb.archive import DebArchive, open_deb
from reprobridge.assemble.deb.elf import read_shared_object
from reprobridge.assemble.deb.facts import Alternative, DebFacts, Folder, Library
from reprobridge.assemble.deb.graphviz import plugin_paragraph
from reprobridge.assemble.deb.mime import LIMIT, LISTS, MimeRule, mime_rules
from reprobridge.assemble.deb.paths import checked_path, is_state_link, merged, merged_target, require_utf8
from reprobridge.assemble.deb.scripts import effects_left_out, is_reviewed, untriggered
from reprobridge.assemble.fragment import FragmentWriter, sorted_entries
from reprobridge.assemble.index import parents
from reprobridge.errors import ArtifactError
from reprobridge.oci.tar import DIRECTORY_MODE, EntryKind, TarEntry
from reprobridge.plan.model import DebRecipe

INFO = "var/lib/dpkg/info"
"""Folder of dpkg's files about packages."""
SCRIPTS = ("preinst", "postinst", "prerm", "postrm", "config")
"""Files of control.tar that are programs."""

_COLLECTED = re.compile(
    r"etc/shells|usr/share/(base-files|base-passwd|debianutils|libc-bin|readline)/[^/]+"
    r"|usr/share/debianutils/shells\.d/[^/]+"
    r"|usr/share/ca-certificates/.+\.crt|usr/lib/(sysusers|tmpfiles)\.d/[^/]+\.conf"
    r"|etc/ld\.so\.conf\.d/[^/]+\.conf|usr/lib/R/etc/Renviron\.ucf"
    r"|etc/ghostscript/(cidfmap|fontmap)\.d/[^/]+\.conf"
)
"""Small files that the Debian state is made from."""
_COLLECTED_LIMIT = 1 << 20
_GRAPHVIZ = re.compile(r"usr/lib/[^/]+/graphviz/(libgvplugin_\w+\.so\.\d+)\.\d+\.\d+")
_LIBRARY = re.compile(r"usr/lib(32|64|x32)?/(.+/)?(lib|ld-)[^/]*\.so[^/]*")


def convert(recipe: DebRecipe, inputs: Inputs, writer: FragmentWriter) -> bytes:
    """Write the package's files and give its facts. Raises ArtifactError for a broken or hostile package."""
    with open_deb(inputs.path(recipe.deb.sha256), recipe.deb.name) as archive:
        return _Conversion(recipe, archive).run(writer)


class _Conversion:
    """One package on its way into a fragment."""

    def __init__(self, recipe: DebRecipe, archive: DebArchive) -> None:
        self._recipe, self._archive = recipe, archive
        self._members: dict[str, tarfile.TarInfo] = {}
        self._entries: dict[str, TarEntry] = {}
        self._folders: dict[str, Folder] = {}
        self._plain: set[str] = set()
        self._listing: list[str] = []
        self._dropped: list[tuple[str, int]] = []

    def run(self, writer: FragmentWriter) -> bytes:
        """Read all headers, then write entries in canonical order."""
        self._check_identity()
        for member in self._archive.data:
            self._take(member)
        self._check_parents()
        self._check_hard_links()
        self._omit()
        self._keep_empty_folders()
        database = self._database()
        for folder in sorted(self._folders.values()):
            writer.folder(
                TarEntry(folder.path, EntryKind.DIRECTORY, folder.mode, 0, "", folder.gid, folder.uid)
            )
        for entry in sorted_entries([*self._entries.values(), *database]):
            if entry.path not in self._entries:
                writer.file(entry, database[entry])
            elif entry.kind is EntryKind.FILE:
                writer.stream(entry, self._content(entry.path))
            else:
                writer.link(entry)
        return self._facts().to_bytes()

    # data.tar

    def _take(self, member: tarfile.TarInfo) -> None:
        original = checked_path(member.name, self._recipe.package)
        self._listing.append(f"/{original}" if original else "/.")
        path = merged(original)
        if member.isdir():
            self._take_folder(path if original == path else "", member)
            return
        if is_state_link(original) and member.issym():
            return
        if is_state_link(original) or path in self._entries or path in self._folders or path in self._plain:
            raise self._error("each path once", f"{original} twice, or over a link of the system")
        self._entries[path] = self._entry(original, path, member)
        self._members[path] = member

    def _take_folder(self, path: str, member: tarfile.TarInfo) -> None:
        plain = (member.mode & 0o7777, member.uid, member.gid) == (DIRECTORY_MODE, 0, 0)
        if path in self._entries:
            raise self._error("each path once", f"{path} as a file and as a folder")
        if not path or is_state_link(path):
            return
        if plain:
            self._plain.add(path)
        else:
            self._folders[path] = Folder(path, member.mode & 0o7777, member.uid, member.gid)

    def _keep_empty_folders(self) -> None:
        """A folder that nothing else implies is indexed as well."""
        implied = {
            parent for path in (*self._entries, *self._folders, *self._plain) for parent in parents(path)
        }
        for path in self._plain - implied:
            self._folders[path] = Folder(path, DIRECTORY_MODE, 0, 0)

    def _entry(self, original: str, path: str, member: tarfile.TarInfo) -> TarEntry:
        mode = member.mode & 0o7777
        if member.issym():
            require_utf8(member.linkname, self._recipe.package)
            target = merged_target(original, member.linkname)
            return TarEntry(path, EntryKind.SYMLINK, 0o777, 0, target, member.gid, member.uid)
        if member.islnk():
            target = merged(checked_path(member.linkname, self._recipe.package))
            return TarEntry(path, EntryKind.HARDLINK, mode & 0o777, 0, target, member.gid, member.uid)
        if not member.isreg() or member.issparse():
            raise self._error("files, folders and links", f"{original}, of tar's type {member.type!r}")
        if mode & 0o6000:
            self._dropped.append((path, mode))
        return TarEntry(path, EntryKind.FILE, mode & 0o1777, member.size, "", member.gid, member.uid)

    def _check_parents(self) -> None:
        for path in self._entries:
            if above := next((parent for parent in parents(path) if parent in self._entries), None):
                raise self._error("files below folders only", f"{path}, below {above}, which is none")

    def _check_hard_links(self) -> None:
        for path, entry in self._entries.items():
            if entry.kind is not EntryKind.HARDLINK:
                continue
            target = self._entries.get(entry.link)
            if target is None or target.kind is not EntryKind.FILE:
                raise self._error(
                    "hard links to files of the same package", f"{path}, a link to {entry.link}"
                )

    def _omit(self) -> None:
        """Leave out what other packages own; a hard link to such a file becomes a file."""
        omitted = {path: self._entries.pop(path) for path in self._recipe.omit if path in self._entries}
        heirs: dict[str, str] = {}
        for path, entry in sorted(self._entries.items()):
            if entry.kind is not EntryKind.HARDLINK or entry.link not in omitted:
                continue
            lost = omitted[entry.link]
            if heir := heirs.get(entry.link):
                self._entries[path] = TarEntry(path, entry.kind, entry.mode, 0, heir, entry.gid, entry.uid)
            else:
                heirs[entry.link] = path
                self._members[path] = self._members[entry.link]
                self._entries[path] = TarEntry(path, lost.kind, lost.mode, lost.size, "", lost.gid, lost.uid)

    def _content(self, path: str) -> BinaryIO:
        return cast(BinaryIO, self._archive.data.extractfile(self._members[path]))

    # control.tar

    def _database(self) -> dict[TarEntry, bytes]:
        """Files of /var/lib/dpkg/info; `.list` keeps the package's own paths, as dpkg does."""
        files = {name: data for name, data in self._archive.control.items() if name != "control"}
        for name in files:
            if "/" in checked_path(name, self._recipe.package):
                raise self._error("control files without folders", name)
        files["list"] = "".join(f"{path}\n" for path in self._listing).encode("utf-8", "surrogateescape")
        stem = f"{INFO}/{self._recipe.package}"
        if re.search(r"(?m)^Multi-Arch: *same *$", self._control()):
            stem = f"{stem}:{self._recipe.architecture}"
        return {
            TarEntry(f"{stem}.{name}", EntryKind.FILE, 0o755 if name in SCRIPTS else 0o644, len(data)): data
            for name, data in files.items()
        }

    def _control(self) -> str:
        data = self._archive.control.get("control")
        if data is None:
            raise self._error("a control file", "none")
        try:
            return data.decode("utf-8").strip("\n")
        except UnicodeDecodeError as error:
            raise self._error("a control file in UTF-8", str(error)) from error

    def _check_identity(self) -> None:
        """The package must be the one that the lock names: its database entry says what it is."""
        control = self._control()
        names = ("Package", "Version", "Architecture")
        found = {
            name: match[1] if (match := re.search(rf"(?m)^{name}: *(\S+)", control)) else "" for name in names
        }
        version = found["Version"].partition(":")[2] or found["Version"]
        file = f"{found['Package']}_{version}_{found['Architecture']}.deb"
        if (found["Package"], file) != (self._recipe.package, self._recipe.deb.name):
            said = ", ".join(f"{name}: {value}" for name, value in found.items())
            raise self._error("a control file of the package that the file's name says", said)

    # facts

    def _facts(self) -> DebFacts:
        scripts = {name: data for name, data in self._archive.control.items() if name in SCRIPTS}
        alternatives, unknown = self._effects(scripts)
        return DebFacts(
            control=self._control(),
            conffiles=tuple(self._conffiles()),
            scripts={name: hashlib.sha256(data).hexdigest() for name, data in sorted(scripts.items())},
            alternatives=alternatives,
            triggers=tuple(_lines(self._archive.control.get("triggers", b""))),
            folders=tuple(sorted(self._folders.values())),
            files=dict(self._collected()),
            libraries=tuple(self._libraries()),
            graphviz=dict(self._graphviz()),
            mime=dict(self._mime()),
            dropped=tuple(sorted(self._dropped)),
            unknown=unknown,
        )

    def _effects(self, scripts: Mapping[str, bytes]) -> tuple[tuple[Alternative, ...], tuple[str, ...]]:
        """Alternatives, and the commands of the scripts that installing would run and we cannot account for."""
        package = self._recipe.package
        texts = {name: scripts.get(name, b"").decode("utf-8", "replace") for name in ("preinst", "postinst")}
        own = set(self._listing)
        alternatives, complete = parse_alternatives(texts["postinst"], self._recipe.architecture, own)
        unknown = [*effects_left_out(package, texts), *untriggered(self._entries)]
        if not complete and not is_reviewed(package):
            unknown.append("postinst: update-alternatives with computed arguments")
        return alternatives, tuple(unknown)

    def _conffiles(self) -> Iterator[tuple[str, str]]:
        for line in _lines(self._archive.control.get("conffiles", b"")):
            if line.startswith("remove-on-upgrade "):
                continue
            path = merged(checked_path(line.lstrip("/"), self._recipe.package))
            entry = self._entries.get(path)
            if entry is not None and entry.kind is EntryKind.FILE:
                md5 = hashlib.md5(usedforsecurity=False)
                source = self._content(path)
                while block := source.read(1 << 20):
                    md5.update(block)
                yield line, md5.hexdigest()

    def _collected(self) -> Iterator[tuple[str, bytes]]:
        for path, entry in sorted(self._entries.items()):
            if entry.kind is EntryKind.FILE and _COLLECTED.fullmatch(path):
                if entry.size > _COLLECTED_LIMIT:
                    raise self._error(f"a file of at most {_COLLECTED_LIMIT} bytes", f"{path}, {entry.size}")
                yield path, self._content(path).read()

    def _libraries(self) -> Iterator[Library]:
        for path, entry in sorted(self._entries.items()):
            if entry.kind is EntryKind.FILE and _LIBRARY.fullmatch(path):
                found = read_shared_object(self._content(path))
                if found is not None:
                    yield Library(path, found.machine, found.soname)

    def _graphviz(self) -> Iterator[tuple[str, str]]:
        for path, entry in sorted(self._entries.items()):
            if entry.kind is EntryKind.FILE and (match := _GRAPHVIZ.fullmatch(path)):
                paragraph = plugin_paragraph(self._content(path), match[1])
                if paragraph is not None:
                    yield path, paragraph

    def _mime(self) -> Iterator[tuple[str, tuple[MimeRule, ...]]]:
        for path, entry in sorted(self._entries.items()):
            if entry.kind is EntryKind.FILE and LISTS.fullmatch(path) and entry.size <= LIMIT:
                yield path, mime_rules(self._content(path).read())

    def _error(self, expected: str, found: str) -> ArtifactError:
        return ArtifactError(
            "the package cannot be converted", where=self._recipe.deb.name, expected=expected, found=found
        )


def _lines(data: bytes) -> list[str]:
    """Lines that say something, without comments."""
    lines = (line.strip() for line in data.decode("utf-8", "surrogateescape").splitlines())
    return [line for line in lines if line and not line.startswith("#")]
