"""Can every task's command start? Found without running it, which may take hours.

A smoke run shows that the task's short command works; the scored one may still name a program, a script or a module
that is not in the image. Only what is certain is a problem (`spec/command.py`, `demands.py`).
"""

import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence

from reprobridge.spec.command import Kind, Need, is_fixed
from reprobridge.validate.checks.demands import demanded
from reprobridge.validate.checks.programs import STARTS
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import CODE, PROFILE, Subject
from reprobridge_launcher.workspace import SYSTEM_PATH

PORTION = 64 << 10
"""Bytes of needs that one run is asked about: Linux takes no argument over 128 KiB."""

_HINTS = {
    Kind.PROGRAM: "add its package to `apt` or to the requirements, or correct the command",
    Kind.SCRIPT: "a path is relative to the code; `source.exclude` may have dropped the file",
    Kind.SHELL_SCRIPT: "a path is relative to the code; `source.exclude` may have dropped the file",
    Kind.MODULE: "add its package to the requirements, or its folder to PYTHONPATH in `environment.variables`",
}
_UNFIT = (
    (
        "a file that is not executable",
        "a change may make it executable, or the command may begin with its interpreter",
    ),
    ("a text without", "begin it with a #! line, or the command with its interpreter"),
    ("a package without", "add a __main__.py to it, or name one of its modules"),
    (r"\r'", "its lines end in CR LF, which Linux reads as part of the name: store it with LF alone"),
    ("a script for", "add that interpreter's package to `apt`, or begin the command with the right one"),
)
"""What to do where something else was found, by how that begins or by what it contains."""


def command_problems(shell: CleanShell) -> list[str]:
    """What the scored commands name and the image does not have."""
    tasks = shell.subject.artifact.tasks
    variables = dict(shell.subject.artifact.environment.variables)
    plain = set(shell.subject.below(posixpath.dirname(PROFILE))) == {PROFILE}
    needed = {task.id: tuple(demanded(task.command, variables, plain_profile=plain)) for task in tasks}
    once = dict.fromkeys(need for wanted in needed.values() for need in wanted if _decided(need, variables))
    # Modules last: one whose package has to be imported may end the interpreter.
    asked = sorted(once, key=lambda need: need.kind is Kind.MODULE)
    found = dict(_found(shell, asked))
    problems = [
        f"{task}: command: {_problem(need, found[need], shell.subject)}"
        for task, wanted in needed.items()
        for need in wanted
        if need in found
    ]
    return list(dict.fromkeys(problems))


def _decided(need: Need, variables: Mapping[str, str]) -> bool:
    """Whether the image alone decides it: nothing is looked for in folders that are filled when a task runs."""
    if need.kind is Kind.MODULE:
        return _lasting(variables.get("PYTHONPATH", ""))
    if need.kind is Kind.SCRIPT or "/" in need.name:
        return True
    path = variables.get("PATH", SYSTEM_PATH)
    return _lasting(path) and all(folder.startswith("/") for folder in path.split(":"))


def _lasting(path: str) -> bool:
    return all(is_fixed(f"{folder}/") for folder in path.split(":"))


def _problem(need: Need, found: str, subject: Subject) -> str:
    return f"expected {_expected(need)}, found {found}; hint: {_hint(need, found, subject)}"


def _found(shell: CleanShell, asked: Sequence[Need]) -> Iterator[tuple[Need, str]]:
    """What was found instead of those that are missing; none of the last ones where looking ended early."""
    environment = shell.subject.artifact.environment
    python = environment.python or "python3"
    # The launcher's folder is on the PATH of login shells alone; nobody's program is looked for there.
    path = f"{posixpath.dirname(python)}:/rra/bin:{SYSTEM_PATH}" if environment.python else SYSTEM_PATH
    more = {"HOME": "/tmp", "PATH": path, **dict(environment.variables)}  # noqa: S108 - in the sandbox
    for portion in portions(asked):
        listed = json.dumps([_question(need) for need in portion])
        answer = shell.run((python, "-c", STARTS, python, f"/{CODE}", listed), more=more)
        yield from ((need, said) for need, said in zip(portion, _read(answer.stdout), strict=False) if said)


def portions(asked: Sequence[Need]) -> Iterator[list[Need]]:
    """The needs in as many parts as it takes; what is too long for any part is no name that a file can have."""
    portion, size = list[Need](), 0
    for need in asked:
        length = len(json.dumps(_question(need))) + 2
        if length > PORTION:
            continue
        if size + length > PORTION:
            yield portion
            portion, size = [], 0
        portion.append(need)
        size += length
    if portion:
        yield portion


def _question(need: Need) -> list[str]:
    return [need.kind.value, need.name, need.reader]


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
    if found == "a folder":
        inside = (
            "add a __main__.py to it, or " if need.kind is Kind.SCRIPT and "python" in need.reader else ""
        )
        return f"{inside}name a file in it"
    if found != "none":
        return next((hint for said, hint in _UNFIT if said in found), _HINTS[need.kind])
    if need.kind is Kind.MODULE:
        return "a module is named without .py" if need.name.endswith(".py") else _HINTS[need.kind]
    near = _near(need, subject)
    return f"did you mean {min(near, key=len)}?" if near else _HINTS[need.kind]


def _near(need: Need, subject: Subject) -> list[str]:
    """Files of the code with the same last name, as the command would name them."""
    paths = (path.removeprefix(f"{CODE}/") for path in subject.below(CODE))
    same = [path for path in paths if posixpath.basename(path) == posixpath.basename(need.name)]
    if need.kind is Kind.PROGRAM:
        return [f"./{path}" for path in same if f"./{path}" != need.name]
    return [path for path in same if path != posixpath.normpath(need.name)]
