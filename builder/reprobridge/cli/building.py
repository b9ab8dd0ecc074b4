"""Words that commands share which may have to build packages without a wheel."""

import argparse

SANDBOXES = ("bubblewrap", "podman", "docker")
"""`sandbox.choose.KINDS`, whose import a build that builds nothing in a sandbox does not pay for."""


def add_sandbox(parser: argparse.ArgumentParser) -> None:
    """Declare in which sandbox packages are built and compiled; `Doors` knows what was said."""
    parser.add_argument(
        "--sandbox",
        choices=SANDBOXES,
        metavar="KIND",
        help="where packages without a wheel, and bytecode, are made: bubblewrap, podman or docker (default: the first that works)",
    )
