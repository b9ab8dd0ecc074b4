"""What a plan says of one fixed paper, held by a digest: whoever changes that raises `PLAN`."""

from collections.abc import Mapping
from pathlib import Path, PurePath

from reprobridge.digest import Digest, Json, digest_json
from reprobridge.frozen import field_names, is_frozen, replace
from reprobridge.lock.model import Lock, LockedChange, LockedTools, LockedWheel
from reprobridge.lock.revisions import PLAN
from reprobridge.plan.model import BuildPlan
from reprobridge.plan.order import LayerOrder
from reprobridge.plan.plan import PlanInputs, plan
from reprobridge.spec.model import Spec
from support.artifact_on_disk import FILES, ArtifactOnDisk
from support.specs import PLATFORM, digest, sample_deb, sample_lock, sample_wheel

DIGEST_OF_PLAN = {1: "sha256:7274452b80e52a2c39d8d1a12c6359c635f4cc35ca68f52ca3e8a388feb7bb1f"}
"""Revision -> digest of the plan below. A new revision is a new line, and the old one goes."""
ORDER = LayerOrder(
    base_python=("python3*",),
    groups=(("cuda", ("nvidia-*",)), ("frameworks", ("torch",))),
    own_layer_from=1000,
    small_buckets=2,
    budget=14,
)
"""An order of its own: locks pin the shipped one by its digest. Of five big wheels, four get a layer."""
BIG = {"torch": 8000, "numpy": 8001, "scipy": 8002, "nvidia-cuda-runtime-cu12": 8003, "pandas": 1500}


def wheels() -> tuple[LockedWheel, ...]:
    """Big and small ones, of which some are requested, one has an address, and one comes with CUDA."""
    big = [replace(sample_wheel(name, size), version="12.4") for name, size in BIG.items()]
    small = [replace(sample_wheel(name, 10), requested=False) for name in ("six", "idna", "attrs")]
    direct = replace(sample_wheel("direct", 10), url="https://example.org/direct-1.0-py3-none-any.whl")
    return tuple(sorted([*big, *small, direct], key=lambda wheel: wheel.name))


def lock() -> Lock:
    """A lock whose tools stay as they are whatever becomes of ours."""
    tools = LockedTools(
        release="0", encoder="e", codec="c", converters={"wheel": 1}, launcher=digest("launcher"), plan=1
    )
    made = sample_lock(wheels(), extra=(sample_deb("libgl1"),))
    change = LockedChange(digest("patch"), ("run.py",))
    return replace(made, tools=tools, source=replace(made.source, changes=(change,)))


def spec(folder: Path) -> Spec:
    """A specification with every key of the format."""
    artifact = ArtifactOnDisk(folder)
    for name, data in FILES.items():
        artifact.write(name, data)
    return artifact.read()


def plain(value: object) -> Json:
    """A plan as JSON, with every field and without keys, since these hold the converters' revisions."""
    match value:
        case Digest() | PurePath():
            return str(value)
        case bytes():
            return value.decode()
        case Mapping():
            return {str(key): plain(value[key]) for key in sorted(value, key=str)}
        case list() | tuple():
            return [plain(item) for item in value]
        case str() | int() | None:
            return value
    assert is_frozen(value), value
    return {
        "kind": type(value).__name__,
        **{name: plain(getattr(value, name)) for name in field_names(value)},
    }


def planned(folder: Path, **changes: object) -> BuildPlan:
    """The plan of the fixed paper; keyword arguments replace its inputs."""
    inputs = PlanInputs(
        spec=spec(folder),
        lock=lock(),
        platform=PLATFORM,
        launcher={"__init__.py": b"", "entry.py": b"print('rra')\n"},
        order=ORDER,
    )
    return plan(replace(inputs, **changes))


def test_a_plan_that_differs_has_another_revision(tmp_path: Path) -> None:
    found = str(digest_json(plain(planned(tmp_path))))
    assert {PLAN: found} == DIGEST_OF_PLAN, (
        "the same specification and lock give another plan: raise PLAN in lock/revisions.py, say so in the "
        "changelog, and note revision and digest here (where only the sample of this test changed: the digest)"
    )


def test_the_sample_of_this_test_is_sensitive_to_how_many_layers_are_fixed(tmp_path: Path) -> None:
    titles = [
        [layer.title for layer in planned(tmp_path, order=replace(ORDER, budget=budget)).layers]
        for budget in (ORDER.budget - 1, ORDER.budget, ORDER.budget + 1)
    ]
    assert titles[0] != titles[1] != titles[2]
