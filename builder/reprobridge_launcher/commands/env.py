"""`env`: the environment of the tasks."""

from reprobridge_launcher import arguments, cparts, fields, manifest, setting, terminal
from reprobridge_launcher.layout import Layout

USAGE = """Usage: env [--json]

Prints the tasks' interpreter, variables, distributions (and what is installed instead), and the digests of the
locks.
"""
FLAGS = ("--json",)
VALUED = ()  # type: tuple[str, ...]


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Print what is declared, and what differs from it."""
    arguments.none_left(given, 0)
    environment = manifest.load(layout.manifest).environment
    present = setting.installed(environment.python)
    if given.has("--json"):
        listed = [fields.form(distribution) for distribution in present]
        terminal.out(cparts.json_text(dict(fields.form(environment), present=listed)) + "\n")
        return 0
    rows = [("python", environment.python or "none")]
    rows += [(name, value) for name, value in environment.variables]
    rows += [("lock " + path, digest) for path, digest in environment.locks]
    here = {item.name: item.version for item in present}
    for item in environment.distributions:
        found = here.get(item.name, "none")
        rows.append((item.name, item.version + ("" if found == item.version else "; found " + found)))
    terminal.out(terminal.table(rows))
    return 0
