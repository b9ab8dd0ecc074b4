"""What the store knows of source trees, without looking into one: apart from `tree.py`, since every build asks."""

from reprobridge.digest import Digest
from reprobridge.errors import StoreError
from reprobridge.frozen import frozen
from reprobridge.store.store import Store

KIND = "source-tree"
"""Kind of the store's results that lead from a tree to its blob."""


@frozen
class KeptTree:
    """A tree that is in the store."""

    tree: Digest
    """Its digest."""
    blob: Digest
    """Of its canonical tar."""
    warnings: tuple[str, ...]
    """What is odd about it but no error, for people."""


def kept_tree(store: Store, tree: Digest) -> KeptTree | None:
    """What the store knows of a tree, if all of it is there."""
    match store.result(KIND, tree):
        case {"blob": str(blob), "warnings": [*warnings]} if store.has(Digest.parse(blob)):
            return KeptTree(tree, Digest.parse(blob), tuple(map(str, warnings)))
    return None


def has_tree(store: Store, tree: Digest) -> bool:
    """Whether the tree is in the store."""
    return kept_tree(store, tree) is not None


def tree_blob(store: Store, tree: Digest) -> Digest:
    """The digest of a tree's canonical tar. Raises StoreError when the tree is not here."""
    kept = kept_tree(store, tree)
    if kept is None:
        raise StoreError(
            "a source tree is missing from the store", expected=str(tree), found="nothing", hint="run again"
        )
    return kept.blob
