"""`reprobridge schema`: the format of reprobridge.yaml, for editors or for people."""

import argparse

from reprobridge.cli.doors import Doors

NAME = "schema"
"""The command's word."""
SUMMARY = "print the JSON Schema of reprobridge.yaml"
"""Its line in --help."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--markdown", action="store_true", help="print the reference page instead")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Print schema or page."""
    if arguments.markdown:
        from reprobridge.spec.reference import reference_text

        doors.out.write(reference_text())
    else:
        from reprobridge.spec.schema import schema_text

        doors.out.write(schema_text())
    return 0
