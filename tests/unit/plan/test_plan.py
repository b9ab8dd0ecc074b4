"""The plan of an image."""

import json
import subprocess

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import AssembleError, LockError
from reprobridge.frozen import replace
from reprobridge.lock.model import LockedChange, LockedPlatform
from reprobridge.lock.tools import layer_order
from reprobridge.plan.model import BuildPlan, FilesRecipe, SbomRecipe
from reprobridge.plan.order import HARD_LIMIT, LayerOrder
from reprobridge.plan.plan import PROFILE, PlanInputs, plan
from reprobridge.spec import model
from reprobridge_launcher.hardware import DRIVER_OF_CUDA
from support.specs import PLATFORM, digest, sample_change, sample_deb, sample_lock, sample_spec, sample_wheel

ORDER = LayerOrder.parse(layer_order())
LAUNCHER = {"__init__.py": b"", "entry.py": b"print('rra')\n"}


def planned(**changes: object) -> BuildPlan:
    """The plan of the sample paper; keyword arguments replace the plan's inputs."""
    fields: dict[str, object] = {
        "spec": sample_spec(),
        "lock": sample_lock(),
        "platform": PLATFORM,
        "launcher": LAUNCHER,
        "order": ORDER,
        **changes,
    }
    return plan(PlanInputs(**fields))  # type: ignore[arg-type]  # the fields are PlanInputs'


def contents(made: BuildPlan, path: str) -> bytes:
    """Bytes of a file that the plan knows."""
    recipes = [part for layer in made.layers for part in layer.parts if isinstance(part, FilesRecipe)]
    return next(file.data for recipe in recipes for file in recipe.files if file.path == path)


def test_layers_stand_in_canonical_order() -> None:
    wheels = (sample_wheel("six"), sample_wheel("torch", 10**8))
    made = planned(lock=sample_lock(wheels, extra=(sample_deb("libgl1"),)))
    assert [layer.title for layer in made.layers] == [
        "base system",
        "Python 3.11",
        "python: torch 1.0",
        "python: six 1.0",
        "system packages",
        "system state",
        "code",
        "launcher",
        "artifact",
        "references",
    ]


def test_the_same_inputs_give_the_same_plan() -> None:
    assert planned() == planned()


def test_two_papers_on_one_template_share_base_python_and_wheels() -> None:
    other = replace(sample_spec().paper, id="other", title="Another Paper")
    one, two = planned(), planned(spec=sample_spec(paper=other))
    shared = [a.key() == b.key() for a, b in zip(one.layers, two.layers, strict=True)]
    titles = [layer.title for layer, same in zip(one.layers, shared, strict=True) if not same]
    assert titles == ["artifact"]


def test_references_are_the_last_layer_and_nowhere_else() -> None:
    without = replace(sample_spec().tasks[0], references=None)
    one, two = planned(), planned(spec=sample_spec(tasks=(without,)))
    assert [a.key() == b.key() for a, b in zip(one.layers, two.layers, strict=True)] == [True] * 7 + [False]
    assert b"here and there" not in contents(one, "rra/manifest.json")


def test_references_say_how_their_interval_is_derived_also_where_nothing_was_declared() -> None:
    stored = json.loads(contents(planned(), "rra/references.json"))["tasks"]["lda"]
    assert stored["interval"] == {
        "confidence": 0.95,
        "floor": 0.01,
        "floor_basis": "reference_mean",
        "lower": None,
        "upper": None,
    }
    measured = replace(sample_spec().tasks[0].measurement, lower_bound="0", upper_bound="100")
    bounded = planned(spec=sample_spec(tasks=(replace(sample_spec().tasks[0], measurement=measured),)))
    stored = json.loads(contents(bounded, "rra/references.json"))["tasks"]["lda"]
    assert (stored["interval"]["lower"], stored["interval"]["upper"]) == (0.0, 100.0)


def test_a_changed_refined_tree_changes_code_and_artifact_only() -> None:
    lock = sample_lock()
    edited = replace(lock, source=replace(lock.source, refined=digest("edited")))
    one, two = planned(), planned(lock=edited)
    changed = [a.title for a, b in zip(one.layers, two.layers, strict=True) if a.key() != b.key()]
    assert changed == ["code", "artifact"]


@pytest.mark.parametrize("path", [None, "/opt/it's $mine/bin:/usr/bin:/bin", "/a b"])
def test_a_login_shell_gets_back_the_path_of_the_configuration_whatever_it_is(path: str | None) -> None:
    spec = sample_spec()
    if path is not None:
        spec = sample_spec(environment=replace(spec.environment, variables={"PATH": path, "B": "c"}))
    made = planned(spec=spec)
    script = contents(made, PROFILE).decode() + 'printf %s "$PATH"'
    argv = ["/bin/sh", "-c", script]
    shown = subprocess.run(argv, env={"PATH": "/usr/bin"}, capture_output=True, text=True, check=True).stdout
    assert shown == made.config.environment["PATH"]
    assert "B" not in contents(made, PROFILE).decode()


def test_no_layer_that_papers_share_holds_what_login_shells_get() -> None:
    (layer,) = [
        layer.title
        for layer in planned().layers
        for part in layer.parts
        if isinstance(part, FilesRecipe) and PROFILE in {file.path for file in part.files}
    ]
    assert layer == "artifact"


def test_cuda_wheels_make_the_runtime_hand_out_gpus() -> None:
    wheel = replace(sample_wheel("nvidia-cuda-runtime"), version="13.0.96")
    made = planned(lock=sample_lock((wheel,)))
    assert made.config.environment["NVIDIA_VISIBLE_DEVICES"] == "all"
    gpu = json.loads(contents(made, "rra/manifest.json"))["environment"]["gpu"]
    assert gpu == {"cuda": "13.0", "driver": DRIVER_OF_CUDA["13"]}


@pytest.mark.parametrize(("version", "cuda"), [("14.1.5", "14.1"), ("14", "14")])
def test_of_a_cuda_that_nobody_knows_yet_no_driver_is_stated(version: str, cuda: str) -> None:
    wheel = replace(sample_wheel("nvidia-cuda-runtime"), version=version)
    manifest = contents(planned(lock=sample_lock((wheel,))), "rra/manifest.json")
    assert json.loads(manifest)["environment"]["gpu"] == {"cuda": cuda, "driver": None}


def test_without_cuda_nothing_speaks_of_gpus() -> None:
    assert not [name for name in planned().config.environment if name.startswith("NVIDIA")]


def test_the_sbom_names_every_locked_package() -> None:
    made = planned(lock=sample_lock((sample_wheel("six"), sample_wheel("idna"))))
    (sbom,) = (part for layer in made.layers for part in layer.parts if isinstance(part, SbomRecipe))
    document = json.loads(sbom.document)
    names = [package["name"] for package in document["packages"]]
    assert names == ["wine", "base-files", "bash", "python3.11", "six", "idna"]
    identifiers = [package["SPDXID"] for package in document["packages"]]
    assert len(set(identifiers)) == len(names)
    assert list(sbom.wheels) == identifiers[-2:]


def test_the_guide_holds_the_authors_text_and_the_generated_sections() -> None:
    choice = model.OpenChoice(id="O1", question="Which seed?", options=("0", "1"), default="0")
    made = planned(spec=sample_spec(decisions=model.Decisions(open_choices=(choice,))))
    guide = contents(made, "rra/GUIDE.md").decode()
    assert guide.startswith("# Guide\n")
    assert "| `lda` | 98.9% | Table 1, row LDA |" in guide
    assert "### O1: Which seed?" in guide
    assert "## Pitfalls" not in guide


def test_a_patch_with_fences_stays_inside_its_block_and_its_files_are_the_locked_ones() -> None:
    change = sample_change()
    patch = b"--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-```\n+````text\n"
    files = {**sample_spec().files, change.patch: patch}
    lock = sample_lock()
    locked = LockedChange(Digest.of(patch), ("README.md", "read me.md"))
    lock = replace(lock, source=replace(lock.source, changes=(locked,)))
    made = planned(spec=sample_spec(changes=(change,), files=files), lock=lock)
    changes = contents(made, "rra/CHANGES.md").decode()
    assert "`````diff\n" in changes
    assert "- Files: README.md, read me.md\n" in changes
    files_of_it = json.loads(contents(made, "rra/manifest.json"))["changes"][0]["files"]
    assert files_of_it == ["README.md", "read me.md"]


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_the_lock_in_the_image_is_the_lock(name: str) -> None:
    from reprobridge.lock.file import parse_lock

    lock = sample_lock((sample_wheel(name),))
    assert parse_lock(contents(planned(lock=lock), "rra/lock/reprobridge.lock"), "image") == lock


def test_an_image_of_more_layers_than_engines_take_is_refused() -> None:
    roomy = replace(ORDER, budget=1000)
    least = len(planned(lock=sample_lock(()), order=roomy).layers)
    wheels = tuple(sample_wheel(f"big{n}", 10**9) for n in range(HARD_LIMIT - least + 1))
    assert len(planned(lock=sample_lock(wheels[1:]), order=roomy).layers) == HARD_LIMIT == 120
    with pytest.raises(AssembleError, match="too many layers") as raised:
        planned(lock=sample_lock(wheels), order=roomy)
    assert "121" in str(raised.value)


def owning(package: str) -> model.Spec:
    """The sample paper, whose author gives a file to a package."""
    python = model.PythonWish(requirements=None, owners={"common/__init__.py": package})
    return sample_spec(environment=model.Environment(template="debian12-py311", python=python))


def test_a_file_for_a_package_that_is_not_locked_is_refused_and_the_name_guessed() -> None:
    with pytest.raises(LockError, match="did you mean numpy") as caught:
        planned(spec=owning("nunpy"))
    assert (caught.value.where, caught.value.found) == ("environment.python.owners", "nunpy")


def test_a_file_may_be_given_to_a_package_of_another_platform() -> None:
    lock = sample_lock()
    other = replace(lock, platforms={**lock.platforms, "linux/arm64": _with_wheel("scipy")})
    assert "scipy" in planned(spec=owning("scipy"), lock=other).owners.values()


def test_owners_are_named_as_the_lock_names_them() -> None:
    made = planned(spec=owning("Typing_Extensions"), lock=sample_lock((sample_wheel("typing-extensions"),)))
    assert list(made.owners.values()) == ["typing-extensions"]


def _with_wheel(name: str) -> LockedPlatform:
    return sample_lock((sample_wheel(name),)).platforms[PLATFORM]
