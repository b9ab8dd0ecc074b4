"""Debs converted and merged into one root file system, with the Debian state on top.

made = convert_debs(store, [deb, other])
made.root["etc/passwd"].data, made.facts["hello"].unknown
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reprobridge.assemble.deb.facts import DebFacts, read_facts
from reprobridge.assemble.workshop import Workshop
from reprobridge.digest import Digest
from reprobridge.lock.model import LockedFile
from reprobridge.plan.model import DebianStateRecipe, DebRecipe, FragmentRecipe
from reprobridge.store.store import Store
from support.debs import Deb
from support.merged_root import RootEntry, merged_root, tar_entries


@dataclass(frozen=True, kw_only=True)
class DebianRoot:
    """What a set of packages gives."""

    root: dict[str, RootEntry]
    """The merged file system."""
    facts: dict[str, DebFacts]
    """Facts by package."""
    state: Any
    """Facts of the Debian state, parsed."""
    problems: list[str]
    """Conflicts between packages and the state."""


def deb_recipe(store: Store, deb: Deb, *omit: str) -> DebRecipe:
    """The recipe of a package whose bytes are put into the store."""
    digest = store.add(deb.data)
    return DebRecipe(
        deb=LockedFile(deb.filename, digest, len(deb.data)),
        package=deb.source.package,
        architecture="amd64",
        omit=omit,
    )


def convert_deb(store: Store, deb: Deb, *omit: str) -> tuple[dict[str, RootEntry], DebFacts]:
    """One package's paths, folders that matter included, and its facts."""
    recipe, workshop = deb_recipe(store, deb, *omit), Workshop(store)
    return fragment_root(store, workshop, recipe), read_facts(workshop.facts(recipe))


def fragment_root(store: Store, workshop: Workshop, recipe: FragmentRecipe) -> dict[str, RootEntry]:
    """The paths of one fragment without implied folders."""
    compressed = _compressed(store, workshop, recipe)
    index = workshop.index(recipe)
    folders = {row.path: RootEntry("dir", row.mode, row.uid, row.gid) for row in index if row.kind == "5"}
    return {**folders, **tar_entries(_inflated(compressed))}


def convert_debs(store: Store, debs: Sequence[Deb]) -> DebianRoot:
    """Packages and their state."""
    return convert_recipes(store, [deb_recipe(store, deb) for deb in debs])


def convert_recipes(store: Store, recipes: Iterable[DebRecipe]) -> DebianRoot:
    """Packages by their recipes, and their state."""
    from reprobridge.assemble.conflicts import Owned, settle
    from reprobridge.assemble.omissions import owner_of

    workshop = Workshop(store)
    debs = tuple(sorted(recipes, key=lambda recipe: recipe.package))
    state = DebianStateRecipe(debs=debs, architecture="amd64")
    parts: list[FragmentRecipe] = [*debs, state]
    fragments = [_compressed(store, workshop, part) for part in parts]
    settled = settle((Owned(owner_of(part), workshop.index(part)) for part in parts), {})
    return DebianRoot(
        root=merged_root(
            (compressed, workshop.index(part)) for compressed, part in zip(fragments, parts, strict=True)
        ),
        facts={recipe.package: read_facts(workshop.facts(recipe)) for recipe in debs},
        state=json.loads(workshop.facts(state)),
        problems=[*map(str, settled.problems), *settled.notes],
    )


def _compressed(store: Store, workshop: Workshop, recipe: FragmentRecipe) -> bytes:
    fragment = workshop.make_fragment(recipe)
    assert fragment.gzip is not None
    return store.read(Digest(fragment.gzip.hex))


def _inflated(compressed: bytes) -> bytes:
    import gzip

    from reprobridge.oci.tar import END

    return gzip.decompress(compressed) + END
