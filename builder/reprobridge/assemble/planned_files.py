"""Files, links and folders whose bytes the plan knows."""

from reprobridge.assemble.converter import Inputs
from reprobridge.assemble.fragment import FragmentWriter, sorted_entries
from reprobridge.oci.tar import EntryKind, TarEntry, directory, symlink
from reprobridge.plan.model import FilesRecipe


def convert(recipe: FilesRecipe, inputs: Inputs, writer: FragmentWriter) -> bytes | None:
    """Write what the recipe lists; reads nothing and leaves no facts."""
    del inputs
    data = {file.path: file.data for file in recipe.files}
    entries = [TarEntry(file.path, EntryKind.FILE, file.mode, len(file.data)) for file in recipe.files]
    entries += [symlink(path, target) for path, target in recipe.links.items()]
    entries += [directory(path, mode) for path, mode in recipe.folders.items()]
    for entry in sorted_entries(entries):
        match entry.kind:
            case EntryKind.FILE:
                writer.file(entry, data[entry.path])
            case EntryKind.DIRECTORY:
                writer.folder(entry)
            case _:
                writer.link(entry)
    return None
