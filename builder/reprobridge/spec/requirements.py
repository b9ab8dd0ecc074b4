"""Whether a requirements file stands for itself, so that its bytes say everything that was asked for.

Options would bring in files and indexes that nobody hashed; reprobridge.yaml has keys for them. The file is
published with the image, comments included, so no address in it may hold a login. The requirements themselves are
read by the resolver.
"""

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
    """Report every line that is an option or holds a login."""
    text = reading.text(node, data) or ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("-"):
            option = line.split()[0].partition("=")[0]
            found = f"{shown(line.strip())} in line {number}"
            reading.report(
                node, "requirements without options", found, _KEYS.get(option, "leave the option out")
            )
        elif has_login(line):
            found = f"{shown(line.strip())} in line {number}"
            reading.report(node, "addresses without password or token", found, LOGIN_HINT)
