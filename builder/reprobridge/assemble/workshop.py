"""Evaluating recipes against a store: what is remembered is taken, what is not is made.

The workshop is the `Inputs` of every converter. It makes one recipe or one layer at a time; which ones, in
which order and in how many processes is `schedule.py`'s business. A remembered result counts only while the
blobs that it names are here, so deleting anything from the store costs work and nothing else.
"""

from pathlib import Path

from reprobridge.assemble.claims import Claims, claims_of
from reprobridge.assemble.converter import Inputs
from reprobridge.assemble.elsewhere import LEARNED, is_had
from reprobridge.assemble.fragment import FragmentWriter
from reprobridge.assemble.index import IndexEntry, in_order, read_index, write_index
from reprobridge.assemble.layer import FragmentBlob, LayerBlob, Link, chain
from reprobridge.assemble.model import Fragment, Layer
from reprobridge.digest import Digest, Json
from reprobridge.errors import StoreError
from reprobridge.oci import members
from reprobridge.plan.model import (
    BytecodeRecipe,
    DebianStateRecipe,
    DebRecipe,
    FilesRecipe,
    FragmentRecipe,
    InventoryRecipe,
    LayerPlan,
    RequestedRecipe,
    SbomRecipe,
    TreeRecipe,
    WheelRecipe,
)
from reprobridge.store.store import Store

WORTHWHILE = 16 << 20
"""Bytes of a locked file from which a thread beside its conversion pays."""
AT_HAND = 16 << 20
"""Most bytes of fresh fragments that are held for the layers that follow, so that they are not inflated again."""


class PartMissing(StoreError):
    """What was known of a part is gone from the store."""


class Workshop:
    """Makes fragments and layers of one store."""

    def __init__(self, store: Store, *, elsewhere: bool = False) -> None:
        """`elsewhere`: a layer counts as known also when its bytes are not here but lie in a registry.

        So does then what was learned from somebody who made it (`elsewhere.py`), and nothing of it otherwise.
        """
        self.store = store
        """Where results and blobs are kept."""
        self.elsewhere = elsewhere
        """Whether a layer counts as known when its bytes lie in a registry."""
        self._layers: dict[Digest, Layer] = {}
        self._inflated: dict[Digest, bytes] = {}
        self._room = AT_HAND

    # what is there already

    def known_fragment(self, recipe: FragmentRecipe) -> Fragment | None:
        """The fragment's record, if its index and facts are here (its compressed bytes may not be)."""
        try:
            fragment = Fragment.from_json(self.remembered(recipe.kind, recipe.key()))
        except (KeyError, TypeError, ValueError):
            return None
        needed = [fragment.index, *([fragment.facts] if fragment.facts else [])]
        return fragment if all(self.store.has(digest) for digest in needed) else None

    def known_layer(self, layer: LayerPlan) -> Layer | None:
        """The finished layer, if its bytes are here, or known to lie elsewhere where that counts."""
        key = layer.key()
        if key not in self._layers:  # a build asks thrice
            try:
                found = Layer.from_json(self.remembered("layer", key))
            except (KeyError, TypeError, ValueError):
                return None
            if not is_had(self.store, found.blob, found.size, elsewhere=self.elsewhere):
                return None
            self._layers[key] = found
        return self._layers[key]

    def has_fragment_bytes(self, recipe: FragmentRecipe) -> bool:
        """Whether the fragment can be chained into a layer without converting."""
        fragment = self.known_fragment(recipe)
        return fragment is not None and fragment.gzip is not None and self.store.has(fragment.gzip)

    def has_compiled(self, recipe: BytecodeRecipe) -> bool:
        """Whether a recipe of bytecode can be converted."""
        from reprobridge.assemble.bytecode.convert import find_compiled

        return find_compiled(recipe, self.store) is not None

    def remembered(self, kind: str, key: Digest) -> object | None:
        """A result: what was made here before what was learned."""
        found = self.store.result(kind, key)
        if found is None and self.elsewhere:
            return self.store.result(f"{LEARNED}{kind}", key)
        return found

    def remember_derived(self, kind: str, key: Digest, value: Json) -> None:
        """Keep a result that was derived from other results, which may have been learned."""
        self.store.remember(f"{LEARNED}{kind}" if self.elsewhere else kind, key, value)

    # making

    def make_fragment(self, recipe: FragmentRecipe) -> Fragment:
        """Convert a recipe and keep its compressed bytes."""
        with self.store.writer() as blob:
            sink = FragmentBlob(blob, self._room)
            writer = FragmentWriter(sink, folders=False)
            facts = convert(recipe, self, writer)
            writer.close()
            compressed = blob.commit()
        if (inflated := sink.inflated) is not None:
            self._inflated[compressed] = inflated
            self._room -= len(inflated)
        return self._remember(recipe, writer, facts, compressed)

    def make_layer(self, layer: LayerPlan) -> Layer:
        """Make a layer; fragments of a layer of several must be here."""
        if len(layer.parts) == 1:
            made = self._make_single(layer.parts[0])
        else:
            made = chain(self.store, [self._link(part) for part in layer.parts])
        keep = self.remember_derived if any(map(is_derived, layer.parts)) else self.store.remember
        keep("layer", layer.key(), made.to_json())
        return made

    def _make_single(self, recipe: FragmentRecipe) -> Layer:
        with self.store.writer() as blob:
            layer = LayerBlob(blob)
            writer, facts = self._poured(recipe, layer)
            if not self.has_fragment_bytes(recipe):
                self._remember(recipe, writer, facts, None)
            return layer.finish()

    def _poured(self, recipe: FragmentRecipe, layer: LayerBlob) -> tuple[FragmentWriter, bytes | None]:
        """Write a layer's only part; a big one is hashed and written beside its conversion."""
        if bulk(recipe) < WORTHWHILE:
            return self._written(recipe, FragmentWriter(layer))
        from reprobridge.assemble.aside import Aside

        with Aside(layer) as aside:
            written = self._written(recipe, FragmentWriter(aside, helper=aside))
            aside.settle()
        return written

    def _written(self, recipe: FragmentRecipe, writer: FragmentWriter) -> tuple[FragmentWriter, bytes | None]:
        facts = convert(recipe, self, writer)
        writer.close()
        return writer, facts

    def _remember(
        self, recipe: FragmentRecipe, writer: FragmentWriter, facts: bytes | None, compressed: Digest | None
    ) -> Fragment:
        index = in_order(writer.entries)
        fragment = Fragment(
            gzip=compressed,
            index=self.store.add(write_index(index)),
            facts=None if facts is None else self.store.add(facts),
        )
        keep = self.remember_derived if is_derived(recipe) else self.store.remember
        keep(recipe.kind, recipe.key(), fragment.to_json())
        # What will be asked for is made while the index is at hand, by the process that made it.
        keep("claims", recipe.key(), claims_of(index).to_json())
        if isinstance(recipe, WheelRecipe | BytecodeRecipe):
            keep("listing", recipe.key(), {"blob": str(self._keep_listing(index))})
        return fragment

    def _link(self, recipe: FragmentRecipe) -> Link:
        fragment = self.known_fragment(recipe)
        if fragment is None or fragment.gzip is None:
            raise _not_made(recipe)
        index = read_index(self.store.read(fragment.index))
        return Link(fragment.gzip, index, self._inflated.get(fragment.gzip))

    # what converters read

    def path(self, digest: Digest) -> Path:
        """A locked file's bytes."""
        self.store.size(digest)
        return self.store.path(digest)

    def tree(self, digest: Digest) -> Path:
        """A source tree's canonical tar."""
        from reprobridge.lock.kept_tree import tree_blob

        return self.path(tree_blob(self.store, digest))

    def compiled(self, recipe: BytecodeRecipe) -> Path:
        """What was compiled for a recipe."""
        from reprobridge.assemble.bytecode.convert import find_compiled

        found = find_compiled(recipe, self.store)
        if found is None:
            raise _not_made(recipe)
        return self.store.path(found)

    def facts(self, recipe: FragmentRecipe) -> bytes:
        """The facts of a fragment."""
        fragment = self.known_fragment(recipe)
        if fragment is None or fragment.facts is None:
            raise _not_made(recipe)
        return self.store.read(fragment.facts)

    def index(self, recipe: FragmentRecipe) -> list[IndexEntry]:
        """The index of a fragment."""
        fragment = self.known_fragment(recipe)
        if fragment is None:
            raise _not_made(recipe)
        return read_index(self.store.read(fragment.index))

    # what is known of an index, kept so that it need not be read

    def claims(self, recipe: FragmentRecipe) -> Claims:
        """What the fragment claims (`claims.py`)."""
        known = Claims.from_json(self.remembered("claims", recipe.key()))
        if known is None:
            known = claims_of(self.index(recipe))
            self.remember_derived("claims", recipe.key(), known.to_json())
        return known

    def listing(self, recipe: FragmentRecipe) -> bytes:
        """The fragment's lines in the inventory, compressed (`inventory.py`)."""
        match self.remembered("listing", recipe.key()):
            case {"blob": str(blob)} if self.store.has(Digest.parse(blob)):
                return self.store.read(Digest.parse(blob))
        made = self._keep_listing(self.index(recipe))
        self.remember_derived("listing", recipe.key(), {"blob": str(made)})
        return self.store.read(made)

    def _keep_listing(self, index: list[IndexEntry]) -> Digest:
        from reprobridge.assemble.inventory import lines_of

        return self.store.add(members.chain(lines_of(index)))


def convert(recipe: FragmentRecipe, inputs: Inputs, writer: FragmentWriter) -> bytes | None:
    """Run the recipe's converter; its module is imported only when it has something to do."""
    match recipe:
        case WheelRecipe():
            from reprobridge.assemble.wheel import convert as wheel

            return wheel.convert(recipe, inputs, writer)
        case DebRecipe():
            from reprobridge.assemble.deb import convert as deb

            return deb.convert(recipe, inputs, writer)
        case DebianStateRecipe():
            from reprobridge.assemble.debian_state import convert as debian_state

            return debian_state.convert(recipe, inputs, writer)
        case RequestedRecipe():
            from reprobridge.assemble import requested

            requested.convert(recipe, inputs, writer)
            return None
        case TreeRecipe():
            from reprobridge.assemble import tree

            tree.convert(recipe, inputs, writer)
            return None
        case FilesRecipe():
            from reprobridge.assemble import planned_files

            return planned_files.convert(recipe, inputs, writer)
        case InventoryRecipe():
            from reprobridge.assemble import inventory

            return inventory.convert(recipe, inputs, writer)
        case SbomRecipe():
            from reprobridge.assemble import sbom

            sbom.convert(recipe, inputs, writer)
            return None
        case BytecodeRecipe():
            from reprobridge.assemble.bytecode import convert as bytecode

            return bytecode.convert(recipe, inputs, writer)


def is_derived(recipe: FragmentRecipe) -> bool:
    """Whether it is made of what is known of other fragments, rather than of files and text alone."""
    return isinstance(recipe, DebianStateRecipe | RequestedRecipe | InventoryRecipe | SbomRecipe)


def bulk(recipe: FragmentRecipe) -> int:
    """Bytes of the recipe's locked files, which say how long it may take; 0 without any."""
    match recipe:
        case WheelRecipe():
            return recipe.wheel.size
        case DebRecipe():
            return recipe.deb.size
        case BytecodeRecipe():
            return sum(map(bulk, recipe.of))
        case _:
            return 0


def _not_made(recipe: FragmentRecipe) -> PartMissing:
    return PartMissing(
        "a part of the image is missing from the store",
        expected=f"the {recipe.kind} with key {recipe.key()}",
        found="nothing",
        hint="run again; if it happens twice, run `reprobridge cache prune --all`",
    )
