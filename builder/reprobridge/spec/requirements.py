"""Whether a requirements file stands for itself, so that its bytes say everything that was asked for.

Options would bring in files and indexes that nobody hashed; reprobridge.yaml has keys for them. The file is
published with the image, comments included, so no address in it may hold a login. The requirements themselves are
read when they are locked; where something is wrong anyway they are read here, so that all is told at once.
"""

from collections.abc import Collection

from reprobridge.errors import Problem
from reprobridge.spec.nodes import Node, shown
from reprobridge.spec.reading import Reading
from reprobridge.spec.scalars import LOGIN_HINT
from reprobridge.wording import has_login

_KEYS = {
    "-r": "write all requirements in one file",
    "--requirement": "write all requirements in one file",
    "-c": "name the file in environment.python.constraints",
    "--constraint": "name the file in environment.python.constraints",
    "-i": "name the index in environment.python.indexes",
    "--index-url": "name the index in environment.python.indexes",
    "--extra-index-url": "name the index in environment.python.indexes",
    "-e": "the paper's own code belongs into source",
    "--editable": "the paper's own code belongs into source",
}


def check_requirements(node: Node, data: bytes, reading: Reading) -> None:
    """Report every line that is an option or holds a login; when anything is wrong, what can't be read too."""
    text = reading.text(node, data) or ""
    told: set[int] = set()
    for number, line in enumerate(text.splitlines(), 1):
        before = reading.count
        if line.lstrip().startswith("-"):
            option = line.split()[0].partition("=")[0]
            found = f"{shown(line.strip())} in line {number}"
            reading.report(
                node, "requirements without options", found, _KEYS.get(option, "leave the option out")
            )
        elif has_login(line):
            found = f"{shown(line.strip())} in line {number}"
            reading.report(node, "addresses without password or token", found, LOGIN_HINT)
        if reading.count > before:
            told.add(number)
    reading.look_closer(lambda: _check_lines(node, text, told, reading))


def _check_lines(node: Node, text: str, told: Collection[int], reading: Reading) -> None:
    """Report every requirement that can't be locked, but for those on lines of which something was told."""
    from reprobridge.spec.requirement_lines import read_requirement, requirement_lines

    for line in requirement_lines(text):
        if any(number in told for number in range(line.first, line.last + 1)):
            continue
        if isinstance(problem := read_requirement(node.place, line.text), Problem):
            found = f"{problem.found} in line {line.first}"
            reading.report(node, problem.expected, found, problem.hint)
