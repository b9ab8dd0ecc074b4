"""An inspection for people."""

from collections.abc import Iterator

from reprobridge.replicate.inspect import Inspection, SharedLayer
from reprobridge.replicate.one_line import one_line
from reprobridge.spec.nodes import printable
from reprobridge.wording import counted
from reprobridge_launcher.manifest import Change, Manifest
from reprobridge_launcher.terminal import table


def inspection_lines(inspection: Inspection) -> Iterator[str]:
    """The lines to print."""
    image = inspection.image
    name, platform = one_line(inspection.name), one_line(image.platform)
    rows = [("image", name), ("digest", str(image.digest)), ("platform", platform)]
    if inspection.artifact is None:
        yield from _table([*rows, ("artifact", f"none: {one_line(inspection.why.splitlines()[0])}")])
    else:
        yield from _table([*rows, *_head(inspection, inspection.artifact)])
        yield from _body(inspection.artifact)
    yield ""
    yield from _layers(inspection)


def _head(inspection: Inspection, artifact: Manifest) -> list[tuple[str, ...]]:
    paper, source = artifact.paper, artifact.source
    commit = f" at {source.commit}" if source.commit else ""
    year = f" ({paper.year})" if paper.year else ""
    rows = {
        "paper": f"{paper.title}{year}",
        "version": f"{artifact.artifact.version}, artifact {artifact.artifact.id}",
        "source": f"{source.origin}{commit}",
        "environment": _environment(inspection, artifact),
    }
    return [(name, one_line(text)) for name, text in rows.items()]


def _body(artifact: Manifest) -> Iterator[str]:
    yield ""
    yield from _table([("TASK", "PLACE", "PUBLISHED", "TITLE"), *_tasks(artifact)])
    yield ""
    if artifact.changes:
        yield from _table([("CHANGE", "CLASS", "NUMBERS", "WHY"), *map(_change, artifact.changes)])
    else:
        yield "no changes to the source"


def _environment(inspection: Inspection, artifact: Manifest) -> str:
    if inspection.lock is None:
        return f"unknown: {inspection.why.splitlines()[0]}"
    locked = inspection.lock.platforms.get(inspection.image.platform)
    packages = [counted(number, f"{kind.title()} package") for kind, number in inspection.packages().items()]
    gpu = artifact.environment.gpu
    driver = f"driver {gpu.driver} or later" if gpu and gpu.driver else "driver unknown"
    cuda = [] if gpu is None else [f"CUDA {gpu.cuda} ({driver})"]
    bytecode = " with bytecode" if locked and locked.python.bytecode else ""
    python = [f"Python {locked.python.version}{bytecode}"] if locked else []
    return ", ".join([inspection.lock.template, *python, *packages, *cuda])


def _tasks(artifact: Manifest) -> list[tuple[str, ...]]:
    return [
        (
            task.id,
            printable(task.published.location) if task.published else "-",
            printable(task.published.raw) if task.published else "-",
            one_line(task.title),
        )
        for task in artifact.tasks
    ]


def _change(change: Change) -> tuple[str, ...]:
    return change.id, change.class_, change.affects_numbers, one_line(change.why)


def _layers(inspection: Inspection) -> Iterator[str]:
    yield from _table([("LAYER", "BYTES", "TITLE", "SHARED WITH"), *map(_layer, inspection.layers)])
    said = f"{counted(len(inspection.layers), 'layer')}, {inspection.size} bytes"
    yield f"{said}, {inspection.shared} of them shared" if inspection.shared else said
    for one in inspection.layers:
        if found := inspection.misfits.get(one.layer.descriptor.digest):
            yield f"broken: {one.layer.descriptor.digest}: expected {one.layer.descriptor.size} bytes, found {found}"


def _layer(one: SharedLayer) -> tuple[str, ...]:
    layer = one.layer
    shared = ", ".join(one.others[:2]) + (f" and {len(one.others) - 2} more" if len(one.others) > 2 else "")
    return layer.descriptor.digest.hex[:12], str(layer.descriptor.size), printable(layer.title), shared or "-"


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    return table(rows).splitlines()
