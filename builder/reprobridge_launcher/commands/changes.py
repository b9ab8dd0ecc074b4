"""`changes`: what was changed in the paper's code."""

from reprobridge_launcher import arguments, documents
from reprobridge_launcher.layout import Layout

USAGE = "Usage: changes\n\nPrints every change to the paper's code, with its class and reason (Markdown).\n"
FLAGS = ()  # type: tuple[str, ...]
VALUED = ()  # type: tuple[str, ...]


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Print CHANGES.md."""
    arguments.none_left(given, 0)
    return documents.show(layout, "CHANGES.md")
