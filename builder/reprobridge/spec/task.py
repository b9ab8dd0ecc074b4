"""One item of `tasks`: a reported number and how it is measured."""

from typing import Literal

from reprobridge.spec.extract import EXTRACT
from reprobridge.spec.measurement import MEASUREMENT, PUBLISHED, REFERENCES
from reprobridge.spec.model import Experiment, Resources, Seeds, Smoke, Task
from reprobridge.spec.nodes import Entries, Node, Scalar, is_null, shown
from reprobridge.spec.paths import PathText
from reprobridge.spec.reading import Reading
from reprobridge.spec.scalars import BYTES, IDENTIFIER, SECONDS, TEXT, VERBATIM, Choice, Whole
from reprobridge.spec.shapes import Invalid, Key, ListOf, Record

_SHELLS_OWN = frozenset("|&;<>()$`*?[]~#=\n\\")
"""Characters that a shell may make something of."""


class _Command(ListOf[str]):
    """A command's words; no shell splits them."""

    def read(self, node: Node, reading: Reading) -> tuple[str, ...] | Literal[Invalid.INVALID]:
        """The words, or a report that shows how a command line is written."""
        if isinstance(node, Scalar) and not is_null(node):
            words = ", ".join(map(shown, _words(node.text)))
            return self.refuse(node, reading, f"write it as a list: [{words}]")
        return super().read(node, reading)


def _words(line: str) -> list[str]:
    """A command line as a list: split where that needs no shell."""
    import shlex

    try:
        words = [] if _SHELLS_OWN.intersection(line) else shlex.split(line)
    except ValueError:  # a quote that is not closed
        words = []
    return words or ["sh", "-c", line]


_COMMAND = _Command(VERBATIM, least=1)
_CHECKPOINT = PathText(hint="checkpoints that do not come with the source are not supported by this release")

EXPERIMENT = Record(
    Experiment,
    {
        "id": Key(shape=TEXT, doc="Name of the experiment."),
        "dataset": Key(shape=TEXT, doc="Data set."),
        "split": Key(shape=TEXT, doc="How it is split."),
        "variant": Key(shape=TEXT, doc="Method or variant."),
    },
)
"""The shape of `experiment`."""

SMOKE = Record(
    Smoke,
    {
        "command": Key(shape=_COMMAND, doc="Program and arguments of a short run."),
        "timeout": Key(shape=SECONDS, doc="After which it has failed; 60s by default.", default=60),
    },
)
"""The shape of `smoke`."""

SEEDS = Record(
    Seeds,
    {
        "option": Key(shape=VERBATIM, doc="Appended to the command with each value."),
        "values": Key(shape=ListOf(Whole(0), least=1, distinct=True), doc="Fixed before any score is seen."),
    },
)
"""The shape of `seeds`."""

RESOURCES = Record(
    Resources,
    {
        "gpus": Key(shape=Whole(0, 64), doc="How many GPUs; none by default.", default=0),
        "gpu_memory": Key(shape=BYTES, doc="On each GPU.", default=None),
        "cpus": Key(shape=Whole(1, 4096), doc="How many cores; 1 by default.", default=1),
        "memory": Key(shape=BYTES, doc="Main memory; not checked where nothing is said.", default=None),
        "disk": Key(
            shape=BYTES, doc="Space for what it writes; not checked where nothing is said.", default=None
        ),
        "time": Key(
            shape=SECONDS,
            doc="What one run of the command takes, 1h by default; it is stopped after ten times as much.",
            default=3600,
        ),
    },
)
"""The shape of `resources`."""


def _check_task(task: Task, node: Entries, reading: Reading) -> None:
    _check_bounds(task, node, reading)
    measurement = node.items["measurement"]
    parts = (len(task.seeds.values) if task.seeds else 1) * task.measurement.repeats
    if task.measurement.statistic == "value" and parts > 1:
        expected = f"a statistic that makes one value of {parts} parts (seeds times repeats)"
        reading.report(_inner(measurement, "statistic"), expected, "value", "for example mean")
    if task.measurement.over == "seeds" and task.seeds is None:
        reading.report(_inner(measurement, "over"), "folds or runs, or the key seeds in the task", "seeds")
    if task.scope == "evaluation_only" and not task.checkpoints:
        expected = "the key checkpoints: trained models in the source that an evaluation_only task may read"
        reading.report(node, expected, "no such key")
    if task.scope != "evaluation_only" and task.checkpoints:
        reading.report(node.items["checkpoints"], "no checkpoints: the scope is full_pipeline", "some")


def _check_bounds(task: Task, node: Entries, reading: Reading) -> None:
    """Nobody has observed what the quantity can't be: mostly, the bounds are in another unit."""
    low, high = task.measurement.lower_bound, task.measurement.upper_bound
    for observed in task.references.observations if task.references else ():
        if (low is not None and float(observed) < float(low)) or (
            high is not None and float(observed) > float(high)
        ):
            expected = f"observations within the measurement's bounds, {low or 'none'} to {high or 'none'}"
            reading.report(node.items["references"], expected, observed, "all of them are in the task's unit")
            return


def _inner(node: Node, key: str) -> Node:
    return node.items.get(key, node) if isinstance(node, Entries) else node


TASK = Record(
    Task,
    {
        "id": Key(shape=IDENTIFIER, doc="What the reader types."),
        "title": Key(shape=TEXT, doc="One line."),
        "experiment": Key(shape=EXPERIMENT, doc="Which experiment of the paper it belongs to."),
        "published": Key(shape=PUBLISHED, doc="The number in the paper."),
        "measurement": Key(shape=MEASUREMENT, doc="What one observation is."),
        "scope": Key(
            shape=Choice("full_pipeline", "evaluation_only"),
            doc="Whether training is part of it, or only the evaluation of shipped checkpoints.",
        ),
        "checkpoints": Key(
            shape=ListOf(_CHECKPOINT, distinct=True),
            doc="Trained models in the source that an evaluation_only task may read.",
            default=(),
        ),
        "command": Key(shape=_COMMAND, doc="Program and arguments of the scored run."),
        "smoke": Key(
            shape=SMOKE,
            doc="Short run that shows that the task starts and measures; its value never counts. "
            "Validation fails without it.",
            default=None,
        ),
        "seeds": Key(shape=SEEDS, doc="Seeds; all of them make one observation.", default=None),
        "extract": Key(shape=EXTRACT, doc="Where the value stands in what a run leaves behind."),
        "resources": Key(shape=RESOURCES, doc="What a scored run needs.", default=Resources()),
        "references": Key(shape=REFERENCES, doc="Independent reproductions of the value.", default=None),
    },
    check=_check_task,
)
"""The shape of one task."""
