"""Which files of a Debian package are compiled."""

from reprobridge.assemble.bytecode.sources import library_sources
from reprobridge.assemble.index import IndexEntry
from reprobridge.oci.tar import EntryKind

LIBRARY = "usr/lib/python3.11"


def entry(path: str, kind: EntryKind = EntryKind.FILE, content: str = "") -> IndexEntry:
    """A row of an index."""
    return IndexEntry(path, kind.value, 0o644, 0, content)


def test_modules_of_the_standard_library_and_of_debians_packages_are_compiled_and_nothing_else() -> None:
    rows = [
        entry(f"{LIBRARY}/abc.py"),
        entry("usr/lib/python3/dist-packages/apt.py"),
        entry(f"{LIBRARY}/README.txt"),
        entry(f"{LIBRARY}/__pycache__/odd.py"),
        entry(f"{LIBRARY}/folder.py", EntryKind.DIRECTORY),
        entry("usr/share/python3/tool.py"),
    ]
    assert list(library_sources(rows)) == [rows[0].path, rows[1].path]


def test_a_second_name_of_a_module_is_compiled_and_configuration_is_not() -> None:
    rows = [
        entry(f"{LIBRARY}/_sysconfigdata__linux.py", EntryKind.SYMLINK, "_sysconfigdata.py"),
        entry(f"{LIBRARY}/sitecustomize.py", EntryKind.SYMLINK, "/etc/python3.11/sitecustomize.py"),
    ]
    assert list(library_sources(rows)) == [rows[0].path]
