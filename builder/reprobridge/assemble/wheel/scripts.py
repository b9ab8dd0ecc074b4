"""The scripts of a wheel: wrappers of entry points, and shipped scripts with `#!python` in the first line.

The text stands here and comes from no library, because it reaches image bytes; it is pip's since 25.0.
"""

from collections.abc import Iterable, Iterator

from reprobridge.assemble.wheel.layout import INTERPRETER, SCRIPTS
from reprobridge.assemble.wheel.metadata import EntryPoint, WheelMetadata
from reprobridge.frozen import replace

PLACEHOLDER = b"#!python"
"""How the first line of a script begins that wants the environment's interpreter; `#!pythonw` too."""

_TEXT = """\
#!{interpreter}
import sys
from {module} import {name}
if __name__ == '__main__':
    if sys.argv[0].endswith('.exe'):
        sys.argv[0] = sys.argv[0][:-4]
    sys.exit({attribute}())
"""


def wrappers(metadata: WheelMetadata, python: str) -> dict[str, bytes]:
    """Path and text of the script of every entry point."""
    console = {point.name: point for point in _versioned(metadata.console, python)}
    points = {**console, **{point.name: point for point in metadata.gui}}
    return {f"{SCRIPTS}/{name}": _text(points[name]) for name in sorted(points)}


def rewritten(script: bytes) -> bytes:
    """A shipped script for the environment's interpreter; arguments in its first line are dropped, as by pip."""
    _, newline, rest = script.partition(b"\n")
    return b"#!" + INTERPRETER.encode() + b"\n" + rest if newline else b"#!" + INTERPRETER.encode() + b"\n"


def _text(point: EntryPoint) -> bytes:
    name = point.attribute.partition(".")[0]
    return _TEXT.format(
        interpreter=INTERPRETER, module=point.module, name=name, attribute=point.attribute
    ).encode()


def _versioned(points: Iterable[EntryPoint], python: str) -> Iterator[EntryPoint]:
    """The names of pip and setuptools hold the version of the Python that built them; pip puts that right."""
    found = {point.name: point for point in points}
    major = python.partition(".")[0]
    fixed = {"pip": [f"pip{major}", f"pip{python}"], "easy_install": [f"easy_install-{python}"]}
    for name, point in found.items():
        base = next((base for base in fixed if base in found and _is_versioned(name, base)), None)
        if base is None:
            yield point
        elif name == base:
            yield from (replace(point, name=each) for each in [base, *fixed[base]])


def _is_versioned(name: str, base: str) -> bool:
    rest = name.removeprefix(base).removeprefix("-" if base == "easy_install" else "")
    return name.startswith(base) and all(part.isdigit() for part in rest.split(".") if rest)
