"""Reading an artifact's specification: `read_spec` is the stage's entry point.

All problems of the file and of the files that it names are collected and raised together.
"""

from collections.abc import Collection
from pathlib import Path, PurePosixPath

from reprobridge.errors import Problem, SpecError
from reprobridge.frozen import replace
from reprobridge.spec.crosscheck import check_ids, check_repairs
from reprobridge.spec.document import DOCUMENT
from reprobridge.spec.model import Spec
from reprobridge.spec.named import FILE_NAME, read_regular
from reprobridge.spec.reading import Reading
from reprobridge.spec.shapes import Invalid
from reprobridge.spec.templates import template_names
from reprobridge.spec.tree import BrokenYamlError, Memory, tree_of
from reprobridge.system.files import obstacle


def read_spec(
    folder: Path, *, templates: Collection[str] | None = None, memory: Memory | None = None
) -> Spec:
    """Read and check `folder`/reprobridge.yaml and every file that it names.

    `templates` are the base systems that may be named; None: those of this release. `memory` keeps the file's
    tree for the next time.
    Raises SpecError with everything that is wrong.
    """
    path, data = folder / FILE_NAME, _bytes(folder)
    reading = Reading(folder, template_names() if templates is None else templates)
    spec = _read(data, reading, memory)
    if spec is None:
        raise SpecError(reading.all_problems(), where=str(path))
    return spec


def _bytes(folder: Path) -> bytes:
    try:
        data = read_regular(str(folder / FILE_NAME))
    except OSError as error:
        link = obstacle(folder / FILE_NAME) if isinstance(error, FileNotFoundError) else None
        found = link or error.strerror or str(error)
    else:
        if data is not None:
            return data
        found = "a folder, pipe or device"
    hint = "`reprobridge init NAME` makes an artifact to start from"
    raise SpecError([Problem(FILE_NAME, "a file that can be read", found, hint)], where=str(folder))


def _read(data: bytes, reading: Reading, memory: Memory | None) -> Spec | None:
    """The specification, or None after at least one report."""
    reading.files[PurePosixPath(FILE_NAME)] = data
    try:
        root = tree_of(data, FILE_NAME, memory)
    except BrokenYamlError as error:
        reading.add(error.problem)
        return None
    spec = DOCUMENT.read(root, reading)
    check_ids(root, reading)
    check_repairs(root, reading)
    if isinstance(spec, Invalid) or reading.count:
        return None
    return replace(spec, files=dict(sorted(reading.files.items())))
