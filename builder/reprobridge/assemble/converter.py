"""What a converter is: a function from a recipe and its inputs to a fragment.

A converter module has one function `convert(recipe, inputs, writer) -> bytes | None`. It writes the recipe's
files through the `FragmentWriter` in the order of `sorted_entries` and gives the fragment's *facts*: canonical
JSON of what later recipes need to know of these bytes (a package's control data), or None.
It is a pure function of the recipe and of the inputs that the recipe names by digest.
"""

from pathlib import Path
from typing import Protocol

from reprobridge.assemble.index import IndexEntry
from reprobridge.digest import Digest
from reprobridge.plan.model import BytecodeRecipe, FragmentRecipe


class Inputs(Protocol):
    """What a converter may read."""

    def path(self, digest: Digest) -> Path:
        """A locked file's bytes, on disk and checked against the digest when they arrived."""

    def tree(self, digest: Digest) -> Path:
        """A source tree's canonical tar (`lock/tree.py`)."""

    def compiled(self, recipe: BytecodeRecipe) -> Path:
        """What was compiled for a recipe (`bytecode/convert.py`), on disk."""

    def facts(self, recipe: FragmentRecipe) -> bytes:
        """The facts of a fragment that this recipe is made of."""

    def index(self, recipe: FragmentRecipe) -> list[IndexEntry]:
        """The index of a fragment that this recipe is made of."""

    def listing(self, recipe: FragmentRecipe) -> bytes:
        """The lines in the inventory of a fragment that this recipe is made of: gzip members of our own."""
