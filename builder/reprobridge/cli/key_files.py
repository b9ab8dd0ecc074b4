"""Key files of commands: reading them, writing a new pair, asking for passwords.

A password comes from the variable REPROBRIDGE_KEY_PASSWORD, else from the terminal. Set and empty, the variable
means: no password, and don't ask.
"""

import os
import sys
from pathlib import Path

from reprobridge.errors import AssembleError, UsageError
from reprobridge.publish.signing.keys import (
    PrivateKey,
    PublicKey,
    is_encrypted,
    read_private_key,
    read_public_key,
)
from reprobridge.system.durable import create_durably
from reprobridge.system.files import USUAL, delete, read_named
from reprobridge.system.interrupts import uninterrupted

VARIABLE = "REPROBRIDGE_KEY_PASSWORD"
"""Environment variable with the private key's password."""
_LARGEST_KEY = 1 << 20


def private_key(path: Path) -> PrivateKey:
    """The key in a `.key` file; asks for its password where there is a terminal. Raises UsageError."""
    data = _bytes_of(path, "a private key", "make a pair with `reprobridge keygen`")
    return read_private_key(data, str(path), _password(path) if is_encrypted(data) else None)


def public_key(path: Path) -> PublicKey:
    """The key in a `.pub` file. Raises UsageError."""
    hint = "the authors give it away, with the paper for example; it is the file .pub of their pair"
    return read_public_key(_bytes_of(path, "a public key", hint), str(path))


def new_pair(name: Path) -> tuple[Path, Path]:
    """The paths NAME.key and NAME.pub, also for one of the two as the name. Raises UsageError when one exists."""
    stem = name.name.removesuffix(".key").removesuffix(".pub")
    if not stem:
        raise UsageError(
            "the pair has no name",
            where=str(name),
            expected="a file's path without .key and .pub",
            hint="for example --output FOLDER/my-lab",
        )
    private, public = (name.with_name(f"{stem}.{kind}") for kind in ("key", "pub"))
    for path in (private, public):
        if path.exists() or path.is_symlink():
            hint = "choose another name with --output; a key that was used must not be lost"
            raise UsageError("the file exists", where=str(path), hint=hint)
    return private, public


def write_pair(paths: tuple[Path, Path], key: PrivateKey, password: bytes | None) -> None:
    """Write the private key, for nobody else to read, and the public one: both or none. Raises AssembleError."""
    private, public = paths
    secret, shown = key.to_pem(password), key.public_key.to_pem()
    try:
        with uninterrupted():
            create_durably(private, secret, mode=0o600)
            try:
                create_durably(public, shown, mode=USUAL)
            except OSError:
                delete(private)
                raise
    except OSError as error:
        raise AssembleError(
            "the key cannot be written",
            where=str(private),
            expected="a writable folder with room",
            found=error.strerror or str(error),
            hint="make the folder, or room in it, or name another place: --output FOLDER/NAME",
        ) from error


def new_password() -> bytes | None:
    """The password for a new key, asked for twice; None: the key shall have none. Raises UsageError."""
    if (given := os.environ.get(VARIABLE)) is not None:
        return given.encode() or None
    if not sys.stdin.isatty():
        return None
    from getpass import getpass

    password = getpass("Password for the private key (empty: none): ")
    if getpass("The same again: ") != password:
        raise UsageError("the two passwords differ", hint="run the command again")
    return password.encode() or None


def _password(path: Path) -> bytes | None:
    if (given := os.environ.get(VARIABLE)) is not None:
        return given.encode() or None
    if not sys.stdin.isatty():
        return None
    from getpass import getpass

    return getpass(f"Password of {path}: ").encode() or None


def _bytes_of(path: Path, expected: str, hint: str) -> bytes:
    try:
        return read_named(path, _LARGEST_KEY)
    except OSError as error:
        found = error.strerror or str(error)
        raise UsageError(
            "the key cannot be read", where=str(path), expected=expected, found=found, hint=hint
        ) from error
