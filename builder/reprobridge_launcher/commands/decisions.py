"""`decisions`: what paper and code left open, what goes wrong easily, and what a reader may choose."""

from reprobridge_launcher import arguments, cparts, fields, manifest, terminal
from reprobridge_launcher.decisions import Ambiguity, OpenChoice, Pitfall
from reprobridge_launcher.layout import Layout

USAGE = """Usage: decisions [--json]

Prints ambiguities (and what was chosen), pitfalls, and open choices.
"""
FLAGS = ("--json",)
VALUED = ()  # type: tuple[str, ...]


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Print the decisions as text or JSON."""
    arguments.none_left(given, 0)
    decided = manifest.load(layout.manifest).decisions
    if given.has("--json"):
        terminal.out(cparts.json_text(fields.form(decided)) + "\n")
        return 0
    blocks = [_ambiguity(item) for item in decided.ambiguities]
    blocks += [_pitfall(item) for item in decided.pitfalls]
    blocks += [_open_choice(item) for item in decided.open_choices]
    terminal.out("\n".join(blocks) or "no decisions are recorded\n")
    return 0


def _block(title: str, rows: "list[tuple[str, str | None]]") -> str:
    return title + "\n" + terminal.table([("  " + name, text) for name, text in rows if text])


def _ambiguity(item: Ambiguity) -> str:
    moves = item.sensitivity.level + (": " + item.sensitivity.evidence if item.sensitivity.evidence else "")
    rows = [
        ("paper", item.paper),
        ("code", item.code),
        ("options", "; ".join(item.options)),
        ("chosen", "{} (basis: {})".format(item.chosen, item.basis)),
        ("moves numbers", moves),
        ("tasks", ", ".join(item.tasks) or "all"),
        ("decided", item.decided),
    ]
    return _block("{} (ambiguity): {}".format(item.id, item.gap), rows)


def _pitfall(item: Pitfall) -> str:
    tasks = ", ".join(item.tasks) or "all"
    rows = [("cause", item.cause), ("avoid", item.avoid), ("tasks", tasks)]  # type: list[tuple[str, str | None]]
    return _block("{} (pitfall): {}".format(item.id, item.symptom), rows)


def _open_choice(item: OpenChoice) -> str:
    rows = [("options", "; ".join(item.options)), ("default", item.default)]  # type: list[tuple[str, str | None]]
    return _block("{} (open choice): {}".format(item.id, item.question), rows)
