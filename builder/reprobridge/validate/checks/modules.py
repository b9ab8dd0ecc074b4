"""Can the environment's modules be imported? Those that the author says can't be are named, with the reason."""

import json
import re
from collections.abc import Mapping

from reprobridge.errors import ArtifactError
from reprobridge.oci.tar import EntryKind
from reprobridge.validate.checks.importable import importable
from reprobridge.validate.checks.programs import IMPORTS
from reprobridge.validate.checks.written import written
from reprobridge.validate.model import Finding, judged, passed
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import ENVIRONMENT, Subject

LIMIT = 1200.0
"""Seconds that importing everything may take."""
NO_MODULES = frozenset(
    {"test", "tests", "testing", "doc", "docs", "example", "examples", "benchmark", "benchmarks"}
)
"""Top-level names that are no modules to use: packages ship them by mistake, and they need tools to be imported."""
HINT = "a module that needs what no clean shell has is named below environment.python.not_imported, with the reason"
"""What an author can do about a module that can't be imported."""

_SITE = re.compile(rf"{ENVIRONMENT}/lib/python[0-9.]+/site-packages/")


def check_imports(shell: CleanShell) -> Finding:
    """Import every topmost module, all in one process; what fails there is tried alone before it is called broken."""
    environment = shell.subject.artifact.environment
    if environment.python is None:
        return passed("the artifact has no Python environment")
    try:
        excepted = exceptions(shell.subject)
    except ArtifactError as error:
        return judged([str(error)], "")
    modules = topmost_modules(shell.subject)
    names = [
        name for name in modules if not any(name == own or name.startswith(f"{own}.") for own in excepted)
    ]
    failures = _failures(shell, environment.python, names) if names else {}
    problems = [f"{name}: {failures[name]}" for name in sorted(failures)]
    problems += [f"hint: {HINT}"] if problems else []
    problems += [
        f"environment.python.not_imported: {own}: expected a module of the environment, found none"
        for own in excepted
        if own not in modules and not any(name.startswith(f"{own}.") for name in modules)
    ]
    shown = f"{', '.join(names[:12])}{', …' if len(names) > 12 else ''}"
    said = "".join(f"; not {own}: {why}" for own, why in excepted.items())
    return judged(problems, f"{len(names)} modules imported{': ' * bool(names)}{shown}{said}")


def exceptions(subject: Subject) -> dict[str, str]:
    """Modules that the author says can't be imported, each with the reason. Raises ArtifactError."""
    return dict(written(subject, "environment", "python", "not_imported") or {})


def topmost_modules(subject: Subject) -> tuple[str, ...]:
    """What the environment's site-packages offer to `import`, sorted, modules of namespaces with their dots.

    Private ones are left out.
    """
    paths = (
        path[site.end() :]
        for path, placed in subject.below(ENVIRONMENT).items()
        if placed.entry.kind != EntryKind.DIRECTORY.value and (site := _SITE.match(path))
    )
    return tuple(name for name in importable(paths) if _is_public(name.split(".")))


def _is_public(parts: list[str]) -> bool:
    return parts[0] not in NO_MODULES and not any(part.startswith("_") for part in parts)


def _failures(shell: CleanShell, python: str, names: list[str]) -> Mapping[str, str]:
    """Why modules can't be imported, by name."""
    variables = {"HOME": "/tmp", "MPLCONFIGDIR": "/tmp/matplotlib"}  # noqa: S108 - in the sandbox
    more = {**variables, **dict(shell.subject.artifact.environment.variables)}
    answer = shell.run((python, "-I", "-c", IMPORTS, *names), timeout=LIMIT, more=more)
    try:
        failures = json.loads(answer.stdout.splitlines()[-1])
        return {str(name): str(failures[name]) for name in failures}
    except (ValueError, IndexError, TypeError):
        return {"importing ended early": answer.failure}
