"""`check`: is the image whole, and the machine fit?"""

from reprobridge_launcher import arguments, checks, cparts, fields, manifest, terminal
from reprobridge_launcher.layout import Layout

USAGE = """Usage: check [--json]

Checks every file of code and environment against the image's inventory, data sets, GPU and driver, memory, disk,
and the temporary folder.  The exit code is that of the first failure: 7, 3 or 4.
"""
FLAGS = ("--json",)
VALUED = ()  # type: tuple[str, ...]
SCHEMA = "reprobridge.check/1"
"""Value of `schema` in the JSON findings."""


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Print each finding as soon as it is there, or all of them as JSON."""
    arguments.none_left(given, 0)
    artifact = manifest.load(layout.manifest)
    findings = []
    for finding in checks.all_checks(layout, artifact):
        findings.append(finding)
        if not given.has("--json"):
            terminal.out("{:<8} {}: {}\n".format(finding.verdict, finding.id, finding.detail))
            if finding.remedy:
                terminal.out("{:<8} {}\n".format("", finding.remedy))
    if given.has("--json"):
        listed = [fields.form(finding) for finding in findings]
        terminal.out(cparts.json_text({"schema": SCHEMA, "findings": listed}) + "\n")
    return next((finding.code for finding in findings if finding.verdict == "failed"), 0)
