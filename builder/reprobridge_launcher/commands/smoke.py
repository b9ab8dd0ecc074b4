"""`smoke`: show quickly that tasks start and measure."""

from reprobridge_launcher import arguments, campaign, manifest, outcome, plan, selection
from reprobridge_launcher.layout import Layout

USAGE = """Usage: smoke [TASK...] [--anyway] [--out FOLDER] [--json]

Runs the short command of each task (all tasks without an argument) and reads its value, which never counts.
With --anyway also where GPU or driver are not what the task needs.
"""
FLAGS = ("--anyway", "--json")
VALUED = ("--out",)


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Run the smoke commands; the exit code is that of the first that gave no value."""
    artifact = manifest.load(layout.manifest)
    names = given.operands or tuple(task.id for task in artifact.tasks if task.smoke)
    arguments.none_left(given, len(given.operands))
    if not names:
        raise outcome.StopError(outcome.USAGE, "no task has a smoke run", "run TASK measures")
    order = campaign.Order(
        layout=layout,
        manifest=artifact,
        tasks=selection.chosen(artifact, names),
        request=plan.Request(smoke=True, anyway=given.has("--anyway")),
        out=given.options.get("--out", ""),
        as_json=given.has("--json"),
    )
    return campaign.carry_out(order)
