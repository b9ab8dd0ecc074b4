"""Entry of the launcher: finds the command, runs it, and turns what stops it into messages and exit codes."""

from reprobridge_launcher import layout, outcome, terminal
from reprobridge_launcher.arguments import parse, similar

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Any

COMMANDS = (
    ("list", "listing", "list the tasks with the published values that they measure"),
    ("show", "show", "show everything about a task"),
    ("run", "run", "run tasks, measure, and compare with the published value and the interval"),
    ("smoke", "smoke", "show quickly that tasks start and measure"),
    ("guide", "guide", "print the guide"),
    ("changes", "changes", "print what was changed in the paper's code, and why"),
    ("decisions", "decisions", "print ambiguities, pitfalls and open choices"),
    ("check", "check", "check code, environment, data, hardware, disk and memory"),
    ("fetch", "fetch", "tell where the data sets are"),
    ("extract", "extract", "read a task's value again from the folder of a run"),
    ("env", "env", "print the environment of the tasks"),
    ("shell", "shell", "open a shell in a fresh copy of the code"),
)
"""Name, module and summary of each command."""


def main(words: "list[str]", root: str = "/rra") -> int:
    """Run a command line and return the exit code; `root` is the folder that holds the artifact."""
    terminal.occupy()
    try:
        return _execute(words, root)
    except outcome.StopError as stop:
        _say(str(stop), stop.hint)
        return stop.code
    except ValueError as error:
        if type(error).__name__ != "FormatError":  # importing its module costs time that most runs don't need
            raise
        _say(str(error), "the image is broken: pull or load it again")
        return outcome.BROKEN
    except KeyboardInterrupt:
        return outcome.FAILED
    except BrokenPipeError:
        return outcome.FAILED  # whoever read our output has gone
    except OSError as error:
        _say(str(error), "check tells about disk, memory and temporary folder")
        return outcome.FAILED


def _execute(words: "list[str]", root: str) -> int:
    name = words[0] if words else "list"
    if name in ("-h", "--help", "help"):
        terminal.out(_usage())
        return outcome.MEASURED
    names = tuple(command[0] for command in COMMANDS)
    if name not in names:
        hint = similar(name, names) or "commands: " + ", ".join(names)
        raise outcome.StopError(outcome.USAGE, "unknown command {}".format(name), hint)
    command = _module(name)
    rest = words[1:]
    own = rest[: rest.index("--")] if "--" in rest else rest
    if "-h" in own or "--help" in own:
        terminal.out(command.USAGE)
        return outcome.MEASURED
    return int(command.execute(layout.of_root(root), parse(rest, command.FLAGS, command.VALUED)))


def _module(name: str) -> "Any":
    module = next(command[1] for command in COMMANDS if command[0] == name)
    package = __import__("reprobridge_launcher.commands." + module)
    return getattr(package.commands, module)


def _usage() -> str:
    lines = ["Usage: docker run [options] IMAGE [COMMAND] [ARGUMENTS]", "", "Commands:"]
    lines += ["  {:<10} {}".format(name, summary) for name, _module_name, summary in COMMANDS]
    lines += [
        "",
        "No command means list.  COMMAND --help says more.",
        "Exit codes: 0 measured; 2 usage, or no place for evidence; 3 data missing; 4 hardware or driver unfit",
        "(run --anyway runs there all the same);",
        "5 the command failed, timed out or was stopped, or the evidence can't be written; 6 nothing, or more than",
        "one thing, extracted; 7 integrity broken; 8 not compatible, with --require-compatible.",
        "",
    ]
    return "\n".join(lines)


def _say(message: str, hint: str) -> None:
    terminal.talk("rra: {}\n".format(message) + ("hint: {}\n".format(hint) if hint else ""))
