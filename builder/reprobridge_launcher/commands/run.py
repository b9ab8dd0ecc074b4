"""`run`: measure tasks, and compare with the published values and the intervals."""

from reprobridge_launcher import arguments, campaign, manifest, outcome, plan, selection
from reprobridge_launcher.layout import Layout

USAGE = """Usage: run TASK... [--all] [--seed N] [--repeat N] [--out FOLDER] [--json]
           [--anyway] [--require-compatible] [-- ARGUMENTS...]

Runs each task in a fresh copy of the code, reads its value, and compares it with the published one and with
the interval of independent reproductions.  Evidence is kept in FOLDER (/out) below the task's id.

  --all                 every task
  --seed N              only this seed: a part of the observation, shown and never compared
  --repeat N            so many repeats; other than the task's own: shown and never compared
  --out FOLDER          where the evidence goes
  --anyway              also on a machine that lacks what the task needs by its author's word: recorded
  --json                results as JSON on standard output; everything else goes to standard error
  --require-compatible  exit code 8 unless every value is compatible
  -- ARGUMENTS          are added to the command: recorded as a deviation, and never compared
"""
FLAGS = ("--all", "--anyway", "--json", "--require-compatible")
VALUED = ("--seed", "--repeat", "--out")


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Run the tasks; the exit code is that of the first that gave no value."""
    artifact = manifest.load(layout.manifest)
    if given.has("--all") and given.operands:
        raise outcome.StopError(outcome.USAGE, "--all and names of tasks exclude each other")
    names = tuple(task.id for task in artifact.tasks) if given.has("--all") else given.operands
    if not names and given.extra:
        hint = "run TASK -- ARGUMENTS: what stands after -- is added to the task's command"
        raise outcome.StopError(outcome.USAGE, "which task? it stands before --", hint)
    request = plan.Request(
        seed=given.whole("--seed", 0),
        repeat=given.whole("--repeat", 1),
        extra=given.extra,
        anyway=given.has("--anyway"),
    )
    order = campaign.Order(
        layout=layout,
        manifest=artifact,
        tasks=selection.chosen(artifact, names),
        request=request,
        out=given.options.get("--out", ""),
        as_json=given.has("--json"),
        require_compatible=given.has("--require-compatible"),
    )
    return campaign.carry_out(order)
