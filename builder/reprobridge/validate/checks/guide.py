"""Does the guide do what it says? Every executable block, in order, in one session in the image."""

import secrets
from collections.abc import Sequence

from reprobridge.system.processes import Completed
from reprobridge.validate.guide.blocks import Step, Stray, steps_of
from reprobridge.validate.guide.matching import matches
from reprobridge.validate.guide.session import LONGEST, SHELL, Outcome, outcomes, script
from reprobridge.validate.model import Finding, judged
from reprobridge.validate.shell import CleanShell

GUIDE = "rra/GUIDE.md"
"""The guide in the image."""
GUIDE_SECONDS = 3600.0
"""Limit of the whole session."""
SHOWN = 400
"""Characters of an output that the evidence shows."""


def check_guide(shell: CleanShell) -> Finding:
    """Run the guide and compare."""
    data = shell.subject.read(GUIDE)
    if data is None:
        return judged([f"/{GUIDE}: expected a guide, found none"], "")
    found = steps_of(data.decode("utf-8", "replace"))
    problems = [
        f"line {item.line}: expected a command (`$ …`) in an executable block"
        for item in found
        if isinstance(item, Stray)
    ]
    steps = [item for item in found if isinstance(item, Step)]
    if not found:
        problems.append(
            "the guide has no executable block: fence at least one with the info string `console`"
        )
    if problems:
        return judged(problems, "")
    mark = f"rra-{secrets.token_hex(16)}"
    text = script(steps, mark)
    if len(text.encode()) > LONGEST:
        return judged(
            [f"the guide's commands are longer than {LONGEST} bytes: put them into scripts of the code"], ""
        )
    ended = shell.run((SHELL, "-c", text), timeout=GUIDE_SECONDS)
    return judged(
        step_problems(steps, outcomes(ended, mark), ended),
        f"the guide's commands do what it says: {len(steps)} of {len(steps)}",
    )


def step_problems(steps: Sequence[Step], found: Sequence[Outcome], ended: Completed) -> list[str]:
    """What differs, command by command; a session that ended early is its last command's fault."""
    problems = [
        problem for step, outcome in zip(steps, found, strict=False) if (problem := _problem(step, outcome))
    ]
    if len(found) < len(steps):
        step = steps[len(found)]
        why = "the session took too long" if ended.timed_out else f"it ended the session ({ended.failure})"
        problems.append(f"line {step.line}: `{_first_line(step.command)}`: {why}")
    return problems


def _problem(step: Step, outcome: Outcome) -> str:
    what = f"line {step.line}: `{_first_line(step.command)}`"
    if outcome.status != step.status:
        said = f"{what}: expected exit status {step.status}, found {outcome.status}"
        return f"{said}; standard error: {_shown(outcome.stderr)}"
    if not matches(step.expected, outcome.stdout):
        hint = "" if step.expected else " (write `...` below the command where its output doesn't matter)"
        return f"{what}: expected the output {_shown(step.expected)}, found {_shown(outcome.stdout)}{hint}"
    return ""


def _first_line(command: str) -> str:
    first, newline, _ = command.partition("\n")
    return f"{first} …" if newline else first


def _shown(text: str) -> str:
    text = text.strip("\n")
    if not text:
        return "nothing"
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")
