"""Which files of a package are compiled: the Python sources in the folders that its interpreter imports from."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from reprobridge.assemble.index import IndexEntry
from reprobridge.assemble.wheel.archive import open_wheel
from reprobridge.assemble.wheel.layout import Layout, site_packages
from reprobridge.assemble.wheel.metadata import read_metadata
from reprobridge.oci.tar import EntryKind
from reprobridge.plan.bytecode import bytecode_path
from reprobridge.plan.model import WheelRecipe

STANDARD_LIBRARY = "usr/lib/python3"
"""How the paths of Debian's own modules begin: of the standard library, and of packages that Debian ships."""


def wheel_sources(recipe: WheelRecipe, file: Path) -> Iterator[tuple[str, bytes]]:
    """Image path and bytes of each source of a wheel, but of those whose bytecode the wheel brings itself.

    Those that the wheel loses to another are among them: converting leaves their bytecode out.
    """
    with open_wheel(file, recipe.wheel.name) as archive:
        layout = Layout(archive=archive, metadata=read_metadata(archive), python=recipe.python)
        placed = layout.place()
        brought = {one.path for one in placed if one.path.endswith(".pyc")}
        site = f"{site_packages(recipe.python)}/"
        for one in placed:
            if not (one.path.startswith(site) and _is_source(one.path)):
                continue
            if bytecode_path(one.path, recipe.python) not in brought:
                yield one.path, archive.read(one.member)


def library_sources(index: Iterable[IndexEntry]) -> Iterator[str]:
    """Image path of each source of a Debian package, and of each second name of one.

    What is linked from /etc is configuration, whose edits shall count.
    """
    for row in index:
        if row.path.startswith(STANDARD_LIBRARY) and _is_source(row.path):
            named = row.kind == EntryKind.SYMLINK and not row.content.startswith("/")
            if named or row.kind == EntryKind.FILE:
                yield row.path


def _is_source(path: str) -> bool:
    return path.endswith(".py") and "/__pycache__/" not in path
