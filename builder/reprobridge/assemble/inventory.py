"""The inventory: every file of the code and the environment with its digest, for the launcher's check.

Its format is the launcher's (`reprobridge_launcher/inventory.py`).
"""

from reprobridge.assemble.converter import Inputs
from reprobridge.assemble.fragment import FragmentWriter
from reprobridge.assemble.index import IndexEntry
from reprobridge.oci.tar import EntryKind, TarEntry
from reprobridge.plan.model import InventoryRecipe
from reprobridge_launcher import inventory


def convert(recipe: InventoryRecipe, inputs: Inputs, writer: FragmentWriter) -> bytes | None:
    """Write the list of all files and symbolic links of the fragments that the recipe names."""
    rows = {row.path: row for part in recipe.of for row in inputs.index(part)}
    listed = [entry for row in rows.values() if (entry := _entry(row, rows)) is not None]
    data = inventory.write(listed).encode()
    writer.file(TarEntry(recipe.path, EntryKind.FILE, 0o644, len(data)), data)
    return None


def _entry(row: IndexEntry, rows: dict[str, IndexEntry]) -> inventory.Entry | None:
    match EntryKind(row.kind):
        case EntryKind.FILE:
            return inventory.file_entry(f"/{row.path}", row.mode, row.content)
        case EntryKind.SYMLINK:
            return inventory.link_entry(f"/{row.path}", row.content)
        case EntryKind.HARDLINK:
            target = rows[row.content]
            return inventory.file_entry(f"/{row.path}", target.mode, target.content)
        case EntryKind.DIRECTORY:
            return None
