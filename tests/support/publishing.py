"""What the gate before publishing asks for: a passing report and scored records, made by hand."""

import json

from reprobridge.digest import Digest
from reprobridge.oci.layout import ImageParts
from reprobridge.publish.gate import Accepted, Passed, Presented, pass_gate
from reprobridge.store.store import Store
from reprobridge.validate.model import CheckId, CheckResult, Finding, Report, passed
from reprobridge.validate.scored import Scored, record_bytes
from reprobridge.validate.subject import open_subject
from reprobridge_launcher import evidence, hardware
from reprobridge_launcher.manifest import Manifest, Task, parts
from reprobridge_launcher.record import replaced
from support.artifact_image import ArtifactImage


def report_about(image: Digest, artifact: Manifest, **findings: Finding) -> Report:
    """A complete report about an image: passed, but for the findings named (`GUIDE=…`)."""
    results = tuple(
        CheckResult(check=check, finding=findings.get(check.name, passed("fine")), milliseconds=1)
        for check in CheckId
    )
    return Report(image=image, artifact=artifact.artifact.id, sandbox="bubblewrap", results=results)


def record_of(artifact: Manifest, task: Task, /, **changes: object) -> evidence.Evidence:
    """The runner's record of a task's whole observation, with some fields changed."""
    value = 98.8764
    part = evidence.Part(
        folder=".",
        seed=None,
        repeat=1,
        argv=task.command,
        cwd="/tmp/code",
        start=1.0,
        end=2.0,
        timeout=None,
        exit_code=0,
        signal=None,
        timed_out=False,
        interrupted=None,
        left_behind=False,
        cpu_seconds=0.5,
        peak_memory=1024,
        problem=None,
        value=value,
        matches=(),
        no_value=None,
    )
    made = evidence.Evidence(
        state="finished",
        witness="runner",
        run="20260101T000000Z-abcdef",
        nonce="0" * 32,
        mode="scored",
        task=task.id,
        task_digest=task.digest,
        artifact=evidence.ArtifactRef(
            paper=artifact.paper.id, id=artifact.artifact.id, version="1.0.0", image=None
        ),
        code=evidence.Code(commit=None, tree=artifact.source.tree, expected=artifact.source.tree, changes=()),
        setting=evidence.Setting(
            python=None,
            distributions=(),
            locks=artifact.environment.locks,
            variables=(("HOME", "/tmp/home"), *artifact.environment.variables),
            network="none",
        ),
        hardware=hardware.Hardware(
            machine="x86_64", kernel="6", cpu=None, cpus=1, memory=1, gpus=(), driver=None
        ),
        deviations=(),
        start=1.0,
        end=2.0,
        parts=(part,) * parts(task),
        inputs=(),
        files=(),
        value=value,
        unit="percent",
        comparison=None,
        failure=None,
    )
    return replaced(made, **changes)


def scored(record: evidence.Evidence) -> Scored:
    """The record as it is kept."""
    return Scored.parse(record_bytes(record))


def failed(class_: str) -> dict[str, object]:
    """What a record without a value says instead."""
    return {"value": None, "failure": evidence.Failure(class_=class_, message="it failed", lines=())}  # type: ignore[arg-type]  # also classes that there are not


def tiny_image(store: Store, image: ArtifactImage | None = None) -> tuple[ImageParts, Manifest]:
    """A small whole artifact in the store, and what it says about itself."""
    made = (image or ArtifactImage()).build(store)
    return made, open_subject(made, store).artifact


def let_pass(image: ImageParts, artifact: Manifest) -> Passed:
    """An image that passed with everything that the gate asks for."""
    return pass_gate(
        Presented(
            image=image,
            artifact=artifact,
            report=report_about(image.manifest.digest, artifact),
            evidence={task.id: scored(record_of(artifact, task)) for task in artifact.tasks},
            accepted=Accepted(),
        )
    )


def text_of(report: Report) -> str:
    """A report as `validate --json` prints it."""
    return json.dumps(report.to_json())
