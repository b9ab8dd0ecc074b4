"""What must not be in an image: secrets, version control, caches, score files.

Looked for outside the base system, in files that nobody has published: what the RECORD of a distribution from an
index lists was public before it came into the image (tornado's test keys, for example), everything else is the
author's, packages built from a folder or a repository included. Bytecode of a distribution's modules is nobody's
own, if it is of the kind that a build makes and no running program.
"""

import csv
import io
import json
import posixpath
from collections.abc import Callable, Iterator

from reprobridge.errors import ArtifactError
from reprobridge.lock.exclusion import Exclusion, is_version_control
from reprobridge.lock.leaks import SEARCHED, is_secret_file, secrets_of
from reprobridge.oci.tar import EntryKind
from reprobridge.system.bytecode_frontend import UNCHECKED
from reprobridge.validate.checks.written import written
from reprobridge.validate.model import Finding, judged
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import BASE_SYSTEM, CODE, ENVIRONMENT, Placed, Subject
from reprobridge.wording import counted

CACHES = frozenset(
    {
        "__pycache__",
        ".cache",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".tox",
        ".nox",
        ".eggs",
        ".npm",
    }
)
"""Names of folders that tools make for themselves."""


def check_secrets(shell: CleanShell) -> Finding:
    """Search names and contents; the evidence names the place, never the secret."""
    looked = authored(shell.subject)
    problems = [
        problem for path, placed in looked.items() for problem in _secrets(shell.subject, path, placed)
    ]
    return judged(problems, f"{counted(len(looked), 'path')} searched")


def _secrets(subject: Subject, path: str, placed: Placed) -> Iterator[str]:
    if placed.entry.kind == EntryKind.FILE.value:
        data = b"" if is_secret_file(path) else subject.read(path, SEARCHED)
        yield from secrets_of(f"/{path}", data or b"")


def check_history(shell: CleanShell) -> Finding:
    """Look for version control's folders."""
    looked = authored(shell.subject)
    return judged(_tops(looked, is_version_control), f"{counted(len(looked), 'path')} looked at")


def check_caches(shell: CleanShell) -> Finding:
    """Look for folders of caches, and for bytecode that no build made."""
    looked = authored(shell.subject)
    return judged(_tops(looked, _is_cache), f"{counted(len(looked), 'path')} looked at")


def _is_cache(name: str) -> bool:
    return name in CACHES or name.endswith(".pyc")


def _tops(looked: dict[str, Placed], fits: Callable[[str], bool]) -> list[str]:
    """Each topmost path whose last component fits, with the number of files below it."""
    counts: dict[str, int] = {}
    for path in looked:
        parts = path.split("/")
        depth = next((depth for depth, part in enumerate(parts, 1) if fits(part)), 0)
        if depth:
            top = "/" + "/".join(parts[:depth])
            counts[top] = counts.get(top, 0) + 1
    return [f"{top}: {counted(count, 'path')}" for top, count in sorted(counts.items())]


def check_scores(shell: CleanShell) -> Finding:
    """Look for files of the code that the specification excludes from the source."""
    try:
        globs = list(written(shell.subject, "source", "exclude") or ())
    except ArtifactError as error:
        return judged([str(error)], "")
    exclusion = Exclusion(globs)
    prefix = len(CODE) + 1
    files = [path[prefix:] for path, placed in shell.subject.below(CODE).items() if _is_no_folder(placed)]
    excluded = [path for path in files if not is_version_control(path) and exclusion.covers(path)]
    problems = [f"/{CODE}/{path}: the source's `exclude` names it" for path in excluded]
    return judged(
        problems, f"{counted(len(files), 'file')} of the code, {counted(len(globs), 'excluded pattern')}"
    )


def _is_no_folder(placed: Placed) -> bool:
    return placed.entry.kind != EntryKind.DIRECTORY.value


# who wrote what


def authored(subject: Subject) -> dict[str, Placed]:
    """Files and links outside the base system that no distribution has published."""
    records = dict(_records(subject))
    published = {path for info, paths in records.items() if _is_published(subject, info) for path in paths}
    modules = {path for paths in records.values() for path in paths}
    return {
        path: placed
        for path, placed in subject.root.items()
        if _is_no_folder(placed) and path.partition("/")[0] not in BASE_SYSTEM and path not in published
        if not (_source_of(path) in modules and _is_unchecked(subject, path))
    }


def _is_published(subject: Subject, info: str) -> bool:
    """Whether a distribution comes from an index, or is a wheel at an address.

    What was built from a folder, a repository or an archive has a direct_url.json (PEP 610) that says so.
    """
    data = subject.read(f"{info}/direct_url.json")
    if data is None:
        return True
    try:
        return str(json.loads(data)["url"]).partition("#")[0].endswith(".whl")
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def _source_of(path: str) -> str | None:
    """The source whose bytecode would stand here (PEP 3147)."""
    folder, _, name = path.rpartition("/")
    if not (
        folder.startswith(f"{ENVIRONMENT}/") and folder.endswith("/__pycache__") and name.endswith(".pyc")
    ):
        return None
    return f"{folder.removesuffix('__pycache__')}{name.rsplit('.', 2)[0]}.py"


def _is_unchecked(subject: Subject, path: str) -> bool:
    """Whether it is bytecode that holds for good (PEP 552); what a program leaves holds until its source is newer."""
    return (subject.read(path, 8) or b"")[4:] == UNCHECKED.to_bytes(4, "little")


def _records(subject: Subject) -> Iterator[tuple[str, set[str]]]:
    """The metadata folder of each of the environment's distributions, and the paths that its RECORD lists."""
    for path in subject.below(ENVIRONMENT):
        if path.endswith(".dist-info/RECORD"):
            site = path.rsplit("/", 2)[0]
            text = (subject.read(path) or b"").decode("utf-8", "replace")
            rows = csv.reader(io.StringIO(text, newline=""))
            yield (
                path.rpartition("/")[0],
                {posixpath.normpath(posixpath.join(site, row[0])) for row in rows if row},
            )
