"""The report: Markdown tables and what one must know to read them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.cases import Case
from benchmarks.figures import Series, median_cost, ratio
from benchmarks.machine import Machine
from benchmarks.measure import Cost

_MEGA = 1e6
OURS = "reprobridge, layout"
"""The column of ours that the ratios refer to: the one that ends, as umoci does, with a layout on disk."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StartUp:
    """Medians of fresh processes, in seconds."""

    python: float
    """`python -c pass`."""
    help: float
    """`reprobridge --help`."""
    image_python: float | None = None
    """`python3 -c pass` inside an image; None where no engine ran it."""
    task: float | None = None
    """The command of a task inside the image, without the launcher."""
    launched: float | None = None
    """The same through the launcher's `run`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Everything that was measured in one run of the benchmark."""

    date: str
    """Day, ISO 8601."""
    machine: Machine
    """Where."""
    programs: Sequence[str]
    """Names and versions of the other builders' programs."""
    series: Sequence[Series]
    """One a set."""
    start_up: StartUp
    """How quickly commands start."""

    def tables(self) -> str:
        """The part that differs between two runs."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield f"Measured on {self.date}: {self.machine}; {', '.join(self.programs)}."
        for series in self.series:
            yield from _series_lines(series)
        yield from _start_up_lines(self.start_up)


def _series_lines(series: Series) -> Iterator[str]:
    columns = series.columns()
    count, size = series.wheels, _mega(series.wheel_bytes)
    yield ""
    yield f"### {series.title}: {count} wheels, {size} MB"
    yield ""
    peers = [column for column in columns if not column.startswith("reprobridge")]
    yield from table(
        ["wall s (CPU s)", *columns, *(f"{peer} / ours" for peer in peers)],
        [
            [case.value, *_times(series, case, columns), *_ratios(series, case, peers)]
            for case in series.cases()
        ],
    )
    yield ""
    yield from table(["the image and its making", *columns], list(_facts(series, columns)))
    if floor := _floor(series):
        yield ""
        yield floor


def _times(series: Series, case: Case, columns: Sequence[str]) -> Iterator[str]:
    for column in columns:
        cost = series.cost(case, column)
        yield "-" if cost is None else f"{cost.wall:.2f} ({cost.cpu:.2f})"


def _ratios(series: Series, case: Case, peers: Sequence[str]) -> Iterator[str]:
    ours = series.cost(case, OURS)
    for peer in peers:
        theirs = series.cost(case, peer)
        yield "-" if ours is None or theirs is None else ratio(theirs.wall, ours.wall)


def _facts(series: Series, columns: Sequence[str]) -> Iterator[list[str]]:
    def cold(column: str) -> Cost:
        cost = series.cost(Case.COLD, column)
        if cost is None:
            raise LookupError(f"no cold build for {column}")
        return cost

    yield ["peak memory, cold, MB", *(_mega(cold(column).memory) for column in columns)]
    for case in (case for case in (Case.COLD, Case.ADD, Case.SECOND) if case in series.cases()):
        costs = [series.cost(case, column) for column in columns]
        yield [f"written to disk, {case.value}, MB", *("-" if c is None else _mega(c.written) for c in costs)]
    yield ["layers", *(str(series.image(column).layers) for column in columns)]
    yield ["compressed image, MB", *(_mega(series.image(column).size) for column in columns)]
    yield ["same digest each time", *(_agreement(series.is_repeatable(column)) for column in columns)]


def _floor(series: Series) -> str:
    floor, ours = median_cost(series.floors), series.cost(Case.COLD, OURS)
    if floor is None or ours is None:
        return ""
    return (
        f"Floor (inflate once; SHA-256 of members, tar stream, layer; one thread): {floor.wall:.2f} s wall, "
        f"{floor.cpu:.2f} s CPU. Our cold build takes {ratio(ours.cpu, floor.cpu)} its CPU."
    )


def _start_up_lines(times: StartUp) -> Iterator[str]:
    yield ""
    yield "### Starting"
    yield ""
    rows = [
        ["`python -c pass`", _milli(times.python)],
        ["`reprobridge --help`", _milli(times.help)],
        ["in an image: `python3 -c pass`", _milli(times.image_python)],
        ["in an image: a task's command alone", _milli(times.task)],
        ["in an image: the same through `rra run`", _milli(times.launched)],
    ]
    yield from table(["median of fresh processes", "ms"], rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table: names on the left, figures on the right."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join(['---', *['--:'] * (len(head) - 1)])}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _mega(size: int) -> str:
    return f"{size / _MEGA:.1f}" if size < 10 * _MEGA else f"{size / _MEGA:.0f}"


def _milli(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000 * seconds:.0f}"


def _agreement(agree: bool | None) -> str:  # noqa: FBT001 - what is shown is the value itself
    return "one build" if agree is None else "yes" if agree else "no"
