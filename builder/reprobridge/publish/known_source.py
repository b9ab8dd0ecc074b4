"""Teaching a store the known layers of a repository, so that an image can be built without their packages.

What is taught was signed by somebody whom the policy trusts; that it is true can be looked at by making layers
again: some, chosen by chance, or all. Whatever does not hold is an error that names the layer.
"""

from collections.abc import Callable, Iterable, Sequence

from reprobridge.assemble.composition import composed
from reprobridge.assemble.elsewhere import Place, remember_place
from reprobridge.assemble.model import Arrivals
from reprobridge.assemble.schedule import Job
from reprobridge.assemble.workshop import Workshop
from reprobridge.digest import Digest
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor
from reprobridge.plan.model import BytecodeRecipe, LayerPlan
from reprobridge.publish.known_layer import KnownLayer, known_of, learn
from reprobridge.publish.known_layers import RemoteList
from reprobridge.publish.signing.policy import Policy
from reprobridge.store.store import Store
from reprobridge.system import files

Choice = Callable[[int], Iterable[int]]
"""Which of so many layers are made again: their numbers, from 0."""


@frozen(kw_only=True)
class KnownSource:
    """A repository whose known layers are trusted."""

    store: Store
    """Learns them."""
    remote: RemoteList
    """The list."""
    place: Place
    """Where the layers' bytes lie: the list's repository."""
    policy: Policy
    """Who must have signed the list."""
    again: Choice
    """Chooses those that are made again."""
    tell: Callable[[str], object]
    """Hears one line for people."""

    def teach(self, layers: Sequence[LayerPlan], arrivals: Arrivals) -> None:
        """Learn what is known of those layers that the store lacks. Raises TrustError, RegistryError."""
        workshop = Workshop(self.store, elsewhere=True)
        lacking = {layer.key(): layer for layer in layers if workshop.known_layer(layer) is None}
        if not lacking:
            return
        manifest = self.remote.standing()
        if manifest is None:
            raise TrustError(
                "the repository has no known layers",
                where=self.remote.name,
                hint="they are written when an image is published there with --key",
            )
        listed = self.remote.checked(manifest, self.policy)
        found = [(layer, listed[key]) for key, layer in lacking.items() if key in listed]
        self.remote.fetch([blob for _, blob in found], self.store)
        # Nothing is learned before everything that is looked at holds; one layer at a time is held in memory.
        for number in self.again(len(found)):
            layer = found[number][0]
            require_true(self.store, layer, self._told(*found[number]), arrivals)
        for layer, blob in found:
            known = self._told(layer, blob)
            learn(self.store, known, layer.title)
            remember_place(self.store, known.layer.blob, self.place)
        self.tell(f"{len(found)} of {len(lacking)} layers are known in {self.remote.name}")

    def _told(self, layer: LayerPlan, blob: Descriptor) -> KnownLayer:
        known = self.remote.layer(layer.key(), blob, self.store)
        parts = tuple((part.kind, part.key) for part in known.parts)
        if parts != composed(layer).parts:
            raise TrustError(
                "what is known of a layer is of other packages",
                where=f"{self.remote.name}: {layer.title}",
                expected=_keys(composed(layer).parts),
                found=_keys(parts),
            )
        return known


def _keys(parts: Sequence[tuple[str, Digest]]) -> str:
    return ", ".join(f"{kind} {key.hex[:12]}" for kind, key in parts)


def require_true(store: Store, layer: LayerPlan, known: KnownLayer, arrivals: Arrivals) -> None:
    """Make a layer again, apart from everything that is known, and compare. Raises TrustError."""
    inputs = Job(layer.title, layer, None).inputs()
    for _ in arrivals.bring([digest for digest in inputs if not store.has(digest)]):
        pass
    with files.scratch_folder(store.root / "scratch") as folder:
        apart = Store(folder / "store")
        for digest in inputs:
            files.link_or_copy(store.path(digest), apart.path(digest))
        workshop = Workshop(apart)
        if bytecode := [part for part in layer.parts if isinstance(part, BytecodeRecipe)]:
            arrivals.compile(bytecode, apart)
        if len(layer.parts) > 1:
            for part in layer.parts:
                workshop.make_fragment(part)
        workshop.make_layer(layer)
        made = known_of(apart, composed(layer))
    if made != known:
        told = "its paths or facts" if made is not None and made.layer == known.layer else "its bytes"
        raise TrustError(
            f"a known layer is not what its packages give: {told} differ",
            where=layer.title,
            expected=str(made.layer.blob) if made else None,
            found=str(known.layer.blob),
            hint="build without --known and with an empty store, and tell whoever signed it",
        )
