"""`guide`: the reproduction guide as it lies in the image."""

from reprobridge_launcher import arguments, documents
from reprobridge_launcher.layout import Layout

USAGE = "Usage: guide\n\nPrints the reproduction guide (Markdown).\n"
FLAGS = ()  # type: tuple[str, ...]
VALUED = ()  # type: tuple[str, ...]


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Print GUIDE.md."""
    arguments.none_left(given, 0)
    return documents.show(layout, "GUIDE.md")
