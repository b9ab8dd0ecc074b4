"""`fetch`: where the data sets are."""

from reprobridge_launcher import arguments, checks, manifest, outcome, terminal
from reprobridge_launcher.layout import Layout

USAGE = """Usage: fetch [DATA...]

Tells which data sets the artifact needs and whether they are in place.  This release downloads nothing: data
sets are mounted into the container.
"""
FLAGS = ()  # type: tuple[str, ...]
VALUED = ()  # type: tuple[str, ...]


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Check the data sets; exit code 3 if one is missing."""
    arguments.none_left(given, len(given.operands))
    entries = manifest.load(layout.manifest).data
    names = tuple(entry.id for entry in entries)
    for name in given.operands:
        if name not in names:
            hint = arguments.similar(name, names) or "data sets: " + (", ".join(names) or "none")
            raise outcome.StopError(outcome.USAGE, "no data set {}".format(name), hint)
    if not entries:
        terminal.talk("nothing to fetch: this artifact needs no data sets\n")
        return outcome.MEASURED
    code = outcome.MEASURED
    for entry in entries:
        if given.operands and entry.id not in given.operands:
            continue
        finding = checks.data_set(layout, entry)
        terminal.out("{:<8} {}: {}\n".format(finding.verdict, entry.id, finding.detail))
        if finding.code:
            code = finding.code
            places = ", ".join(entry.urls) or "its publisher"
            terminal.talk(
                "this release bakes and downloads no data: get it from {}, then {}\n".format(
                    places, finding.remedy
                )
            )
    return code
