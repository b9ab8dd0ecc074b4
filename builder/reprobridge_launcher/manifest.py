"""The format of /rra/manifest.json: what an artifact is, and how each of its tasks is run and measured.

Schema `reprobridge.manifest/1`.  The builder constructs the JSON and reads it with `parse`, so both sides agree;
in the image `load` reads it at each start.  Every key is listed in the classes below under the same name;
unknown keys, missing keys and wrong types raise FormatError with the place, what was expected and what was found.
Sizes are bytes, times are seconds, digests are 64 hexadecimal digits (SHA-256).

The annotations are the format: `fields.read` follows them, so each key stands here once.

References (observations of independent reproductions) live apart: see `references`.
"""

from reprobridge_launcher import decisions, extraction, fields
from reprobridge_launcher.decisions import Decisions
from reprobridge_launcher.extraction import Extractor
from reprobridge_launcher.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Literal

SCHEMA = "reprobridge.manifest/1"
"""Value of `schema`."""


class Paper(Record):
    """The paper whose numbers are reproduced."""

    id: "str"
    """Image name."""
    title: "str"
    """As printed."""
    authors: "tuple[str, ...]"
    """In the paper's order."""
    year: "int | None"
    """Of publication."""
    venue: "str | None"
    """Where it appeared."""
    doi: "str | None"
    """Digital object identifier."""
    url: "str | None"
    """Where it can be read."""


class Artifact(Record):
    """The artifact's own identity."""

    id: "str"
    """SHA-256 of the canonical spec and lock."""
    version: "str"
    """Image tag."""
    license: "str | None"
    """SPDX expression."""
    repository: "str | None"
    """Where the artifact is maintained."""


class Source(Record):
    """Where the refined code came from."""

    kind: "Literal['git', 'archive', 'pypi', 'path']"
    """What kind of origin."""
    origin: "str"
    """Address, requirement or folder as the author wrote it."""
    commit: "str | None"
    """Git only: 40 hexadecimal digits."""
    tree: "str"
    """`inventory.tree_digest` of the refined code: source with all changes applied."""
    date: "str | None"
    """Date of the source in ISO 8601."""


class Change(Record):
    """One registered change to the source."""

    id: "str"
    """For example `C1`."""
    class_: "Literal['execution_repair', 'correctness_repair', 'convenience']"
    """It didn't run; it ran but did not do what the paper says; neither.  The key is `class`."""
    why: "str"
    """The reason."""
    affects_numbers: "Literal['yes', 'no', 'unknown']"
    """Does it move a measured value?"""
    ambiguity: "str | None"
    """Id of the decision that it follows."""
    paper: "str | None"
    """Place in the paper that it follows."""
    tasks: "tuple[str, ...]"
    """Ids of the tasks concerned; empty: all."""
    patch: "str | None"
    """Name of the patch file."""
    files: "tuple[str, ...]"
    """Files of the refined code that it touches."""


class Gpu(Record):
    """What the environment's CUDA libraries need."""

    cuda: "str"
    """CUDA version, such as 12.4."""
    driver: "str | None"
    """Least version of the NVIDIA driver, such as 550.54."""


class Distribution(Record):
    """One installed Python distribution."""

    name: "str"
    """Project name."""
    version: "str"
    """As installed."""


class Environment(Record):
    """The environment in which tasks run."""

    python: "str | None"
    """Absolute path of the tasks' interpreter; its folder is first on PATH.  None: there is no Python."""
    variables: "tuple[tuple[str, str], ...]"
    """Environment variables of every task; in JSON an object."""
    locks: "tuple[tuple[str, str], ...]"
    """Path of each lock in the image and its digest; in JSON an object."""
    distributions: "tuple[Distribution, ...]"
    """What is installed for `python`."""
    gpu: "Gpu | None"
    """None: no CUDA."""


class Data(Record):
    """One data set."""

    id: "str"
    """Name of the data set."""
    path: "str"
    """Path below /data."""
    sha256: "str"
    """Of the file."""
    size: "int"
    """Bytes."""
    delivery: "Literal['bake', 'fetch', 'mount']"
    """How it gets below /data."""
    urls: "tuple[str, ...]"
    """Where it can be had."""
    license: "str | None"
    """SPDX expression."""


class Experiment(Record):
    """What a task belongs to."""

    id: "str"
    """Name of the experiment."""
    dataset: "str | None"
    """Data set."""
    split: "str | None"
    """How it is split."""
    variant: "str | None"
    """Method or variant."""


class Spread(Record):
    """How a published value varies."""

    value: "float"
    """In the measurement's unit."""
    kind: "Literal['std', 'sem', 'ci95', 'unknown']"
    """What the paper gives."""


class Published(Record):
    """The number in the paper."""

    location: "str"
    """For example `Table 1, row LDA`."""
    raw: "str"
    """As printed."""
    value: "float"
    """In the measurement's unit; the midpoint of a range."""
    decimals: "int | None"
    """Decimals as printed."""
    range: "tuple[float, float] | None"
    """Lower and upper end, where the paper prints a range."""
    spread: "Spread | None"
    """Where the paper prints one."""


class Measurement(Record):
    """What is measured."""

    name: "str"
    """For example `accuracy`."""
    unit: "str"
    """For example `percent`; scaled only by the extractor's factor."""
    direction: "Literal['higher', 'lower']"
    """Which is better."""
    statistic: "Literal['value', 'mean', 'median', 'best', 'last']"
    """How the values of the parts (each seed's and repeat's command) become one; `value`: there is one part."""
    over: "Literal['seeds', 'folds', 'runs'] | None"
    """`seeds` and `runs`: one command for each; `folds`: inside of one command."""
    repeats: "int"
    """Commands for each seed."""
    lower_bound: "float | None"
    """The quantity is never below this."""
    upper_bound: "float | None"
    """The quantity is never above this."""


class Seeds(Record):
    """The seeds of a task."""

    option: "str | None"
    """Option of the command that takes the seed; None where only the variable RRA_SEED is read."""
    values: "tuple[int, ...]"
    """All of them make one observation."""


class Resources(Record):
    """What a run needs and takes."""

    gpus: "int"
    """How many."""
    gpu_memory: "int | None"
    """Bytes for each GPU."""
    cpus: "int | None"
    """How many cores."""
    memory: "int | None"
    """Bytes."""
    disk: "int | None"
    """Bytes."""
    time: "float | None"
    """Seconds that one command takes by its author's word; `plan.limit` says when it's stopped."""


class Smoke(Record):
    """A short run that shows that a task starts and measures."""

    command: "tuple[str, ...]"
    """Program and arguments."""
    timeout: "float"
    """Seconds."""


class Task(Record):
    """One published number, and how it is measured."""

    id: "str"
    """What the reader types."""
    title: "str"
    """One line."""
    experiment: "Experiment | None"
    """Where it belongs."""
    published: "Published | None"
    """None: the paper gives no number for it."""
    measurement: "Measurement"
    """What one observation is."""
    scope: "Literal['full_pipeline', 'evaluation_only']"
    """What it reproduces."""
    checkpoints: "tuple[str, ...]"
    """`evaluation_only`: the trained models that it may read."""
    command: "tuple[str, ...]"
    """Program and arguments."""
    smoke: "Smoke | None"
    """None: there is none."""
    seeds: "Seeds | None"
    """None: the command runs without a seed."""
    extract: "Extractor"
    """Where the value stands."""
    resources: "Resources"
    """What a run needs."""
    digest: "str"
    """SHA-256 of the task's frozen spec as the builder computed it."""


class Manifest(Record):
    """Everything that an image says about itself."""

    paper: "Paper"
    """The paper."""
    artifact: "Artifact"
    """Identity of the artifact."""
    source: "Source"
    """Origin of the code."""
    changes: "tuple[Change, ...]"
    """In the order in which they were applied."""
    decisions: "Decisions"
    """What was decided."""
    environment: "Environment"
    """What tasks run in."""
    data: "tuple[Data, ...]"
    """What tasks read."""
    tasks: "tuple[Task, ...]"
    """What can be measured, in the author's order."""
    integrity: "str | None"
    """Path of the inventory file in the image."""


CLASSES = {
    name: made
    for name, made in [*vars(decisions).items(), *list(globals().items())]
    if isinstance(made, type) and issubclass(made, Record)
}  # type: fields.Readers
"""Records of this format by the names that annotations use."""
CLASSES["Extractor"] = extraction.parse


def load(path: str) -> Manifest:
    """Read the manifest file of an image, which the builder checked; FormatError also for broken JSON."""
    return _read(fields.document(path))


def parse(value: object) -> Manifest:
    """Read a manifest from its JSON value and check all of it."""
    manifest = _read(value)
    for i, task in enumerate(manifest.tasks):
        extraction.check_pattern(task.extract, "tasks[{}].extract".format(i))
    return manifest


def _read(value: object) -> Manifest:
    rest = fields.without_schema(value, SCHEMA)
    manifest = fields.read(Manifest, rest, "", CLASSES)
    _check(manifest)
    return manifest


def form(manifest: Manifest) -> "dict[str, object]":
    """JSON value of a manifest, the inverse of `parse`."""
    return dict({"schema": SCHEMA}, **fields.form(manifest))


def _check(manifest: Manifest) -> None:
    """Refuse what the types can't: ids that occur twice, empty commands, parts that don't add up."""
    seen = set()  # type: set[str]
    for i, task in enumerate(manifest.tasks):
        place = "tasks[{}]".format(i)
        if task.id in seen:
            raise fields.FormatError(place + ".id", "an id of its own", fields.shown(task.id))
        seen.add(task.id)
        if not task.command or (task.smoke and not task.smoke.command):
            raise fields.FormatError(place + ".command", "at least one word", "none")
        if task.published and task.published.range and len(task.published.range) != 2:
            raise fields.FormatError(
                place + ".published.range", "lower and upper end", str(task.published.range)
            )
        if task.measurement.repeats < 1:
            raise fields.FormatError(
                place + ".measurement.repeats", "at least 1", str(task.measurement.repeats)
            )
        if task.measurement.statistic == "value" and parts(task) != 1:
            expected = "a statistic that makes one value of {} parts".format(parts(task))
            raise fields.FormatError(place + ".measurement.statistic", expected, "value")


def parts(task: Task) -> int:
    """Number of commands that one observation of a task takes: one for each seed and repeat."""
    return max(len(task.seeds.values) if task.seeds else 1, 1) * task.measurement.repeats
