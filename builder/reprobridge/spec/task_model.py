"""A task of the specification as frozen types: a reported number, and how it is measured.

Numbers are decimal text (`decimals.py`), sizes bytes, times seconds. In the image's manifest the fields have the
same names. Other stages find all of them in `model.py`.
"""

from collections.abc import Mapping

from reprobridge.frozen import frozen


@frozen(kw_only=True)
class Experiment:
    """Which experiment of the paper a task belongs to."""

    id: str
    """Name of the experiment."""
    dataset: str
    """Data set."""
    split: str
    """How it is split."""
    variant: str
    """Method or variant."""


@frozen(kw_only=True)
class Spread:
    """The spread that the paper reports beside a value."""

    value: str
    """As a decimal number in the task's unit."""
    kind: str
    """`std`, `sem`, `ci95` or `unknown`."""


@frozen(kw_only=True)
class Published:
    """The number in the paper."""

    location: str
    """For example `Table 1, row LDA`."""
    raw: str
    """As printed."""
    value: str
    """As a decimal number in the task's unit; the midpoint where a range is printed."""
    decimals: int
    """Decimals that the paper prints."""
    range: tuple[str, str] | None = None
    """Bounds, where the paper prints a range."""
    spread: Spread | None = None
    """Spread, where the paper prints one."""


@frozen(kw_only=True)
class Measurement:
    """What one observation of a task is."""

    name: str
    """For example `accuracy`."""
    unit: str
    """For example `percent`; never guessed, scaled only by the extractor's factor."""
    direction: str
    """`higher` or `lower` is better."""
    statistic: str
    """`value`, `mean`, `median`, `best` or `last`."""
    over: str | None
    """What the statistic runs over: `seeds`, `folds` or `runs`; None for `value`."""
    repeats: int
    """How often the command runs for one observation, seeds apart."""
    lower_bound: str | None = None
    """The quantity is never below this."""
    upper_bound: str | None = None
    """The quantity is never above this."""


@frozen(kw_only=True)
class Smoke:
    """The short run that shows that a task starts and measures; its value never counts."""

    command: tuple[str, ...]
    """Program and arguments."""
    timeout: int
    """Seconds."""


@frozen(kw_only=True)
class Seeds:
    """Seeds that were fixed before any score was seen."""

    option: str
    """Appended to the command with each value."""
    values: tuple[int, ...]
    """All of them make one observation."""


@frozen(kw_only=True)
class Reduce:
    """How values of several files or rows become one."""

    how: str
    """`mean`, `median`, `max` or `min`."""
    expect: int
    """How many values there must be."""


Rule = str | Mapping[str, str | Mapping[str, str]]
"""Regular expression or JSON pointer; for CSV `column`, `delimiter` and `where`."""


@frozen(kw_only=True)
class Extract:
    """Where a task's value stands in its output."""

    file: str
    """`stdout`, `stderr`, or a path or glob in the run's folder."""
    kind: str
    """`regex`, `json`, `jsonl` or `csv`."""
    parameters: Mapping[str, Rule]
    """Under the name of the kind its rule, and `occurrence`: keys and values as in the launcher's JSON form."""
    scale: str = "1"
    """Declared factor from the raw number to the task's unit."""
    reduce: Reduce | None = None
    """For several files or rows."""


@frozen(kw_only=True)
class Resources:
    """What a scored run needs."""

    gpus: int = 0
    """How many GPUs."""
    gpu_memory: int | None = None
    """Bytes on each."""
    cpus: int = 1
    """How many cores."""
    memory: int | None = None
    """Bytes; None: nobody has said."""
    disk: int | None = None
    """Bytes; None: nobody has said."""
    time: int = 3600
    """Seconds that one run of the command takes; it is stopped after ten times as much."""


@frozen(kw_only=True)
class References:
    """Independent reproductions of a task's value."""

    observations: tuple[str, ...]
    """Values in the task's unit."""
    where: str
    """Where they ran and what they are."""


@frozen(kw_only=True)
class Task:
    """One reported number and how it is measured."""

    id: str
    """What the reader types."""
    title: str
    """One line."""
    experiment: Experiment
    """Where it belongs."""
    published: Published
    """The number in the paper."""
    measurement: Measurement
    """What one observation is."""
    scope: str
    """`full_pipeline` or `evaluation_only`."""
    checkpoints: tuple[str, ...]
    """What an evaluation-only task may read."""
    command: tuple[str, ...]
    """Program and arguments of the scored run."""
    smoke: Smoke | None
    """None fails validation."""
    seeds: Seeds | None
    """None: the command runs without a seed."""
    extract: Extract
    """Where the value stands."""
    resources: Resources
    """What the run needs."""
    references: References | None
    """None: no interval, only the published value."""
