"""One run of one task, from the empty folder to the finished evidence."""

import os
import time

from reprobridge_launcher import evidence, extraction, fields, hardware, plan, process, setting, workspace
from reprobridge_launcher.layout import Layout
from reprobridge_launcher.manifest import Manifest, Task
from reprobridge_launcher.record import Record, replaced


class Job(Record):
    """What one run needs to know."""

    layout: "Layout"
    """Where things lie."""
    manifest: "Manifest"
    """The artifact."""
    task: "Task"
    """What is measured."""
    request: "plan.Request"
    """How it is to be run."""
    out: "str"
    """Folder of all evidence."""
    machine: "hardware.Hardware"
    """On which machine."""
    unfit: "tuple[str, ...]"
    """What it lacks for this task."""
    inputs: "tuple[evidence.File, ...]"
    """Declared data sets as they were found."""
    echo: "tuple[int, int]"
    """Descriptors that show the command's two streams."""


class Run(Record):
    """What a run gave."""

    record: "evidence.Evidence"
    """The finished record."""
    folder: "str"
    """Where it lies."""
    unwritten: "str | None"
    """Why it doesn't lie there, so that the one there still says `running`; None where it does."""


def run(job: Job, interrupts: process.Interrupts) -> Run:
    """Run all commands of the observation; OSError where there is no place to run or to write at all."""
    steps = plan.steps(job.task, job.request)
    space = workspace.prepare(job.layout, job.task.extract)
    try:
        run_id, folder = evidence.new_run(job.out, job.task.id, "smoke" if job.request.smoke else "scored")
        record = _started(job, run_id, space, _variables(job, space, steps[0], folder))
        evidence.write(record, folder)
        for step in steps:
            if step is not steps[0]:
                workspace.remove(space.folder)
                space = workspace.prepare(job.layout, job.task.extract)
            part = _part(job, step, space, folder, interrupts)
            record = replaced(record, parts=(*record.parts, part))
            if part.value is None or interrupts.number:
                break
    finally:
        workspace.remove(space.folder)
    return _kept(_finished(job, record, folder, interrupts), folder)


def _kept(finished: evidence.Evidence, folder: str) -> Run:
    """Bring everything to the disk; what was measured is no less measured when that fails."""
    try:
        finished = replaced(finished, files=evidence.files(folder))
        evidence.keep(finished, folder)
    except (OSError, RecursionError) as error:
        return Run(record=finished, folder=folder, unwritten=str(error))
    return Run(record=finished, folder=folder, unwritten=None)


def _variables(
    job: Job, space: workspace.Workspace, step: plan.Step, folder: str
) -> "tuple[tuple[str, str], ...]":
    own = {"RRA_OUT": os.path.abspath(os.path.join(folder, step.folder, "outputs"))}
    if step.seed is not None:
        own["RRA_SEED"] = str(step.seed)
    return workspace.variables(job.manifest.environment, job.layout, space, own)


def _started(
    job: Job, run_id: str, space: workspace.Workspace, variables: "tuple[tuple[str, str], ...]"
) -> evidence.Evidence:
    manifest, task = job.manifest, job.task
    differs = plan.deviations(task, job.request)
    if space.tree != manifest.source.tree:
        differs += ("the code isn't the artifact's: tree {}".format(space.tree),)
    return evidence.Evidence(
        state="running",
        witness="launcher",
        run=run_id,
        nonce=os.environ.get("RRA_NONCE"),
        mode="smoke" if job.request.smoke else "scored",
        task=task.id,
        task_digest=task.digest,
        config=evidence.Config(
            experiment=task.experiment,
            scope=task.scope,
            checkpoints=task.checkpoints,
            statistic=task.measurement.statistic,
            seeds=task.seeds.values if task.seeds else (),
            repeats=task.measurement.repeats,
        ),
        artifact=evidence.ArtifactRef(
            paper=manifest.paper.id,
            id=manifest.artifact.id,
            version=manifest.artifact.version,
            image=os.environ.get("RRA_IMAGE_DIGEST"),
        ),
        code=evidence.Code(
            commit=manifest.source.commit,
            tree=space.tree,
            expected=manifest.source.tree,
            changes=tuple(change.id for change in manifest.changes),
        ),
        setting=evidence.Setting(
            python=manifest.environment.python,
            distributions=setting.installed(manifest.environment.python),
            locks=manifest.environment.locks,
            variables=variables,
            network=setting.network(),
        ),
        hardware=job.machine,
        unfit=job.unfit,
        deviations=differs,
        start=time.time(),
        end=None,
        parts=(),
        inputs=job.inputs,
        files=(),
        value=None,
        unit=task.measurement.unit,
        comparison=None,
        failure=None,
    )


def _part(
    job: Job, step: plan.Step, space: workspace.Workspace, folder: str, interrupts: process.Interrupts
) -> evidence.Part:
    """Run one command and read its value; where its outputs can't be kept, that is its problem."""
    place = os.path.normpath(os.path.join(folder, step.folder))
    command = process.Command(
        argv=step.argv,
        cwd=space.code,
        environment=_variables(job, space, step, folder),
        timeout=step.timeout,
        stdout=os.path.join(place, "stdout.log"),
        stderr=os.path.join(place, "stderr.log"),
    )
    start = end = time.time()
    ended = process.Ended()
    try:
        os.makedirs(os.path.join(place, "outputs"))
        ended = process.run(command, interrupts, job.echo, _load_the_rest)
        end = time.time()
        workspace.unlock(folder)
        found = _value(job, ended, space, place)
    except OSError as error:
        ended = replaced(ended, problem=ended.problem or str(error))
        found = extraction.NotExtracted(reason="the command didn't succeed")
    return evidence.Part(
        folder=step.folder,
        seed=step.seed,
        repeat=step.repeat,
        argv=step.argv,
        cwd=space.code,
        start=start,
        end=end,
        timeout=step.timeout,
        value=getattr(found, "value", None),
        matches=getattr(found, "matches", ()),
        no_value=getattr(found, "reason", None),
        **{name: getattr(ended, name) for name in process.Ended._fields},
    )


def _value(
    job: Job, ended: process.Ended, space: workspace.Workspace, place: str
) -> "extraction.Extracted | extraction.NotExtracted":
    """Read the value of a command that succeeded."""
    if ended.exit_code != 0 or ended.timed_out or ended.problem or ended.interrupted is not None:
        return extraction.NotExtracted(reason="the command didn't succeed")
    workspace.harvest(space, job.task.extract, os.path.join(place, "outputs"))
    return extraction.extract(job.task.extract, place)


def _load_the_rest() -> None:
    """Compile, beside the running command, what is needed after it."""
    from reprobridge_launcher import cparts, judgement, readers

    cparts.compile_bytes_pattern("")
    _ = judgement, readers


def _finished(
    job: Job, record: evidence.Evidence, folder: str, interrupts: process.Interrupts
) -> evidence.Evidence:
    """Add to a record that has its parts what follows from them."""
    from reprobridge_launcher import judgement

    parts = record.parts
    values = [part.value for part in parts if part.value is not None]
    complete = len(values) == len(plan.steps(job.task, job.request))
    value = plan.combined(job.task, values) if complete else None
    comparison = None
    if value is not None and record.mode == "scored" and not record.deviations:
        try:
            comparison = judgement.comparison(job.layout, job.task, value)
        except fields.FormatError as error:
            record = replaced(record, deviations=("the references can't be read: {}".format(error),))
    return replaced(
        record,
        state="interrupted" if interrupts.number and not complete else "finished",
        end=time.time(),
        value=value,
        comparison=comparison,
        failure=judgement.failure(parts[-1], folder) if value is None else None,
    )
