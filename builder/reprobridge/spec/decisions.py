"""The section `decisions`: what paper and code left open, what goes wrong, what may be chosen otherwise."""

from reprobridge.spec.model import Ambiguity, Decisions, OpenChoice, Pitfall, Sensitivity
from reprobridge.spec.nodes import Entries
from reprobridge.spec.reading import Reading
from reprobridge.spec.scalars import IDENTIFIER, TEXT, Choice, Date
from reprobridge.spec.shapes import Key, ListOf, Record

_TASKS = Key(
    shape=ListOf(IDENTIFIER, distinct=True), doc="Ids of the tasks concerned; none: all of them.", default=()
)

SENSITIVITY = Record(
    Sensitivity,
    {
        "level": Key(shape=Choice("none", "low", "high", "unknown"), doc="How much the choice matters."),
        "evidence": Key(shape=TEXT, doc="What shows it, with numbers.", default=None),
    },
)
"""The shape of an ambiguity's `sensitivity`."""


def _check_ambiguity(ambiguity: Ambiguity, node: Entries, reading: Reading) -> None:
    if not (ambiguity.paper or ambiguity.code):
        reading.report(node, "the key paper or code: the place that leaves it open", "neither")


AMBIGUITY = Record(
    Ambiguity,
    {
        "id": Key(shape=IDENTIFIER, doc="For example A1."),
        "paper": Key(shape=TEXT, doc="Place in the paper.", default=None),
        "code": Key(shape=TEXT, doc="Place in the code.", default=None),
        "gap": Key(shape=TEXT, doc="What is not said, or contradicts."),
        "options": Key(shape=ListOf(TEXT), doc="What could be meant.", default=()),
        "chosen": Key(shape=TEXT, doc="What the artifact does. Where paper and code disagree: the paper."),
        "basis": Key(shape=Choice("paper", "code", "author", "convention"), doc="Why that was chosen."),
        "sensitivity": Key(shape=SENSITIVITY, doc="How much it matters."),
        "tasks": _TASKS,
        "decided": Key(shape=Date(), doc="The day."),
    },
    check=_check_ambiguity,
)
"""The shape of one item of `ambiguities`."""

PITFALL = Record(
    Pitfall,
    {
        "id": Key(shape=IDENTIFIER, doc="For example P1."),
        "symptom": Key(shape=TEXT, doc="What one sees."),
        "cause": Key(shape=TEXT, doc="Why."),
        "avoid": Key(shape=TEXT, doc="What to do."),
        "tasks": _TASKS,
    },
)
"""The shape of one item of `pitfalls`."""

OPEN_CHOICE = Record(
    OpenChoice,
    {
        "id": Key(shape=IDENTIFIER, doc="For example O1."),
        "question": Key(shape=TEXT, doc="What is open."),
        "options": Key(shape=ListOf(TEXT, least=1), doc="What one may choose."),
        "default": Key(shape=TEXT, doc="What the artifact does."),
    },
)
"""The shape of one item of `open_choices`."""

DECISIONS = Record(
    Decisions,
    {
        "ambiguities": Key(shape=ListOf(AMBIGUITY), doc="Gaps, and how they were settled.", default=()),
        "pitfalls": Key(shape=ListOf(PITFALL), doc="What went wrong and will again.", default=()),
        "open_choices": Key(shape=ListOf(OPEN_CHOICE), doc="What a reader may choose otherwise.", default=()),
    },
)
"""The shape of `decisions`."""
