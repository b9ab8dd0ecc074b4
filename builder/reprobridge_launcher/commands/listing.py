"""`list`: the tasks of the artifact."""

from reprobridge_launcher import arguments, cparts, manifest, plan, terminal
from reprobridge_launcher.layout import Layout

USAGE = """Usage: list [--json]

Lists the tasks: id, place in the paper, published value, time that measuring takes by the authors' word (all
seeds and repeats; ? where they say none), title.  show TASK says after which time a command is stopped.
"""
FLAGS = ("--json",)
VALUED = ()  # type: tuple[str, ...]


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Print the table, or the tasks as JSON."""
    arguments.none_left(given, 0)
    artifact = manifest.load(layout.manifest)
    if given.has("--json"):
        terminal.out(cparts.json_text({"tasks": [_brief(task) for task in artifact.tasks]}) + "\n")
        return 0
    paper = artifact.paper
    terminal.talk("{}{}\n\n".format(paper.title, " ({})".format(paper.year) if paper.year else ""))
    rows = [("TASK", "PLACE", "PUBLISHED", "TIME", "TITLE")]
    rows += [_row(task) for task in artifact.tasks]
    terminal.out(terminal.table(rows))
    terminal.talk("\nrun TASK measures; show TASK says more; guide explains\n")
    return 0


def _row(task: manifest.Task) -> "tuple[str, str, str, str, str]":
    published = task.published
    time = terminal.duration(plan.expected(task))
    return (
        task.id,
        published.location if published else "-",
        published.raw if published else "-",
        time,
        task.title,
    )


def _brief(task: manifest.Task) -> "dict[str, object]":
    published = task.published
    return {
        "id": task.id,
        "title": task.title,
        "location": published.location if published else None,
        "published": published.value if published else None,
        "unit": task.measurement.unit,
        "time": plan.expected(task),
    }
