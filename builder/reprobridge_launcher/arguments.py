"""Command lines: options, operands, and what comes after `--`.

`argparse` takes 0.15 s to import without bytecode, more than a whole run may cost.
"""

from reprobridge_launcher.outcome import USAGE, StopError
from reprobridge_launcher.record import Record


class Arguments(Record):
    """A parsed command line."""

    options: "dict[str, str]"
    """Option to its value; flags have an empty one."""
    operands: "tuple[str, ...]"
    """Words that are no options."""
    extra: "tuple[str, ...]"
    """Words after `--`."""

    def has(self, flag: str) -> bool:
        """Was the flag given?"""
        return flag in self.options

    def whole(self, option: str, least: int) -> "int | None":
        """Value of an option as a whole number of at least `least`; None where it wasn't given."""
        if option not in self.options:
            return None
        text = self.options[option]
        if not text.isdecimal() or int(text) < least:
            raise StopError(
                USAGE, "{}: expected a whole number of at least {}, found {}".format(option, least, text)
            )
        return int(text)


def parse(words: "list[str]", flags: "tuple[str, ...]", valued: "tuple[str, ...]") -> Arguments:
    """Sort words into options, operands and the rest; StopError for what is unknown or incomplete."""
    options = {}  # type: dict[str, str]
    operands = []  # type: list[str]
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return Arguments(options=options, operands=tuple(operands), extra=tuple(left))
        name, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            operands.append(word)
        elif name in valued:
            if not equals and not left:
                raise StopError(USAGE, "{} needs a value".format(name))
            options[name] = value if equals else left.pop(0)
        elif word in flags:
            options[word] = ""
        else:
            known = flags + valued
            hint = "options: " + ", ".join(known) if known else "this command takes no options"
            raise StopError(USAGE, "unknown option {}".format(word), similar(word, known) or hint)
    return Arguments(options=options, operands=tuple(operands), extra=())


def none_left(arguments: Arguments, operands: int) -> None:
    """Refuse more than so many operands, and words after `--`."""
    for word in arguments.operands[operands:] + arguments.extra:
        raise StopError(USAGE, "unexpected {}".format(word))


def similar(word: str, known: "tuple[str, ...]") -> str:
    """Suggest what was meant; empty where nothing is near."""
    import difflib

    near = difflib.get_close_matches(word, known, 1, 0.6)
    return "did you mean {}?".format(near[0]) if near else ""
