"""The command `reprobridge`: picks the command's module, hands it the doors, prints errors and exits.

The only place that prints errors and turns them into exit codes. Only the module of the chosen command is
imported, so that a command starts quickly.
"""

import argparse
import errno
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol, cast

from reprobridge import RELEASE
from reprobridge.cli.doors import Doors
from reprobridge.cli.streams import open_closed, talk
from reprobridge.cli.values import path_word
from reprobridge.errors import ReproBridgeError, UsageError
from reprobridge.wording import nearest

COMMANDS = (
    "init",
    "lock",
    "build",
    "validate",
    "run",
    "publish",
    "pull",
    "inspect",
    "diff",
    "verify",
    "rebuild",
    "keygen",
    "vendor",
    "cache",
    "schema",
    "template",
)
"""Every command, in the order of `--help`; each is the module of this name beside this one."""

BUG = 70
"""Exit status after an unexpected exception (EX_SOFTWARE)."""

_FULL = (errno.ENOSPC, errno.EDQUOT)
"""What the system says where a disk or a quota has no room."""
_REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP)
"""What the system says of paths and modes that no code of ours can put right."""
_COMMON = ("--store", "--offline", "--quiet", "-q", "--debug")
"""Options of every command (`add_common`): they may stand before it too."""

GARBAGE = 100_000
"""Objects made, and not dropped, before Python looks for cycles among the youngest."""


class Command(Protocol):
    """What a command's module offers."""

    NAME: str
    """What the user types."""
    SUMMARY: str
    """One line for `--help`."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's words."""

    def execute(self, arguments: argparse.Namespace, doors: Doors) -> int:
        """Do it; gives the exit status."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit status (guides/reference/exit-codes.md)."""
    # What a short command makes lives as long as it does: looking for garbage, most of all at the end, took an
    # eighth of its time.
    gc.set_threshold(GARBAGE)
    open_closed()
    words = _command_first(list(sys.argv[1:] if argv is None else argv))
    if not words or words[0] not in COMMANDS:
        _overview(words).parse_args(words)
    name, *rest = words
    arguments = _parser(name, rest).parse_intermixed_args(rest)
    return carry_out(load_command(name), arguments)


def carry_out(command: Command, arguments: argparse.Namespace) -> int:
    """Open the doors, execute a command, print its error; gives the exit status."""
    doors = Doors(
        store_root=arguments.store,
        offline=arguments.offline,
        quiet=arguments.quiet,
        sandbox=getattr(arguments, "sandbox", None),
    )
    try:
        status = command.execute(arguments, doors)
        doors.out.flush()
        return status
    except ReproBridgeError as error:
        _say(str(error))
        return error.exit_code
    except OSError as error:
        if refused := _refused(error, arguments.store):
            _say(str(refused))
            return refused.exit_code
        return _report_bug(error, debug=arguments.debug)
    except Exception as error:  # noqa: BLE001 - the last place before the user: a bug is reported, not thrown
        return _report_bug(error, debug=arguments.debug)
    finally:
        doors.close()
        gc.freeze()


def _say(text: str) -> None:
    """Print an error. What it quotes may be anybody's: whatever a terminal would obey is escaped, but for new lines."""
    shown = (
        character if character.isprintable() or character in "\n\t" else ascii(character)[1:-1]
        for character in text
    )
    talk(f"reprobridge: {''.join(shown)}\n")


def load_command(name: str) -> Command:
    """Import a command's module."""
    return cast(Command, importlib.import_module(f"reprobridge.cli.{name}"))


def _command_first(words: list[str]) -> list[str]:
    """The words with the options of every command behind the command, where its parser knows them.

    Exits with 2 when the command is none of ours.
    """
    place = 0
    while place < len(words) and words[place].partition("=")[0] in _COMMON:
        place += 2 if words[place] == "--store" else 1
    command = words[place : place + 1]
    if command and not command[0].startswith("-") and command[0] not in COMMANDS:
        _refuse_command(command[0])
    return [*command, *words[:place], *words[place + 1 :]] if command else []


def _refuse_command(word: str) -> NoReturn:
    near = nearest(word, COMMANDS)
    meant = f"did you mean `reprobridge {near}`?" if near else "see `reprobridge --help`"
    _refuse(UsageError("no such command", expected=f"one of {', '.join(COMMANDS)}", found=word, hint=meant))


def _parser(name: str, words: Sequence[str]) -> argparse.ArgumentParser:
    """What a command understands."""
    command = load_command(name)
    # Where there is no usage, `parse_intermixed_args` writes one each time, 2 ms for a message that we do not show.
    parser = _Parser(words, prog=f"reprobridge {name}", description=command.SUMMARY, usage="")
    command.add_arguments(parser)
    add_common(parser)
    return parser


def _overview(words: Sequence[str]) -> argparse.ArgumentParser:
    """What can be asked without a command: help, and the release."""
    parser = _Parser(
        words,
        prog="reprobridge",
        allow_abbrev=False,  # of options before the command only whole ones are known
        description="Refined reproducible artifacts: lock, build, validate, run, publish, verify.",
        epilog="Options of a command stand after it: reprobridge COMMAND --help.",
    )
    parser.add_argument("--version", action="version", version=f"reprobridge {RELEASE}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=argparse.ArgumentParser)
    for name in COMMANDS:
        commands.add_parser(name, help=load_command(name).SUMMARY)
    add_common(parser)
    return parser


def add_common(parser: argparse.ArgumentParser) -> None:
    """Declare the options that every command takes."""
    common = parser.add_argument_group("everywhere")
    common.add_argument(
        "--store", type=path_word, help="store folder (default: $REPROBRIDGE_STORE or the user's cache)"
    )
    common.add_argument("--offline", action="store_true", help="fetch nothing")
    common.add_argument("--quiet", "-q", action="store_true", help="no talk on standard error")
    common.add_argument("--debug", action="store_true", help="show the traceback of an unexpected error")


class _Help(argparse.HelpFormatter):
    """As wide as the terminal. argparse asks for the width at each option, by a module that takes 5 ms to import."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    """Width of the terminal as `shutil.get_terminal_size` has it."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return int(said)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 80
    except (OSError, ValueError):
        return 80


class _Parser(argparse.ArgumentParser):
    """Says wrong words the way all our errors look, and which ones would be right."""

    def __init__(self, words: Sequence[str], **settings: Any) -> None:
        """`words` are those that it will be given."""
        super().__init__(formatter_class=_Help, **settings)
        self._words = words

    def format_help(self) -> str:
        """As ever, with the usage, which `_parser` left out."""
        self.usage = None
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Print and exit with 2."""
        from reprobridge.cli.wrong_words import usage_error

        _refuse(usage_error(self, self._words, message, sys.exc_info()[1]))


def _refuse(error: UsageError) -> NoReturn:
    _say(str(error))
    raise SystemExit(error.exit_code)


def _refused(error: OSError, chosen: Path | None) -> ReproBridgeError | None:
    """A full disk, or a path that the system refuses, of the store or of the user's, as our error; None: a bug."""
    if error.errno not in (*_FULL, *_REFUSED):
        return None
    from reprobridge.store.store import default_root, unusable

    try:
        root = (chosen or default_root()).absolute()
    except ReproBridgeError:  # no store was used
        root = None
    path = str(error.filename or "")
    if root and (error.errno in _FULL or path.startswith(f"{root}/")):
        return unusable(root, error)
    if error.errno in _FULL or not path:
        return None
    return UsageError(
        "the system refuses a file or folder",
        where=path,
        expected="a path that you may use",
        found=error.strerror,
        hint="check the path, its owner and its mode",
    )


def _report_bug(error: Exception, *, debug: bool) -> int:
    if debug:
        import traceback

        talk("".join(traceback.format_exception(error)))
    else:
        kind = type(error).__name__
        _say(
            f"unexpected {kind}: {error}\n"
            "  hint: this is a bug; please report it with the output of the same command with --debug"
        )
    return BUG
