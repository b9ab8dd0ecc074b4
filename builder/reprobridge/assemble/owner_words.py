"""The author's words on who owns a path (`environment.python.owners`), held against what the packages ship.

A word that settles nothing is told and is no error: a path may be wanted by two packages on one platform only, and an
upgrade that ends a conflict must not stop builds.
"""

from collections.abc import Iterable, Iterator, Mapping

from reprobridge.assemble.claims import claim
from reprobridge.assemble.omissions import owner_of
from reprobridge.assemble.workshop import Workshop
from reprobridge.plan.bytecode import is_bytecode_owner
from reprobridge.plan.model import BuildPlan, WheelRecipe


def idle_words(plan: BuildPlan, workshop: Workshop) -> Iterator[str]:
    """A line for each word that settles nothing in this image, whose packages are made."""
    words = {path: package for path, package in plan.owners.items() if not is_bytecode_owner(package)}
    if not words:
        return
    shipped = _shipped(words, plan, workshop)
    for path, package in sorted(words.items()):
        if found := _found(package, sorted(shipped[path])):
            key = path.partition("/site-packages/")[2]  # the interpreter's own, then the author's words
            yield f"environment.python.owners: {key}: {found}, so that the line settles nothing"


def _shipped(paths: Iterable[str], plan: BuildPlan, workshop: Workshop) -> Mapping[str, set[str]]:
    """The packages that have each path. Only the indexes of those that claim one are read."""
    claims = {path: claim(path) for path in paths}
    shipped: dict[str, set[str]] = {path: set() for path in claims}
    wheels = (part for layer in plan.layers for part in layer.parts if isinstance(part, WheelRecipe))
    for wheel in wheels:
        if not workshop.claims(wheel).paths.isdisjoint(claims.values()):
            for path in shipped.keys() & {row.path for row in workshop.index(wheel)}:
                shipped[path].add(owner_of(wheel))
    return shipped


def _found(package: str, among: list[str]) -> str | None:
    """Why a word for this package settles nothing where these ship the path; None if it does."""
    if not among:
        return "no locked package ships it"
    if len(among) == 1:
        return f"only {among[0]} ships it"
    return None if package in among else f"{package} does not ship it, but {' and '.join(among)} do"
