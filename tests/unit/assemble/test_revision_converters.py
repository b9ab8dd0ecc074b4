"""What each converter makes of fixed samples, held by a digest: whoever changes that raises its revision.

Samples are few, so that other tests and the examples' golden digests may notice what these do not; the rule is the same.
"""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from reprobridge.assemble.workshop import Workshop
from reprobridge.digest import Digest, Json, canonical_json, digest_json
from reprobridge.lock.model import LockedFile
from reprobridge.lock.revisions import REVISIONS
from reprobridge.lock.tree import found_file, found_link, keep_tree
from reprobridge.plan.model import (
    DebianStateRecipe,
    DebRecipe,
    FilesRecipe,
    FragmentRecipe,
    InventoryRecipe,
    LayerPlan,
    PlannedFile,
    RequestedRecipe,
    SbomRecipe,
    TreeRecipe,
    WheelRecipe,
)
from reprobridge.store.store import Store
from support.debian_root import deb_recipe
from support.debs import DebSource, build_deb, folder, symlink
from support.typical_wheels import typical_wheels

DIGESTS: dict[str, str] = {
    "wheel 2": "sha256:eef8a8f570bda721a8d437177f7d24fedeb06387bd74afd7bd60892dd50cdaba",
    "deb 3": "sha256:884dac3fdc7a4ff0a01c7064025ee00233214a352c5e78558f672fd8f169c317",
    "debian-state 3": "sha256:64a90d41eedf83421899027dbfaf696ed3abdb5257e90111a5f359f98393602f",
    "requested 1": "sha256:c69514435956868ecf7bfc41e1bf010be2c0e4e8ab5541ff90dde3765366cb9d",
    "tree 1": "sha256:8bd616bac035040dc3d108f569a8f7f17a1ef0c7c87937b3c838bbeeab9c8eb1",
    "files 1": "sha256:416239f0f5459de508faccff3e53a434eafabdca6c6dc4f63e058affd5b6d2fd",
    "inventory 1": "sha256:c5568abfd8c190ad0172b88c69b490ee3fc85cc238bef8e2e88d379b09626ed6",
    "sbom 1": "sha256:4069876d4d179da926c8bb01e2d15adc4a48630478a34a5d29b1c7315faab8b3",
    "layer 1": "sha256:78d3d5506043a5a94f05fb992695084e37cfe73399f5f9b327b369366584fc2b",
}
"""Converter and revision -> digest of what it makes of the samples. A new revision takes the old one's line."""

FILES = FilesRecipe(
    files=(
        PlannedFile(path="rra/GUIDE.md", data="Größe\n".encode() * 5000),
        PlannedFile(path="rra/bin/rra", data=b"#!/bin/sh\n", mode=0o755),
    ),
    links={"rra/latest": "GUIDE.md"},
    folders={"out": 0o1777},
)
PASSWD = "root:*:0:0:root:/root:/bin/bash\ndaemon:*:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
TYPES = """\
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info"><mime-type type="text/x-ours">
<glob pattern="*.ours"/><magic><match type="string" value="ours" offset="0"/></magic>
</mime-type></mime-info>
"""
DEBS = (
    DebSource(
        package="base-files",
        files={
            "bin": folder(),
            "lib": folder(),
            "root": folder(0o700),
            "tmp": folder(0o1777),
            "usr/share/base-files/profile": "profile\n",
            "etc/debian_version": "12\n",
        },
        control={"conffiles": "/etc/debian_version\n"},
    ),
    DebSource(
        package="base-passwd",
        files={
            "usr/share/base-passwd/passwd.master": PASSWD,
            "usr/share/base-passwd/group.master": "root:*:0:\ndaemon:*:1:\nmail:*:8:\n",
        },
    ),
    DebSource(
        package="editor",
        files={
            "usr/bin/ours": "#!/bin/sh\n",
            "lib/libours.so.1": "\x7fELF",
            "usr/lib/libours.so": symlink("x"),
            "usr/lib/sysusers.d/ours.conf": 'u ours-system - "Ours" - -\n',
        },
        control={
            "postinst": "#!/bin/sh\nset -e\n"
            "update-alternatives --install /usr/bin/editor editor /usr/bin/ours 50\n",
            "triggers": "activate-noawait ldconfig\n",
        },
        fields={"Depends": "base-files", "Section": "editors"},
    ),
    DebSource(package="shared-mime-info", files={"usr/share/mime/packages/ours.xml": TYPES}),
)


def wheels(store: Store) -> Iterator[WheelRecipe]:
    """Every typical wheel; none with an address, since direct_url.json names a digest, which depends on this zlib."""
    for _, wheel in sorted(typical_wheels().items()):
        file = LockedFile(wheel.filename, store.add(wheel.data), len(wheel.data))
        yield WheelRecipe(wheel=file, python="3.11")


def debs(store: Store) -> tuple[DebRecipe, ...]:
    """The sample packages, in the order of their names."""
    return tuple(deb_recipe(store, build_deb(source)) for source in DEBS)


def tree(store: Store) -> TreeRecipe:
    """A source tree with a file, a program and a link."""
    found = [
        found_file("run.py", 3, executable=True, opener=lambda: io.BytesIO(b"abc")),
        found_file("data/table.csv", 4, executable=False, opener=lambda: io.BytesIO(b"1,2\n")),
        found_link("data/latest", "table.csv"),
    ]
    return TreeRecipe(tree=keep_tree(store, found, where="source").tree, root="rra/code")


def recipes(kind: str, store: Store) -> tuple[FragmentRecipe, ...]:
    """The samples of a kind of converter."""
    match kind:
        case "wheel":
            return tuple(wheels(store))
        case "deb":
            return debs(store)
        case "debian-state":
            return (DebianStateRecipe(debs=debs(store), architecture="amd64"),)
        case "tree":
            return (tree(store),)
        case "inventory":
            return (InventoryRecipe(of=(FILES, tree(store)), path="rra/inventory"),)
        case "requested":
            return (RequestedRecipe(wheels=tuple(wheels(store))),)
        case "sbom":
            bill = {f"SPDXRef-{number}": wheel for number, wheel in enumerate(wheels(store))}
            packages: Json = [{"SPDXID": name, "licenseDeclared": "NOASSERTION"} for name in bill]
            document = canonical_json({"packages": packages, "relationships": []})
            return (SbomRecipe(document=document, wheels=bill, path="rra/sbom.spdx.json"),)
        case "files" | "layer":
            return (FILES,)
    raise AssertionError(kind)


def below(recipe: FragmentRecipe) -> Iterable[FragmentRecipe]:
    """What a derived recipe is made of."""
    match recipe:
        case DebianStateRecipe():
            return recipe.debs
        case InventoryRecipe():
            return recipe.of
        case RequestedRecipe():
            return recipe.wheels
        case SbomRecipe():
            return recipe.wheels.values()
    return ()


def made(kind: str, store: Store) -> Digest:
    """Digest of what comes out: of the uncompressed streams, and of the compressed bytes where all of them are ours."""
    workshop = Workshop(store)
    parts = recipes(kind, store)
    for part in parts:
        for other in below(part):
            workshop.make_fragment(other)
        workshop.make_fragment(part)
    if kind == "layer":
        parts = (*parts, tree(store))
        workshop.make_fragment(parts[-1])
        layer = workshop.make_layer(LayerPlan(title="both", parts=parts))
        return digest_json([str(layer.diff_id), str(layer.blob)])
    layers = [workshop.make_layer(LayerPlan(title="one", parts=(part,))) for part in parts]
    return digest_json([str(layer.diff_id) for layer in layers])


@pytest.mark.parametrize("kind", REVISIONS)
def test_a_converter_that_gives_other_bytes_has_another_revision(kind: str, store_folder: Path) -> None:
    name = f"{kind} {REVISIONS[kind]}"
    assert {name: str(made(kind, Store(store_folder)))} == {name: DIGESTS.get(name)}, (
        f"the same input gives other bytes: raise the revision of {kind} in lock/revisions.py, say so in the changelog, "
        "and note revision and digest here (where only the samples changed: the digest)"
    )


def test_every_digest_is_of_a_revision_that_there_is() -> None:
    assert set(DIGESTS) == {f"{kind} {revision}" for kind, revision in REVISIONS.items()}
