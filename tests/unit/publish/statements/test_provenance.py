"""Provenance: all that the image was made from, and nothing of the machine but what is said to be of it."""

import json
from typing import Any

import pytest

from reprobridge.lock.file import parse_lock
from reprobridge.lock.revisions import REVISIONS
from reprobridge.publish.statements.provenance import LOCAL_BUILDER, Build, build_in, provenance
from support.artifacts import EVERY, PYGAM, WINE
from support.statements import PLATFORM, SUBJECT, said_of_itself

WORKFLOW = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "me/wine",
    "GITHUB_WORKFLOW_REF": "me/wine/.github/workflows/publish.yml@refs/tags/v1.0.0",
    "GITHUB_RUN_ID": "17",
    "GITHUB_RUN_ATTEMPT": "2",
}


def predicate(folder: Any = WINE, build: Build | None = None) -> Any:
    said = said_of_itself(folder)
    statement = provenance(SUBJECT, said.manifest, said.lock, PLATFORM, build or Build())
    return json.loads(statement.to_bytes())["predicate"]


@pytest.mark.parametrize("folder", EVERY.values(), ids=EVERY.keys())
def test_every_locked_file_is_a_dependency_with_its_digest(folder: Any) -> None:
    lock = parse_lock(said_of_itself(folder).lock, "lock")
    platform = lock.platforms[PLATFORM]
    files = [
        *((deb.file.name, deb.sha256) for deb in (*platform.debian.base, *platform.debian.extra)),
        *((wheel.file.name, wheel.file.sha256) for wheel in platform.python.wheels),
    ]
    named = {
        (item["name"], item["digest"].get("sha256"))
        for item in predicate(folder)["buildDefinition"]["resolvedDependencies"]
    }
    assert {(name, digest.hex) for name, digest in files} <= named


def test_source_and_lock_stand_first() -> None:
    source, refined, lock = predicate(PYGAM)["buildDefinition"]["resolvedDependencies"][:3]
    assert source["annotations"]["origin"].startswith("pygam==")
    assert len(source["digest"]["sha256"]) == 64
    assert refined["digest"]["reprobridgeTree"] == said_of_itself(PYGAM).manifest.source.tree
    assert lock["name"] == "reprobridge.lock"


def test_converters_and_encoder_are_parameters() -> None:
    parameters = predicate()["buildDefinition"]["internalParameters"]
    assert parameters["converters"] == dict(REVISIONS)
    pinned = {"encoder", "codec", "converters", "launcher", "plan", "assembly", "layer_order"}
    assert set(parameters) == {"release", *pinned}


def test_a_rebuild_elsewhere_differs_in_the_run_details_only() -> None:
    here = predicate()
    there = predicate(
        build=build_in(WORKFLOW, started="2026-01-01T00:00:00Z", finished="2026-01-01T00:01:00Z")
    )
    assert here["buildDefinition"] == there["buildDefinition"]
    assert here["runDetails"] == {"builder": {"id": LOCAL_BUILDER}, "metadata": {}}
    assert there["runDetails"] == {
        "builder": {"id": "https://github.com/me/wine/.github/workflows/publish.yml@refs/tags/v1.0.0"},
        "metadata": {
            "invocationId": "https://github.com/me/wine/actions/runs/17/attempts/2",
            "startedOn": "2026-01-01T00:00:00Z",
            "finishedOn": "2026-01-01T00:01:00Z",
        },
    }


def test_outside_of_github_actions_the_builder_is_local() -> None:
    assert build_in({**WORKFLOW, "GITHUB_ACTIONS": ""}, started=None, finished=None).builder == LOCAL_BUILDER


def test_the_lock_of_another_artifact_is_refused() -> None:
    wine, pygam = said_of_itself(WINE), said_of_itself(PYGAM)
    with pytest.raises(ValueError, match="not the one"):
        provenance(SUBJECT, wine.manifest, pygam.lock, PLATFORM, Build())


def test_a_platform_that_is_not_locked_is_refused() -> None:
    said = said_of_itself(WINE)
    with pytest.raises(ValueError, match="linux/riscv64"):
        provenance(SUBJECT, said.manifest, said.lock, "linux/riscv64", Build())
