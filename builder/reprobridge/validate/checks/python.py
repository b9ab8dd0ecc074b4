"""The Python environment: are the distributions the locked ones, and do they fit each other?"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from reprobridge.frozen import frozen
from reprobridge.spec.package_name import normalized
from reprobridge.validate.checks.programs import MARKERS
from reprobridge.validate.model import Finding, judged, passed
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import ENVIRONMENT, Subject
from reprobridge.wording import counted

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_METADATA = re.compile(rf"{ENVIRONMENT}/lib/python[0-9.]+/site-packages/[^/]+\.dist-info/METADATA")


@frozen
class Distribution:
    """An installed distribution as its METADATA describes it."""

    name: str
    """Normalised (PEP 503)."""
    version: str
    """Its version."""
    requires: tuple[str, ...]
    """Requires-Dist lines."""
    requires_python: str | None
    """Requires-Python."""


def check_requirements(shell: CleanShell) -> Finding:
    """Compare what is installed with the lock, and each distribution's requirements with the others."""
    artifact = shell.subject.artifact
    if artifact.environment.python is None:
        return passed("the artifact has no Python environment")
    installed = {found.name: found for found in distributions(shell.subject)}
    answer = shell.run((artifact.environment.python, "-I", "-c", MARKERS))
    try:
        markers = {str(name): str(value) for name, value in json.loads(answer.stdout).items()}
    except (ValueError, AttributeError):
        return judged([f"{artifact.environment.python}: does not start: {answer.failure}"], "")
    locked = {item.name: item.version for item in artifact.environment.distributions}
    problems = [*_lock_problems(locked, installed), *requirement_problems(installed, markers)]
    return judged(
        problems,
        f"the requirements of {counted(len(installed), 'distribution')} hold for Python {markers['python_full_version']}",
    )


def distributions(subject: Subject) -> Iterator[Distribution]:
    """Every distribution of the environment, from the METADATA files (core metadata specification)."""
    from packaging.metadata import parse_email

    for path in subject.below(ENVIRONMENT):
        if _METADATA.fullmatch(path):
            raw, _ = parse_email(subject.read(path) or b"")
            yield Distribution(
                name=normalized(raw.get("name", path.rsplit("/", 2)[1])),
                version=raw.get("version", ""),
                requires=tuple(raw.get("requires_dist", ())),
                requires_python=raw.get("requires_python"),
            )


def _lock_problems(locked: Mapping[str, str], installed: Mapping[str, Distribution]) -> Iterator[str]:
    expected = {normalized(name): version for name, version in locked.items()}
    for name in sorted(expected.keys() | installed.keys()):
        if name not in installed:
            yield f"{name}: locked as {expected[name]}, but not installed"
        elif name not in expected:
            yield f"{name}: installed as {installed[name].version}, but not locked"
        elif not _same_version(expected[name], installed[name].version):
            yield f"{name}: locked as {expected[name]}, installed as {installed[name].version}"


def _same_version(one: str, other: str) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return one == other


def requirement_problems(installed: Mapping[str, Distribution], markers: Mapping[str, str]) -> list[str]:
    """What the distributions require of each other and of the interpreter, and do not get."""
    problems = [
        f"{found.name}: requires Python {found.requires_python}, found {markers['python_full_version']}"
        for found in installed.values()
        if found.requires_python and not _contains(found.requires_python, markers["python_full_version"])
    ]
    extras: dict[str, set[str]] = {name: {""} for name in installed}
    waiting = sorted(installed)
    while waiting:
        found = installed[waiting.pop()]
        for text in found.requires:
            waiting += _require(found, text, extras, {**markers})
    for name, found in sorted(installed.items()):
        problems += _unmet(found, extras[name], installed, markers)
    return problems


def _require(
    found: Distribution, text: str, extras: dict[str, set[str]], markers: dict[str, str]
) -> list[str]:
    """Note the extras that an applying requirement asks of another; its name when there are new ones."""
    requirement = _applying(text, extras[found.name], markers)
    target = normalized(requirement.name) if requirement else ""
    if requirement is None or target not in extras or requirement.extras <= extras[target]:
        return []
    extras[target] |= requirement.extras
    return [target]


def _unmet(
    found: Distribution, extras: set[str], installed: Mapping[str, Distribution], markers: Mapping[str, str]
) -> Iterator[str]:
    for text in found.requires:
        requirement = _applying(text, extras, {**markers})
        if requirement is None:
            continue
        other = installed.get(normalized(requirement.name))
        if other is None:
            yield f"{found.name} {found.version}: requires {requirement}, which is not installed"
        elif not _contains(str(requirement.specifier), other.version):
            yield f"{found.name} {found.version}: requires {requirement}, found {other.version}"


def _applying(text: str, extras: set[str], markers: dict[str, str]) -> "Requirement | None":
    """The requirement, when its marker holds for the target with one of the extras; None otherwise."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None
    marker = requirement.marker
    if marker is None or any(marker.evaluate({**markers, "extra": extra}) for extra in sorted(extras)):
        return requirement
    return None


def _contains(specifier: str, version: str) -> bool:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion

    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return True  # what a package writes against the rules promises nothing that could be broken
