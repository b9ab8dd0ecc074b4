"""Which parts of a guide are executed: fenced code blocks whose info string is `console`.

In a block, a line that begins with `$ ` is a command (`> ` continues it on the next lines), and the lines below
it, up to the next command, are its expected standard output. A last line `[exit 3]` says that the command ends
with that status; without it, every command must succeed.
"""

import re

from reprobridge.frozen import frozen

INFO = "console"
"""First word of an executable block's info string."""

_EXIT = re.compile(r"\[exit ([0-9]{1,3})\]")


@frozen
class Step:
    """One command of a guide and what it is said to do."""

    line: int
    """Number of the command's line in the guide, from 1."""
    command: str
    """Shell text, perhaps several lines."""
    expected: str
    """Expected standard output, lines without a final newline."""
    status: int = 0
    """Expected exit status."""


@frozen
class Stray:
    """A place in an executable block that belongs to no command: a mistake of its author."""

    line: int
    """Number of the line in the guide, from 1."""


def steps_of(text: str) -> list[Step | Stray]:
    """Every command of a Markdown text, in order."""
    from markdown_it import MarkdownIt

    found: list[Step | Stray] = []
    for token in MarkdownIt().parse(text):
        if token.type == "fence" and token.info.split()[:1] == [INFO] and token.map:
            found += _steps(token.content.split("\n"), token.map[0] + 2)
    return found


def _steps(lines: list[str], first: int) -> list[Step | Stray]:
    """The commands of a block whose first line has this number; something else above them is stray."""
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    head = lines[: starts[0]] if starts else lines
    stray = [Stray(first + number) for number, line in enumerate(head) if line.strip()][:1]
    ends = [*starts[1:], len(lines)]
    steps = [_step(lines[start:end], first + start) for start, end in zip(starts, ends, strict=False)]
    return [*stray, *steps] or [Stray(first)]


def _step(lines: list[str], line: int) -> Step:
    count = 1
    while count < len(lines) and (lines[count].startswith("> ") or lines[count] == ">"):
        count += 1
    command = "\n".join(text[2:] for text in lines[:count])
    expected = [text.rstrip() for text in lines[count:]]
    while expected and not expected[-1]:
        expected.pop()
    ending = _EXIT.fullmatch(expected[-1]) if expected else None
    return Step(
        line,
        command,
        "\n".join(expected[:-1] if ending else expected),
        int(ending[1]) if ending else 0,
    )
