"""Can every task's command start? Found without running it, which may take hours.

A smoke run shows that the task's short command works; the scored one may still name a program, a script or a module
that is not in the image. Only what is certain is a problem (`spec/command.py`): of a shell's script the commands that
run whatever the others do, and of these the scripts and modules only before anything else has run that could make
them.
"""

import json
import posixpath
import re
from collections.abc import Iterator, Sequence

from reprobridge.assemble.deb_shell_syntax import Block, Command, Node, Sequel, parse_script
from reprobridge.spec.command import Kind, Need, Words, moves_search, needs, shell_script, without_assignments
from reprobridge.validate.checks.programs import STARTS
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import CODE, Subject
from reprobridge_launcher.workspace import SYSTEM_PATH

_BUILTINS = """
. : [ alias bg bind break builtin caller cd command compgen complete compopt continue coproc declare dirs disown echo
enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd
pwd read readarray readonly return select set shift shopt source suspend test time times trap true type typeset ulimit
umask unalias unset wait
"""
BUILTINS = frozenset(_BUILTINS.split())
"""What shells have in themselves."""

_HARMLESS = frozenset({":", "export", "set", "true", "ulimit", "umask", "unset"})
"""Builtins after which every file is where it was."""
_UNCERTAIN = re.compile(
    r"\b(alias|eval|exit|function|hash|PATH|return|shopt|source|trap)\b|\(\s*\)|(^|[\s;&|])\.\s"
)
"""What may end a script early, or give a name another meaning than the image does."""
_PLAIN = re.compile(r"[\w./:@%+,=^-]+")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"$`\\]*)\"")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_HINTS = {
    Kind.PROGRAM: "add its package to `apt` or to the requirements, or correct the command",
    Kind.SCRIPT: "a path is relative to the code; `source.exclude` may have dropped the file",
    Kind.SHELL_SCRIPT: "a path is relative to the code; `source.exclude` may have dropped the file",
    Kind.MODULE: "add its package to the requirements, or its folder to PYTHONPATH in `environment.variables`",
}
_UNFIT = "a change may make it executable, or the command may begin with its interpreter"


def command_problems(shell: CleanShell) -> list[str]:
    """What the scored commands name and the image does not have."""
    tasks = shell.subject.artifact.tasks
    needed = {task.id: tuple(dict.fromkeys(demanded(task.command))) for task in tasks}
    # Modules last: one whose package has to be imported may end the interpreter.
    once = dict.fromkeys(need for wanted in needed.values() for need in wanted)
    asked = sorted(once, key=lambda need: need.kind is Kind.MODULE)
    found = {need: said for need, said in zip(asked, _answers(shell, asked), strict=False) if said}
    return [
        f"{task}: command: {_problem(need, found[need], shell.subject)}"
        for task, wanted in needed.items()
        for need in wanted
        if need in found
    ]


def _problem(need: Need, found: str, subject: Subject) -> str:
    return f"expected {_expected(need)}, found {found}; hint: {_hint(need, found, subject)}"


def _answers(shell: CleanShell, asked: Sequence[Need]) -> list[str | None]:
    """What was found instead of each; none for the last ones where looking ended early."""
    if not asked:
        return []
    environment = shell.subject.artifact.environment
    python = environment.python or "python3"
    path = f"{posixpath.dirname(python)}:{SYSTEM_PATH}" if environment.python else SYSTEM_PATH
    listed = json.dumps([[need.kind.value, need.name, need.reader] for need in asked])
    answer = shell.run(
        (python, "-c", STARTS, python, f"/{CODE}", listed),
        more={"HOME": "/tmp", "PATH": path, **dict(environment.variables)},  # noqa: S108 - in the sandbox
    )
    return list(_read(answer.stdout))


def _read(printed: bytes) -> Iterator[str | None]:
    for line in printed.splitlines():
        try:
            found = json.loads(line)
        except ValueError:  # looking ended within a line
            return
        yield found if isinstance(found, str) else None


def _expected(need: Need) -> str:
    match need.kind:
        case Kind.PROGRAM if "/" not in need.name:
            return f"a program {need.name} on the PATH of tasks"
        case Kind.PROGRAM:
            return f"a program at {_place(need)}"
        case Kind.MODULE:
            return f"a module {need.name} that {need.reader} -m can run"
        case _:
            return f"a script for {need.reader} at {_place(need)}"


def _place(need: Need) -> str:
    return posixpath.normpath(posixpath.join(f"/{CODE}", need.name))


def _hint(need: Need, found: str, subject: Subject) -> str:
    """What to do; where the code has a file of that name elsewhere, which."""
    if need.kind is Kind.PROGRAM and found != "none":
        return _UNFIT
    name = posixpath.basename(need.name)
    paths = (path.removeprefix(f"{CODE}/") for path in subject.below(CODE))
    near = (
        [path for path in paths if posixpath.basename(path) == name] if need.kind is not Kind.MODULE else []
    )
    return f"did you mean {min(near, key=len)}?" if near else _HINTS[need.kind]


# what a command needs


def demanded(command: Words) -> Iterator[Need]:
    """What a command needs, that of a script behind a shell's `-c` included."""
    yield from needs(command)
    if script := shell_script(command):
        text, stops = script
        if not _UNCERTAIN.search(text):
            try:
                block = parse_script(text)
            except (ValueError, RecursionError, IndexError):
                return
            yield from _Script(stops=stops).demanded(block)


class _Script:
    """Follows a script command by command."""

    def __init__(self, *, stops: bool) -> None:
        self._stops = stops
        """Whether a command that fails ends the script."""
        self._fresh = True
        """Whether nothing has run that makes or moves files, and the folder is still that of the code."""
        self._moved = False
        """Whether a variable changes where modules are looked for."""

    def demanded(self, block: Block) -> Iterator[Need]:
        """What the script needs whatever its commands do."""
        for node in block:
            chain = _chain(node)
            if chain is None:
                return
            for command in chain:
                yield from self._of(command, certain=node is block[-1] or (self._stops and len(chain) == 1))
                if command.words[:1] == ("exec",):
                    return

    def _of(self, command: Command, *, certain: bool) -> Iterator[Need]:
        words, names = without_assignments([_literal(word) for word in command.words])
        moved = self._moved or moves_search(names)
        if words[:1] == ["exec"]:
            words = words[1:]
        if not words:
            self._moved = moved
            return
        if words[0] in BUILTINS:
            self._builtin(words)
            return
        for need in needs(words) if certain else ():
            named = need.kind is Kind.PROGRAM and "/" not in need.name and need.name not in BUILTINS
            if named or (self._fresh and not (moved and need.kind is Kind.MODULE)):
                yield need
        self._fresh = False

    def _builtin(self, words: Words) -> None:
        if words[0] == "set":
            flags = [word or "?" for word in words[1:]]
            self._stops = not any(flag[0] in "+?" for flag in flags) and (
                self._stops or "errexit" in flags or any("e" in flag for flag in flags if flag[0] == "-")
            )
        elif words[0] == "export":
            names = {(word or "PATH=").partition("=")[0] for word in words[1:]}
            self._moved = self._moved or moves_search(frozenset(names))
        self._fresh = self._fresh and words[0] in _HARMLESS


def _chain(node: Node) -> list[Command] | None:
    """The commands of `a && b && c`; None for everything else."""
    match node:
        case Command():
            return [node]
        case Sequel(left, "&&", right):
            first, then = _chain(left), _chain(right)
            return None if first is None or then is None else [*first, *then]
    return None


def _literal(word: str) -> str | None:
    """What the shell makes of a word; of an assignment only the name counts. None: that is not known here."""
    if _PLAIN.fullmatch(word):
        return word
    if quoted := _QUOTED.fullmatch(word):
        return quoted[1] if quoted[1] is not None else quoted[2]
    assigned = _ASSIGNED.match(word)
    return assigned[0] if assigned else None
