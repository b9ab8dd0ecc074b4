"""The paths of the Debian state while they are gathered: packages' own files always come first.

As in maintainer scripts ("install from default unless it is there"), a file that a package ships is never
replaced; the only links that stand over packages' folders are those of `deb/paths.py`.
"""

import posixpath
from collections.abc import Mapping

from reprobridge.assemble.deb.paths import MOVED_FOLDERS, merged
from reprobridge.assemble.fragment import FragmentWriter, sorted_entries
from reprobridge.assemble.index import IndexEntry
from reprobridge.oci.tar import DIRECTORY_MODE, EntryKind, TarEntry, symlink

_MOST_LINKS = 40
"""As the kernel's limit; more is a loop."""


class StateTree:
    """Files, links and folders of the state, by path."""

    def __init__(self, shipped: Mapping[str, IndexEntry], files: Mapping[str, bytes]) -> None:
        """`shipped`: index of everything in the packages; `files`: bytes of those that were collected."""
        self._shipped, self._collected = shipped, files
        self._entries: dict[str, TarEntry] = {}
        self._data: dict[str, bytes] = {}

    def put(self, path: str, data: bytes, mode: int = 0o644, gid: int = 0) -> None:
        """A file, unless a package ships the path."""
        if path not in self._shipped:
            self._entries[path] = TarEntry(path, EntryKind.FILE, mode, len(data), "", gid)
            self._data[path] = data

    def link(self, path: str, target: str) -> None:
        """A symbolic link, unless a package ships the path."""
        if path not in self._shipped:
            self._entries[path] = symlink(path, target)

    def folder(self, path: str, mode: int = DIRECTORY_MODE, uid: int = 0, gid: int = 0) -> None:
        """A folder with this mode and owner, whoever else has it, too."""
        if path not in self._entries:
            self._entries[path] = TarEntry(path, EntryKind.DIRECTORY, mode, 0, "", gid, uid)

    def read(self, path: str) -> bytes | None:
        """Bytes of a file of the state, or of one that was collected from a package."""
        return self._data.get(path, self._collected.get(path))

    def collected(self, folder: str) -> list[tuple[str, bytes]]:
        """The collected files directly or further below a folder, sorted by path."""
        return sorted((path, data) for path, data in self._collected.items() if path.startswith(f"{folder}/"))

    def has(self, path: str) -> bool:
        """Whether an absolute or relative path of an installed system leads to something."""
        place = real_path(path)
        return place in self._shipped or place in self._entries

    def has_below(self, folder: str) -> bool:
        """Whether a package has something below a folder."""
        return any(path.startswith(f"{folder}/") for path in self._shipped)

    def files_in(self, folder: str) -> list[str]:
        """Paths of files and links directly in a folder, sorted."""
        found = {path for path in (*self._shipped, *self._entries) if posixpath.dirname(path) == folder}
        return sorted(found)

    def resolved(self, path: str) -> str:
        """Where a path leads to through links at its end; itself when it is no link."""
        for _ in range(_MOST_LINKS):
            target = self._link_target(path)
            if target is None:
                return path
            path = real_path(posixpath.join("/", posixpath.dirname(path), target))
        return path

    def _link_target(self, path: str) -> str | None:
        if (row := self._shipped.get(path)) is not None:
            return row.content if row.kind == EntryKind.SYMLINK.value else None
        entry = self._entries.get(path)
        return entry.link if entry is not None and entry.kind is EntryKind.SYMLINK else None

    def write(self, writer: FragmentWriter) -> None:
        """Write everything in canonical order."""
        folders = [entry for entry in self._entries.values() if entry.kind is EntryKind.DIRECTORY]
        for entry in sorted_entries(folders):
            writer.folder(entry)
        for entry in sorted_entries(entry for entry in self._entries.values() if entry not in folders):
            if entry.kind is EntryKind.FILE:
                writer.file(entry, self._data[entry.path])
            else:
                writer.link(entry)


def real_path(path: str) -> str:
    """A path of an installed system as a path in our layers: through the links of the merged layout."""
    place = merged(posixpath.normpath(path).lstrip("/"))
    for folder, target in MOVED_FOLDERS.items():
        if place.startswith(f"{folder}/"):
            return target.lstrip("/") + place.removeprefix(folder)
    return place
