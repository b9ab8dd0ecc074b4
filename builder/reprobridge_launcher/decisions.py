"""The format of decisions in the manifest: what paper and code left open, and what the artifact does."""

from reprobridge_launcher.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Literal


class Sensitivity(Record):
    """How much a choice moves the numbers."""

    level: "Literal['none', 'low', 'high', 'unknown']"
    """How much."""
    evidence: "str | None"
    """What shows it."""


class Ambiguity(Record):
    """Where paper and code left something open, and what was chosen."""

    id: "str"
    """For example `A1`."""
    paper: "str | None"
    """Place in the paper."""
    code: "str | None"
    """Place in the code."""
    gap: "str"
    """What is not said, or contradicts."""
    options: "tuple[str, ...]"
    """What could be meant."""
    chosen: "str"
    """What the artifact does."""
    basis: "Literal['paper', 'code', 'author', 'convention']"
    """What the choice rests on."""
    sensitivity: "Sensitivity"
    """How much it matters."""
    tasks: "tuple[str, ...]"
    """Ids of the tasks concerned; empty: all."""
    decided: "str | None"
    """Date in ISO 8601."""


class Pitfall(Record):
    """What goes wrong easily, and how to avoid it."""

    id: "str"
    """For example `P1`."""
    symptom: "str"
    """What one sees."""
    cause: "str"
    """Why."""
    avoid: "str"
    """What to do."""
    tasks: "tuple[str, ...]"
    """Ids of the tasks concerned; empty: all."""


class OpenChoice(Record):
    """What a reader may choose differently."""

    id: "str"
    """For example `O1`."""
    question: "str"
    """What is open."""
    options: "tuple[str, ...]"
    """What one may choose."""
    default: "str | None"
    """What the artifact does."""


class Decisions(Record):
    """Everything that the authors of the artifact decided or warn of."""

    ambiguities: "tuple[Ambiguity, ...]"
    """In the author's order."""
    pitfalls: "tuple[Pitfall, ...]"
    """In the author's order."""
    open_choices: "tuple[OpenChoice, ...]"
    """In the author's order."""
