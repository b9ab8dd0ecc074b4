"""`reprobridge keygen`: make a pair of keys for signing."""

import argparse
from pathlib import Path

from reprobridge.cli.doors import Doors
from reprobridge.cli.values import path_word

NAME = "keygen"
SUMMARY = "make a pair of keys: NAME.key signs what is published, NAME.pub checks it"

DEFAULT = "reprobridge"
"""Name of the files unless --output says another."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "--output",
        "-o",
        type=path_word,
        default=Path(DEFAULT),
        metavar="NAME",
        help=f"the files' path without .key and .pub, which are never overwritten (default: {DEFAULT})",
    )


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Write both files, say where they are."""
    from reprobridge.cli.key_files import new_pair, new_password, write_pair
    from reprobridge.publish.signing.keys import PrivateKey

    paths = new_pair(arguments.output)
    password = new_password()
    if not password:
        doors.log("no password: whoever can read the private key's file can sign with it")
    key = PrivateKey.generate()
    write_pair(paths, key, password)
    for path in paths:
        print(path, file=doors.out)
    doors.log(f"fingerprint of the public key: {key.public_key.fingerprint}")
    return 0
