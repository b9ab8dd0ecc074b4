"""What is wrong with the words of a command line, as our own error; imported when something is.

argparse stops at the first word that it cannot take, and tells it in a sentence. What was declared says the rest: which
option was probably meant, and what its value should have been.
"""

import argparse
import re
from collections.abc import Iterator, Sequence

from reprobridge.cli.values import WrongValue
from reprobridge.errors import UsageError
from reprobridge.wording import nearest

_NUMBER = re.compile(r"-\d*\.?\d+")
"""What argparse takes for a value although it begins as options do."""
_NO_CHOICE = re.compile(r"invalid choice: (['\"])(.*)\1 \(", re.DOTALL)
_NO_VALUE = "ignored explicit argument "
_MISSING = "the following arguments are required: "
_TOO_MANY = "unrecognized arguments: "


def usage_error(
    parser: argparse.ArgumentParser, words: Sequence[str], message: str, cause: BaseException | None
) -> UsageError:
    """The error for words that a parser refuses with this message, because of this exception if there is one."""
    actions = parser._actions  # noqa: SLF001 - argparse has no public way to ask what was declared
    hint = f"see `{parser.prog} --help`"
    names = [option for action in actions for option in action.option_strings]
    for word in _options(words):
        if error := _misspelled(word, names, may_be_short=parser.allow_abbrev, hint=hint):
            return error
    action = _refused(actions, cause)
    if action and isinstance(cause, argparse.ArgumentError):
        return _wrong_value(action, cause, hint)
    if message.startswith(_MISSING):
        missing = message.removeprefix(_MISSING).split(", ")
        needed = [action for action in actions if action.nargs != "*"]  # argparse names those too
        wanted = ", ".join(_wanted(action) for action in needed if _name(action) in missing)
        return UsageError("a word is missing", expected=wanted, found="nothing", hint=hint)
    if message.startswith(_TOO_MANY):
        return UsageError("a word too many", found=message.removeprefix(_TOO_MANY), hint=hint)
    return UsageError(message, hint=hint)


def _options(words: Sequence[str]) -> Iterator[str]:
    """Words that are options to argparse, without what is joined to them by `=`."""
    for word in words:
        if word == "--":
            return
        if word.startswith("-") and word != "-" and " " not in word and not _NUMBER.fullmatch(word):
            yield word.partition("=")[0]


def _misspelled(word: str, names: Sequence[str], *, may_be_short: bool, hint: str) -> UsageError | None:
    """The error for an option that nobody declared, or of whose name too little was typed."""
    if word in names or (not word.startswith("--") and word[:2] in names):  # -o, and -ofile
        return None
    meant = [name for name in names if may_be_short and name.startswith(word)]
    if len(meant) == 1:
        return None
    if meant:
        return UsageError("no such option", expected=f"one of {', '.join(meant)}", found=word, hint=hint)
    bare = {name.lstrip("-"): name for name in names}
    guess = nearest(word.lstrip("-"), tuple(bare))
    return UsageError(
        "no such option",
        expected=f"one of {', '.join(names)}",
        found=word,
        hint=f"did you mean {bare[guess]}? {hint}" if guess else hint,
    )


def _refused(actions: Sequence[argparse.Action], cause: BaseException | None) -> argparse.Action | None:
    """The option or word whose value argparse refused."""
    told = cause.argument_name if isinstance(cause, argparse.ArgumentError) else None
    return next((action for action in actions if told and _name(action) == told), None)


def _name(action: argparse.Action) -> str | None:
    """What argparse calls an option or word in its messages."""
    return argparse.ArgumentError(action, "").argument_name


def _wanted(action: argparse.Action) -> str:
    """What may stand there, for people."""
    if action.choices is not None:
        return f"one of {', '.join(map(str, action.choices))}"
    return str(action.metavar or action.dest.upper())


def _wrong_value(action: argparse.Action, cause: argparse.ArgumentError, hint: str) -> UsageError:
    where = action.option_strings[0] if action.option_strings else None
    if isinstance(wrong := cause.__context__, WrongValue):
        return _value_error(where, wrong.expected, wrong.found, hint)
    if told := _NO_CHOICE.match(cause.message):
        return _value_error(where, _wanted(action), told[2], hint)
    if cause.message.startswith(_NO_VALUE):
        found = cause.message.removeprefix(_NO_VALUE)
        return UsageError("the option takes no value", where=where, found=found, hint=hint)
    if cause.message.startswith("expected "):
        return UsageError(
            "the option lacks its value", where=where, expected=_wanted(action), found="nothing", hint=hint
        )
    return UsageError(cause.message, where=where, expected=_wanted(action), hint=hint)


def _value_error(where: str | None, expected: str, found: str, hint: str) -> UsageError:
    what = "the value cannot be understood" if where else "no such word"
    return UsageError(what, where=where, expected=expected, found=found or "an empty word", hint=hint)
