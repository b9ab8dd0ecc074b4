"""`show`: everything about one task."""

from reprobridge_launcher import arguments, cparts, fields, manifest, plan, selection, terminal
from reprobridge_launcher.layout import Layout

USAGE = """Usage: show TASK [--json]

Shows what a task measures, how it is run, what it needs, and the decisions behind it.
"""
FLAGS = ("--json",)
VALUED = ()  # type: tuple[str, ...]


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Print the task as text, or its manifest entry as JSON."""
    arguments.none_left(given, 1)
    artifact = manifest.load(layout.manifest)
    (task,) = selection.chosen(artifact, given.operands[:1])
    if given.has("--json"):
        terminal.out(cparts.json_text(fields.form(task)) + "\n")
        return 0
    rows = [(name, text) for name, text in _facts(layout, task) + _behind(artifact, task) if text]
    terminal.out("{}: {}\n\n{}".format(task.id, task.title, terminal.table(rows)))
    return 0


def _facts(layout: Layout, task: manifest.Task) -> "list[tuple[str, str]]":
    measured, needs, published = task.measurement, task.resources, task.published
    gpus = "GPUs: {}, ".format(needs.gpus) if needs.gpus else ""
    each = " for each command" if manifest.parts(task) > 1 else ""
    found = task.extract
    return [
        (
            "published",
            "{} ({})".format(published.raw, published.location) if published else "no number in the paper",
        ),
        ("measures", "{} in {}, {} is better".format(measured.name, measured.unit, measured.direction)),
        ("observation", _observation(task)),
        ("interval", _interval(layout, task)),
        ("scope", task.scope.replace("_", " ")),
        ("reads", ", ".join(task.checkpoints)),
        ("command", " ".join(task.command)),
        ("smoke run", " ".join(task.smoke.command) if task.smoke else "none"),
        ("value from", "{} {} in {}".format(found.kind, found.rule, found.file)),
        ("needs", gpus + "CPUs: {}, memory: {}, disk: {}".format(needs.cpus or 1, *_sizes(needs))),
        ("takes", terminal.duration(plan.expected(task))),
        ("stopped after", terminal.duration(plan.limit(task)) + each),
    ]


def _observation(task: manifest.Task) -> str:
    seeds = ", ".join(str(seed) for seed in task.seeds.values) if task.seeds else ""
    count = manifest.parts(task)
    if count == 1:
        return "one command" + (" with seed " + seeds if seeds else "")
    return "{} of {} commands{}".format(
        task.measurement.statistic, count, ", seeds " + seeds if seeds else ""
    )


def _interval(layout: Layout, task: manifest.Task) -> str:
    from reprobridge_launcher import interval, references

    reference = references.load(layout.references).get(task.id)
    if reference is None:
        return "none: this image holds no references"
    span = interval.derive(reference.observations, reference.policy)
    said = "{:g} to {:g}, from {} observations ({})".format(span.low, span.high, span.n, reference.where)
    inside = task.published is None or interval.compare(task.published.value, span).compatible
    return said if inside else said + "; the published value lies outside"


def _sizes(needs: manifest.Resources) -> "list[str]":
    sizes = (needs.memory, needs.disk)
    return ["{:.1f} GiB".format(size / (1 << 30)) if size else "not said" for size in sizes]


def _behind(artifact: manifest.Manifest, task: manifest.Task) -> "list[tuple[str, str]]":
    """Changes and decisions that concern the task; those without tasks concern all."""
    decided = artifact.decisions
    rows = [("change " + c.id, c.why, c.tasks) for c in artifact.changes]
    rows += [
        ("decision " + a.id, "{} Chosen: {}".format(a.gap, a.chosen), a.tasks) for a in decided.ambiguities
    ]
    rows += [("pitfall " + p.id, "{} {}".format(p.symptom, p.avoid), p.tasks) for p in decided.pitfalls]
    return [(name, text) for name, text, tasks in rows if not tasks or task.id in tasks]
