"""`shell`: look around where tasks run."""

import os

from reprobridge_launcher import arguments, cparts, manifest, outcome, terminal, workspace
from reprobridge_launcher.layout import Layout

USAGE = """Usage: shell [-- COMMAND...]

Opens a shell, or runs a command, in a fresh copy of the code with the tasks' environment.  What happens there is
no evidence.  It reads what is typed or piped: docker run -it, or docker run -i.
"""
FLAGS = ()  # type: tuple[str, ...]
VALUED = ()  # type: tuple[str, ...]
SHELLS = ("/bin/bash", "/bin/sh")
"""Best first."""


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Become the shell or the command."""
    arguments.none_left(arguments.Arguments(options={}, operands=given.operands, extra=()), 0)
    artifact = manifest.load(layout.manifest)
    space = workspace.prepare(layout, None)
    outputs = os.path.join(space.folder, "outputs")
    os.mkdir(outputs)
    variables = dict(workspace.variables(artifact.environment, layout, space, {"RRA_OUT": outputs}))
    if "TERM" in os.environ:
        variables["TERM"] = os.environ["TERM"]
    os.chdir(space.code)
    argv = list(given.extra)
    if not argv:
        argv = [shell for shell in SHELLS if os.path.exists(shell)][:1]
        terminal.talk("in a fresh copy of the code ({}); leave with exit\n".format(space.code))
    if not argv:
        raise outcome.StopError(outcome.UNFIT, "the image has no shell", "shell -- COMMAND")
    signals = cparts.signals()
    for number in (
        signals.SIGPIPE,
        signals.SIGXFSZ,
    ):  # which Python ignores, and so would all that is started
        signals.signal(number, signals.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, variables)  # noqa: S606 - no shell is what we want
    except OSError as error:
        message = "can't run {}: {}".format(argv[0], error.strerror)
        raise outcome.StopError(outcome.FAILED, message) from None
