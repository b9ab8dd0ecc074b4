"""What assembly decides of one fixed plan, held by a digest: whoever changes that raises `ASSEMBLY`."""

from pathlib import Path

from reprobridge.assemble.conflicts import Owned, settle
from reprobridge.assemble.image import write_manifest
from reprobridge.assemble.index import IndexEntry
from reprobridge.assemble.model import Layer
from reprobridge.digest import Json, digest_json
from reprobridge.lock.revisions import ASSEMBLY
from reprobridge.oci.tar import EntryKind
from reprobridge.plan.model import BuildPlan, ConfigPlan, FilesRecipe, LayerPlan
from reprobridge.store.store import Store
from support.specs import PLATFORM, digest

DIGEST_OF_ASSEMBLY = {2: "sha256:c106c1c55d8d11167be20c66a399241ba938192c4565157c3d43ff3c12fa9e55"}
"""Revision -> digest of what is decided below. A new revision is a new line, and the old one goes."""


def manifest(store: Store) -> str:
    """Digest of record of an image with two layers and everything that a configuration has."""
    titles = ("base", "artifact")
    config = ConfigPlan(
        created="1992-01-02T03:04:05Z",
        entrypoint=("/rra/bin/rra",),
        environment={"PATH": "/bin", "LANG": "C.UTF-8"},
        working_directory="/",
        annotations={"org.opencontainers.image.title": "Größe", "io.reprobridge.paper": "wine"},
    )
    planned = BuildPlan(
        name="reprobridge/wine",
        version="1.0.0",
        platform=PLATFORM,
        layers=tuple(LayerPlan(title=title, parts=(FilesRecipe(),)) for title in titles),
        config=config,
        owners={},
    )
    layers = [
        Layer(blob=digest(title), size=10 + len(title), diff_id=digest(f"{title}.tar"), tar_size=1024)
        for title in titles
    ]
    return str(write_manifest(planned, layers, store))


def owners() -> Json:
    """Who keeps which path where fragments differ: in a file, its mode, a library, and where the author spoke."""

    def rows(owner: str, mode: int) -> list[IndexEntry]:
        file = EntryKind.FILE.value
        data = [IndexEntry(f"p/{name}", file, mode, 1, owner) for name in ("a.txt", "lib.so", "said.so")]
        return [*data, IndexEntry("p/equal", file, 0o644, 1, "equal")]

    others = [
        IndexEntry(f"p/{name}", EntryKind.FILE.value, 0o644, 1, "gamma") for name in ("equal", "said.so")
    ]
    fragments = [
        Owned("beta", rows("beta", 0o644)),
        Owned("gamma", others),
        Owned("alpha", rows("alpha", 0o755)),
    ]
    found = settle(fragments, {"p/said.so": "alpha"})
    omitted: dict[str, Json] = {owner: sorted(paths) for owner, paths in found.omit.items()}
    return [omitted, [problem.where for problem in found.problems]]


def test_an_assembly_that_decides_otherwise_has_another_revision(tmp_path: Path) -> None:
    found = str(digest_json([manifest(Store(tmp_path)), owners()]))
    assert {ASSEMBLY: found} == DIGEST_OF_ASSEMBLY, (
        "the same recipes give another image: raise ASSEMBLY in lock/revisions.py, say so in the changelog, and "
        "note revision and digest here (where only the sample of this test changed: the digest)"
    )
