"""The inventory: every file of the code and the environment with its digest, for the launcher's check.

Its format is the launcher's (`reprobridge_launcher/inventory.py`). The lines of each fragment are made and
compressed once; an image's inventory is a chain of them in the order of its fragments, so that one package more
costs its own lines only. A path that several packages bring with equal bytes is listed by each of them.
"""

from collections.abc import Iterator, Sequence

from reprobridge.assemble.converter import Inputs
from reprobridge.assemble.fragment import FragmentWriter, Packed
from reprobridge.assemble.index import IndexEntry
from reprobridge.oci import members
from reprobridge.oci.tar import EntryKind, TarEntry
from reprobridge.plan.model import InventoryRecipe
from reprobridge_launcher import inventory


def convert(recipe: InventoryRecipe, inputs: Inputs, writer: FragmentWriter) -> bytes | None:
    """Write the list of all files and symbolic links of the fragments that the recipe names."""
    head = f"{inventory.HEADER}\n".encode()
    parts = [Packed(members.chain(head), head), *(_packed(inputs.listing(part)) for part in recipe.of)]
    size = sum(len(part.data) for part in parts)
    writer.packed(TarEntry(recipe.path, EntryKind.FILE, 0o644, size), parts)
    return None


def _packed(compressed: bytes) -> Packed:
    from isal import igzip

    data: bytes = igzip.decompress(compressed) if compressed else b""  # type: ignore[no-untyped-call]
    return Packed(compressed, data)


def lines_of(index: Sequence[IndexEntry]) -> bytes:
    """A fragment's lines in the inventory, from its index in order."""
    return "".join(_lines(index)).encode()


def _lines(index: Sequence[IndexEntry]) -> Iterator[str]:
    rows: dict[str, IndexEntry] = {}
    for row in index:
        match row.kind:
            case EntryKind.FILE:
                yield inventory.line(f"/{row.path}", inventory.shown_mode(row.mode), row.content)
            case EntryKind.SYMLINK:
                yield inventory.line(f"/{row.path}", inventory.LINK, inventory.link_digest(row.content))
            case EntryKind.HARDLINK:
                rows = rows or {row.path: row for row in index}
                target = rows[row.content]
                yield inventory.line(f"/{row.path}", inventory.shown_mode(target.mode), target.content)
