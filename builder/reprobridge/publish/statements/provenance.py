"""Where an image comes from: SLSA provenance v1 (https://slsa.dev/spec/v1.0/provenance).

`buildDefinition` is a pure function of the artifact's manifest and lock: a rebuild gives the same. `runDetails`
holds what differs between builds, and only that: who built, and when.
"""

from collections.abc import Iterator, Mapping

from reprobridge.digest import Digest, Json
from reprobridge.frozen import frozen
from reprobridge.lock.file import FILE_NAME, parse_lock
from reprobridge.lock.model import Lock, LockedPlatform, LockedSource
from reprobridge.publish.statements.statement import PredicateType, Statement, Subject
from reprobridge_launcher.manifest import Manifest

BUILD_TYPE = "urn:reprobridge:build:1"
"""How the image follows from its dependencies: the meaning of the parameters (guides/reference/attestations.md)."""
LOCAL_BUILDER = "urn:reprobridge:builder:local"
"""Builder's id where no CI service says which workflow ran: somebody's machine."""
TREE = "reprobridgeTree"
"""Algorithm of a folder's digest (`lock/tree.py`); not a plain SHA-256 of bytes."""


@frozen(kw_only=True)
class Build:
    """What is not in the lock: everything in which a rebuild's provenance may differ."""

    builder: str = LOCAL_BUILDER
    """URI of who built."""
    invocation: str | None = None
    """URI of the run, where there is one."""
    started: str | None = None
    """RFC 3339 time; None: not said."""
    finished: str | None = None
    """RFC 3339 time; None: not said."""


def build_in(environment: Mapping[str, str], *, started: str | None, finished: str | None) -> Build:
    """The build that runs with these environment variables: a workflow of GitHub Actions, or a local one.

    Only the signature shows who really built; this is what the signer says.
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return Build(started=started, finished=finished)
    names = ("SERVER_URL", "WORKFLOW_REF", "REPOSITORY", "RUN_ID", "RUN_ATTEMPT")
    server, workflow, repository, run, attempt = (environment.get(f"GITHUB_{name}", "") for name in names)
    return Build(
        builder=f"{server}/{workflow}",
        invocation=f"{server}/{repository}/actions/runs/{run}/attempts/{attempt}",
        started=started,
        finished=finished,
    )


def provenance(subject: Subject, artifact: Manifest, lock: bytes, platform: str, build: Build) -> Statement:
    """From what and how the image was built: `artifact` and `lock` are what the image itself holds.

    Raises LockError for a broken lock, ValueError for another artifact's lock or a platform that it lacks.
    """
    if f"/rra/lock/{FILE_NAME}" not in dict(artifact.environment.locks) or (
        dict(artifact.environment.locks)[f"/rra/lock/{FILE_NAME}"] != Digest.of(lock).hex
    ):
        raise ValueError("the lock is not the one that the artifact's manifest names")
    locked = parse_lock(lock, FILE_NAME)
    if platform not in locked.platforms:
        raise ValueError(f"expected one of {', '.join(locked.platforms)}, found {platform}")
    predicate: dict[str, Json] = {
        "buildDefinition": {
            "buildType": BUILD_TYPE,
            "externalParameters": _external(artifact, locked, platform),
            "internalParameters": _internal(locked),
            "resolvedDependencies": list(_dependencies(locked, locked.platforms[platform], lock)),
        },
        "runDetails": {"builder": {"id": build.builder}, "metadata": _metadata(build)},
    }
    return Statement(subject=subject, predicate_type=PredicateType.PROVENANCE, predicate=predicate)


def _external(artifact: Manifest, lock: Lock, platform: str) -> dict[str, Json]:
    """What the author chose."""
    return {
        "paper": artifact.paper.id,
        "version": artifact.artifact.version,
        "artifact": artifact.artifact.id,
        "repository": artifact.artifact.repository,
        "template": lock.template,
        "platform": platform,
    }


def _internal(lock: Lock) -> dict[str, Json]:
    """What of this tool reaches the image's bytes."""
    tools = lock.tools
    return {
        "release": tools.release,
        "encoder": tools.encoder,
        "codec": tools.codec,
        "converters": dict(tools.converters),
        "launcher": str(tools.launcher),
        "plan": tools.plan,
        "assembly": tools.assembly,
        "layer_order": None if tools.layer_order is None else str(tools.layer_order),
    }


def _dependencies(lock: Lock, platform: LockedPlatform, data: bytes) -> Iterator[Json]:
    """Everything that went in, as resource descriptors: source, lock, indexes, packages."""
    yield _source(lock.source)
    yield {"name": "refined code", "digest": {TREE: lock.source.refined.hex}}
    yield _resource(FILE_NAME, Digest.of(data))
    for suite in platform.debian.suites:
        yield _resource(f"{suite.archive}/{suite.suite}/InRelease", suite.release)
    for package in (*platform.debian.base, *platform.debian.extra):
        yield _resource(package.file.name, package.sha256)
    for wheel in platform.python.wheels:
        yield _resource(wheel.file.name, wheel.file.sha256)


def _source(source: LockedSource) -> Json:
    if source.commit is not None:
        address = f"git+{source.origin}@{source.commit}"
        return {"name": "source", "uri": address, "digest": {"gitCommit": source.commit}}
    if source.file is not None:
        named: dict[str, Json] = {"annotations": {"origin": source.origin}}
        return {**named, "name": source.file.name, "digest": {"sha256": source.file.sha256.hex}}
    return {"name": source.origin, "digest": {TREE: source.tree.hex}}


def _resource(name: str, digest: Digest) -> Json:
    return {"name": name, "digest": {"sha256": digest.hex}}


def _metadata(build: Build) -> dict[str, Json]:
    said = {"invocationId": build.invocation, "startedOn": build.started, "finishedOn": build.finished}
    return {key: value for key, value in said.items() if value is not None}
