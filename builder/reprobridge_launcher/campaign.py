"""Several tasks one after the other: what must hold before, how each went, and one exit code for all."""

import os

from reprobridge_launcher import (
    cparts,
    evidence,
    fitness,
    hardware,
    measure,
    outcome,
    plan,
    process,
    setting,
    terminal,
)
from reprobridge_launcher.layout import Layout
from reprobridge_launcher.manifest import Manifest, Task
from reprobridge_launcher.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from reprobridge_launcher.finding import Finding

SCHEMA = "reprobridge.results/1"
"""Value of `schema` in the JSON results."""
UNWRITTEN = (
    "rra: the evidence can't be written: {}\n"
    "hint: the run above has no finished record; make room, or name another folder: --out FOLDER\n"
)
"""What is told, below its report, of a run whose record can't be kept."""


class Order(Record):
    """What is to be run and how it is shown."""

    layout: "Layout"
    """Where things lie."""
    manifest: "Manifest"
    """The artifact."""
    tasks: "tuple[Task, ...]"
    """At least one."""
    request: "plan.Request"
    """How they are to be run."""
    out: "str"
    """Folder of the evidence; empty for /out."""
    as_json: "bool"
    """JSON on standard output, everything else on standard error."""
    require_compatible: "bool" = False
    """Is a value that isn't compatible a failure?"""


class Ground(Record):
    """What all tasks run on."""

    machine: "hardware.Hardware"
    """The machine."""
    inputs: "tuple[evidence.File, ...]"
    """Declared data sets as they were found."""


def carry_out(order: Order) -> int:
    """Run the tasks in their order and return the exit code of the first that failed."""
    for task in order.tasks:
        plan.steps(task, order.request)  # refuses what makes no sense before anything runs
    ground = _ground(order)
    out = _evidence_folder(order)
    interrupts = process.Interrupts()
    interrupts.install()
    results, codes = [], []  # type: list[object], list[int]
    try:
        for task in order.tasks:
            if interrupts.number:
                codes.append(outcome.FAILED)
                break
            run = measure.run(_job(order, task, out, ground), interrupts)
            code = exit_code(order, run.record)
            (terminal.talk if order.as_json else terminal.out)(report(task, run.record, run.folder))
            if run.unwritten is not None:
                code = code or outcome.FAILED
                terminal.talk(UNWRITTEN.format(run.unwritten))
            codes.append(code)
            place = run.folder if run.unwritten is None else None
            results.append(dict(result(task, run.record), evidence=place, exit_code=code))
    finally:  # what was measured is told whatever happens to the next task
        if order.as_json and results:
            terminal.out(cparts.json_text({"schema": SCHEMA, "results": results}) + "\n")
    failed = [code for code in codes if code != outcome.MEASURED]
    return failed[0] if failed else outcome.MEASURED


def _job(order: Order, task: Task, out: str, ground: "Ground") -> measure.Job:
    return measure.Job(
        layout=order.layout,
        manifest=order.manifest,
        task=task,
        request=order.request,
        out=out,
        machine=ground.machine,
        unfit=fitness.unfit(_fitness(order, (task,), ground.machine)) if order.request.anyway else (),
        inputs=ground.inputs,
        echo=(2, 2) if order.as_json else (1, 2),
    )


def _ground(order: Order) -> Ground:
    """Look at machine and data; stop before anything runs where they aren't what the tasks need."""
    inputs = setting.inputs(order.manifest, order.layout)
    machine = hardware.read(uses_gpus=fitness.uses_gpus(order.tasks))
    found = _fitness(order, order.tasks, machine)
    unfit = [finding for finding in found if finding.verdict == "failed"]
    for finding in found:
        if finding.verdict == "warning" or (finding in unfit and order.request.anyway):
            terminal.talk("warning: {}: {}\nhint: {}\n".format(finding.id, finding.detail, finding.remedy))
    if unfit and not order.request.anyway:
        hints = [finding.remedy or "" for finding in unfit]
        hints.append("--anyway runs it all the same, and records this")
        raise outcome.StopError(unfit[0].code, "; ".join(fitness.unfit(found)), "; ".join(hints))
    return Ground(machine=machine, inputs=inputs)


def _fitness(order: Order, tasks: "tuple[Task, ...]", machine: "hardware.Hardware") -> "tuple[Finding, ...]":
    """What must hold of the machine; a smoke run needs the GPU, but not what the whole task takes."""
    if order.request.smoke:
        return (fitness.gpu(order.manifest, tasks, machine),)
    offer = fitness.offer(machine, order.out or order.layout.out)
    return tuple(fitness.findings(order.manifest, tasks, offer))


def _evidence_folder(order: Order) -> str:
    """Make sure that evidence can be kept, and say where it goes with the container."""
    out = os.path.abspath(order.out or order.layout.out)
    hint = "docker run -v FOLDER:{}, or --out FOLDER".format(order.layout.out)
    try:
        os.makedirs(out, exist_ok=True)
    except OSError as error:
        raise outcome.StopError(
            outcome.USAGE, "can't make {}: {}".format(out, error.strerror), hint
        ) from None
    for folder in [out] + [os.path.join(out, task.id) for task in order.tasks]:
        if os.path.exists(folder) and not os.access(folder, os.W_OK | os.X_OK):
            message = "can't write to {} as user {}".format(folder, os.getuid())
            raise outcome.StopError(outcome.USAGE, message, hint)
    if not is_host_folder(out):
        terminal.talk(
            "note: no folder of the host is mounted at {0}, so the evidence goes with the container; "
            "docker run -v FOLDER:{0} keeps it\n".format(out)
        )
    return out


def is_host_folder(path: str, table: str = "/proc/self/mountinfo") -> bool:
    """Does the path lie in something that is mounted into the container, other than a temporary file system?"""
    path = os.path.realpath(path)
    place, kind = "/", ""
    with open(table, encoding="utf-8", errors="surrogateescape") as stream:
        for line in stream:
            before, _dash, after = line.partition(" - ")
            point = before.split(" ")[4].replace("\\040", " ")
            inside = point != "/" and (path + "/").startswith(point + "/")
            if inside and len(point) >= len(place):  # of several at one place the last one is seen
                place, kind = point, after.split(" ")[0]
    return kind not in ("", "tmpfs")


def exit_code(order: Order, record: evidence.Evidence) -> int:
    """Exit code of one run."""
    if record.value is not None:
        verdict = record.comparison.verdict if record.comparison else None
        unfit = order.require_compatible and verdict != "compatible"
        return outcome.INCOMPATIBLE if unfit else outcome.MEASURED
    failed = record.failure is not None and record.failure.class_ == "extraction_error"
    return outcome.NOT_EXTRACTED if failed else outcome.FAILED


def result(task: Task, record: evidence.Evidence) -> "dict[str, object]":
    """What a machine wants to know about one run."""
    compared = record.comparison
    published = task.published
    return {
        "task": record.task,
        "run": record.run,
        "mode": record.mode,
        "value": record.value,
        "unit": record.unit,
        "published": published.value if published else None,
        "location": published.location if published else None,
        "interval": [compared.low, compared.high] if compared and compared.verdict else None,
        "compatible": compared.verdict == "compatible" if compared and compared.verdict else None,
        "published_in_interval": compared.published_in_interval if compared else None,
        "relative_half_width": compared.relative_half_width if compared else None,
        "low_power": compared.low_power if compared and compared.verdict else None,
        "unfit": record.unfit,
        "deviations": record.deviations,
        "failure": record.failure.message if record.failure else None,
    }


def report(task: Task, record: evidence.Evidence, folder: str) -> str:
    """What a person wants to know about one run."""
    rows = []
    if record.value is None:
        name = task.measurement.name + ": no value"
        failure = record.failure
        rows += [("  failed", failure.message)] + [("", line) for line in failure.lines] if failure else []
    else:
        name = "{} {:.10g} {}".format(task.measurement.name, record.value, record.unit)
        if task.published and record.mode == "scored":
            rows.append(("  published", "{} ({})".format(task.published.raw, task.published.location)))
        rows += _verdict(record)
    rows += [("  unfit", text) for text in record.unfit]
    rows += [("  deviation", text) for text in record.deviations]
    rows.append(("  evidence", folder))
    return "{}: {}\n{}".format(task.id, name, terminal.table(rows))


def _verdict(record: evidence.Evidence) -> "list[tuple[str, str]]":
    compared = record.comparison
    if record.mode == "smoke":
        return [("  smoke run", "it starts and measures; the value doesn't count")]
    if compared is None:
        return [("  compared", "no: the run deviates from the task's definition")]
    if compared.verdict is None or compared.low is None or compared.high is None:
        return [("  compared", "no: this image holds no references, so nothing says what is compatible")]
    width = (
        "half-width {:.2g} %".format(100 * compared.relative_half_width)
        if compared.relative_half_width
        else ""
    )
    notes = [
        "{} observations".format(compared.n),
        width,
        "floor only: one observation gives no prediction interval" if compared.kind == "floor_only" else "",
        "low power: wide enough to pass wrong procedures" if compared.low_power else "",
        "cut at the quantity's bounds" if compared.cut else "",
        "degenerate" if compared.degenerate else "",
    ]
    outside = compared.published_in_interval is False
    said = [
        compared.verdict,
        " with the references" if outside else "",
        " (the rounded value would be compatible)" if compared.rounding_only else "",
        "; the published value lies outside their interval" if outside else "",
    ]
    interval = "{:.6g} to {:.6g}".format(compared.low, compared.high)
    return [
        ("  interval", "{} ({})".format(interval, "; ".join(note for note in notes if note))),
        ("  verdict", "".join(said)),
    ]
