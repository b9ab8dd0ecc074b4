"""GUIDE.md and CHANGES.md as the image holds them.

The author's text comes first; the sections on tasks, decisions, changes, pitfalls and resources are generated
from reprobridge.yaml, so that the guide cannot contradict it. Rendered by plain Python, not by a template
engine, since no library's release may reach an image's bytes (ADR 0006).
"""

from collections.abc import Iterable

from reprobridge.lock.model import LockedChange, LockedSource
from reprobridge.spec.model import Ambiguity, Change, Spec, Task

_BYTECODE = """\
Packages and the standard library are compiled, and Python takes what was compiled without looking at the source: a
module of theirs that you edit in a container stays as it was. To run the edited one, delete its `.pyc` in
`__pycache__` beside it, or start Python with `--check-hash-based-pycs always`. The code in /rra/code is not compiled.
"""


def guide_text(spec: Spec) -> str:
    """The whole guide, Markdown."""
    author = spec.files[spec.guide].decode()
    sections = [
        _section("Tasks", [_task_table(spec.tasks), *map(_task, spec.tasks)]),
        _section("Decisions", map(_ambiguity, spec.decisions.ambiguities)),
        _section("Changes to the source", map(_change_line, spec.changes)),
        _section("Pitfalls", (_pitfall(spec, number) for number in range(len(spec.decisions.pitfalls)))),
        _section(
            "Open choices", (_choice(spec, number) for number in range(len(spec.decisions.open_choices)))
        ),
        _section("Resources", [_resources(spec.tasks)]),
        _section("Bytecode", [_BYTECODE] if spec.environment.python.bytecode else []),
    ]
    return "\n".join([author.rstrip() + "\n", *filter(None, sections)])


def changes_text(spec: Spec, source: LockedSource) -> str:
    """The list of changes with their patches, Markdown."""
    head = f"# Changes to the source of {spec.paper.title}\n"
    if not spec.changes:
        return head + "\nNone: the refined code is the source as it was published.\n"
    return "\n".join(
        [head, *(_change(spec, *pair) for pair in zip(spec.changes, source.changes, strict=True))]
    )


def _section(title: str, parts: Iterable[str]) -> str:
    body = "\n".join(parts)
    return f"## {title}\n\n{body}" if body else ""


def _task_table(tasks: tuple[Task, ...]) -> str:
    rows = ["| task | published | in the paper | smoke run |", "| --- | --- | --- | --- |"]
    for task in tasks:
        smoke = f"`{' '.join(task.smoke.command)}`" if task.smoke else "none"
        rows.append(_row(f"`{task.id}`", task.published.raw, task.published.location, smoke))
    return "\n".join(rows) + "\n"


def _task(task: Task) -> str:
    measured, experiment = task.measurement, task.experiment
    over = f" over {measured.over}" if measured.over else ""
    lines = [
        f"### Task `{task.id}`: {task.title}\n",
        f"- Published: {task.published.raw} ({task.published.location})",
        f"- Measured: {measured.statistic}{over} of {measured.name} in {measured.unit}",
        f"- Better: {measured.direction}",
        f"- Experiment: {experiment.id}; data {experiment.dataset}, {experiment.split}; {experiment.variant}",
        f"- Scope: {task.scope.replace('_', ' ')}",
        f"- Command: `{' '.join(task.command)}`",
    ]
    if task.seeds:
        lines.append(f"- Seeds, fixed before any score was seen: {', '.join(map(str, task.seeds.values))}")
    return "\n".join(lines) + "\n"


def _ambiguity(item: Ambiguity) -> str:
    options = "; ".join(item.options)
    evidence = f": {item.sensitivity.evidence}" if item.sensitivity.evidence else ""
    places = ", ".join(
        filter(None, [item.paper and f"paper {item.paper}", item.code and f"code {item.code}"])
    )
    return "\n".join(
        [
            f"### {item.id}: {item.gap}\n",
            f"- Where: {places or 'nowhere said'}",
            f"- Options: {options}",
            f"- Chosen: {item.chosen} (basis: {item.basis}, decided {item.decided})",
            f"- Sensitivity: {item.sensitivity.level}{evidence}",
            f"- Tasks: {_tasks(item.tasks)}\n",
        ]
    )


def _pitfall(spec: Spec, number: int) -> str:
    item = spec.decisions.pitfalls[number]
    lines = [f"### {item.id}: {item.symptom}\n", f"- Cause: {item.cause}", f"- Avoid: {item.avoid}"]
    return "\n".join([*lines, f"- Tasks: {_tasks(item.tasks)}\n"])


def _choice(spec: Spec, number: int) -> str:
    item = spec.decisions.open_choices[number]
    return (
        f"### {item.id}: {item.question}\n\n- Options: {'; '.join(item.options)}\n- Default: {item.default}\n"
    )


def _change_line(change: Change) -> str:
    return f"- {change.id} ({change.change_class.replace('_', ' ')}): {change.why}"


def _change(spec: Spec, change: Change, locked: LockedChange) -> str:
    patch = spec.files[change.patch].decode("utf-8", "replace")
    fence = "`" * max(3, _longest_fence(patch) + 1)
    follows = ", ".join(filter(None, [change.paper and f"paper {change.paper}", change.ambiguity]))
    lines = [
        f"## {change.id}: {change.change_class.replace('_', ' ')}\n",
        f"- Why: {change.why}",
        f"- Affects numbers: {change.affects_numbers}",
        f"- Follows: {follows or 'no decision'}",
        f"- Tasks: {_tasks(change.tasks)}",
        f"- Files: {', '.join(locked.files)}\n",
        f"{fence}diff\n{patch.rstrip()}\n{fence}\n",
    ]
    return "\n".join(lines)


def _longest_fence(text: str) -> int:
    runs = [len(line.lstrip("+- ")) - len(line.lstrip("+- ").lstrip("`")) for line in text.splitlines()]
    return max(runs, default=0)


def _resources(tasks: tuple[Task, ...]) -> str:
    rows = ["| task | GPUs | cores | memory | disk | time |", "| --- | --- | --- | --- | --- | --- |"]
    for task in tasks:
        needs = task.resources
        sizes = (_size(needs.memory), _size(needs.disk), _duration(needs.time))
        rows.append(_row(f"`{task.id}`", str(needs.gpus), str(needs.cpus), *sizes))
    return "\n".join(rows) + "\n"


def _size(size: int | None) -> str:
    if size is None:
        return "not said"
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} bytes"


def _duration(seconds: int) -> str:
    for unit, factor in (("h", 3600), ("min", 60)):
        if seconds >= factor and seconds % factor == 0:
            return f"{seconds // factor} {unit}"
    return f"{seconds} s"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _tasks(tasks: tuple[str, ...]) -> str:
    return ", ".join(tasks) if tasks else "all"
