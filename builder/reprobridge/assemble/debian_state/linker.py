"""/etc/ld.so.cache: where the dynamic linker finds shared libraries, byte for byte as ldconfig(8) writes it.

The linker itself would manage without (it searches the multiarch folders), but `ctypes.util.find_library`
asks the cache, and Python packages for system libraries (libsndfile, libmagic, GL) ask `find_library`.
Format: glibc elf/cache.c, `struct cache_file_new`, with strings that share their ends (elf/stringtable.c).
"""

import posixpath
import re
import struct
from collections.abc import Iterator, Mapping

from reprobridge.assemble.deb.facts import DebFacts, Library
from reprobridge.assemble.debian_state.dpkg import control_field
from reprobridge.assemble.debian_state.tree import StateTree, real_path

_MACHINES: Mapping[str, tuple[int, int]] = {"amd64": (62, 0x0303), "arm64": (183, 0x0A03)}
"""Debian architecture -> e_machine, and the cache's flags for its libraries (dl-cache.h, ldconfig.h)."""
_SYSTEM_FOLDERS = ("/lib", "/usr/lib")
_LIBRARY = re.compile(r"(lib|ld-).*\.so.*")
_HEADER, _ENTRY = 48, 24
_EXTENSION_MAGIC = 0xEAA42174


def add_linker_cache(tree: StateTree, packages: Mapping[str, DebFacts], architecture: str) -> None:
    """Write the cache; nothing when there is no ldconfig or we do not know the architecture's flags."""
    if "libc-bin" not in packages or architecture not in _MACHINES:
        return
    machine, flags = _MACHINES[architecture]
    known = {
        library.path: library
        for facts in packages.values()
        for library in facts.libraries
        if library.machine == machine
    }
    found = list(_libraries(tree, known))
    version = control_field(packages["libc-bin"].control, "Version")
    tree.put("etc/ld.so.cache", linker_cache(found, flags, version))


def _libraries(tree: StateTree, known: Mapping[str, Library]) -> Iterator[tuple[str, str]]:
    """(name, absolute path) of every library in the linker's folders, a name once a folder."""
    seen: set[str] = set()
    for folder in _search_path(tree):
        place = real_path(folder)
        if place in seen:
            continue
        seen.add(place)
        names: dict[str, None] = {}
        for path in tree.files_in(place):
            target = tree.resolved(path)
            base = posixpath.basename(path)
            if target in known and _LIBRARY.fullmatch(base):
                names[_cached_name(base, known[target].soname, is_link=target != path)] = None
        for name in names:
            yield name, f"{folder}/{name}"


def _cached_name(base: str, soname: str, *, is_link: bool) -> str:
    """The name under which ldconfig keeps a library: its DT_SONAME, or what the linker of a compiler would use."""
    compilers = is_link and base.endswith(".so") and soname.startswith(base)
    return base if compilers or not soname else soname


def _search_path(tree: StateTree) -> Iterator[str]:
    for _, data in tree.collected("etc/ld.so.conf.d"):
        for line in data.decode("utf-8", "replace").splitlines():
            folder = line.partition("#")[0].strip()
            if folder.startswith("/"):
                yield folder.rstrip("/")
    yield from _SYSTEM_FOLDERS


def linker_cache(libraries: list[tuple[str, str]], flags: int, version: str) -> bytes:
    """The file for these (name, path) pairs; `version` is libc-bin's, which the generator's line names."""
    ordered = sorted(libraries, key=lambda library: _natural(library[0]), reverse=True)
    start = _HEADER + _ENTRY * len(ordered)
    offsets, strings = _string_table({text for library in ordered for text in library})
    entries = b"".join(
        struct.pack("<iIIIQ", flags, start + offsets[name], start + offsets[path], 0, 0)
        for name, path in ordered
    )
    upstream = re.split(r"[-+]", version.rpartition(":")[2])[0]
    generator = f"ldconfig (Debian GLIBC {version}) stable release version {upstream}".encode()
    body = start + len(strings)
    extension = body + -body % 4
    header = struct.pack("<20sIIB3xI12x", b"glibc-ld.so.cache1.1", len(ordered), len(strings), 2, extension)
    section = struct.pack("<IIIIII", _EXTENSION_MAGIC, 1, 0, 0, extension + 24, len(generator))
    return header + entries + strings + bytes(extension - body) + section + generator


def _string_table(texts: set[str]) -> tuple[dict[str, int], bytes]:
    """Offsets, and the table: in falling order of reversed texts, so that one that ends another lies inside it."""
    table = bytearray()
    offsets: dict[str, int] = {}
    previous = ""
    for text in sorted(texts, key=lambda text: text.encode()[::-1], reverse=True):
        if previous.endswith(text):
            offsets[text] = offsets[previous] + len(previous) - len(text)
        else:
            offsets[text] = len(table)
            table += text.encode() + b"\0"
        previous = text
    return offsets, bytes(table)


def _natural(name: str) -> tuple[tuple[int, int], ...]:
    """Order of `_dl_cache_libcmp`: numbers count as numbers, and come after every other character."""
    parts = re.findall(r"\d+|\D", name)
    return tuple((1, int(part)) if part.isdigit() else (0, ord(part)) for part in parts)
