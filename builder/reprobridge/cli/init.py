"""`reprobridge init`: start a new artifact."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from reprobridge.cli.doors import Doors
from reprobridge.cli.values import path_word

NAME = "init"
"""The command's word."""
SUMMARY = "make a folder with a small artifact to start from"
"""Its line in --help."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "folder",
        metavar="NAME",
        type=path_word,
        help="the artifact's name, and the folder to make: its last part",
    )


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Make the folder; prints its path."""
    from reprobridge.spec.scaffold import create_artifact

    folder: Path = arguments.folder
    create_artifact(folder, today=datetime.now(UTC).date().isoformat())
    doors.log(f"made {folder}; next: reprobridge lock {folder}")
    doors.out.write(f"{folder}\n")
    return 0
