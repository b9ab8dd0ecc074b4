"""From a source tree's canonical tar to its fragment: the same files below another root.

Parents are implied: `layer.py` writes directories, with the mode that they have in all layers.
The tree is proven while it passes by: its digest is computed again from what was written.
"""

from reprobridge.assemble.converter import Inputs
from reprobridge.assemble.fragment import FragmentWriter
from reprobridge.errors import ArtifactError
from reprobridge.lock.tree import read_tree, tree_digest, tree_row
from reprobridge.oci.tar import EntryKind
from reprobridge.plan.model import TreeRecipe


def convert(recipe: TreeRecipe, inputs: Inputs, writer: FragmentWriter) -> None:
    """Write the tree's files and links below `recipe.root`; no facts. Raises ArtifactError for a wrong tree."""
    rows = []
    for entry, stream in read_tree(inputs.tree(recipe.tree)):
        placed = entry._replace(path=f"{recipe.root}/{entry.path}")
        if entry.kind is EntryKind.SYMLINK:
            writer.link(placed)
            rows.append(tree_row(entry, ""))
        else:
            rows.append(tree_row(entry, writer.stream(placed, stream)))
    if (found := tree_digest(rows)) != recipe.tree:
        raise ArtifactError(
            "a stored source tree is not the one that its name says",
            where=recipe.root,
            expected=str(recipe.tree),
            found=str(found),
            hint="run `reprobridge cache prune --all` and build again",
        )
