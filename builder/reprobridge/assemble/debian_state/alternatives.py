"""Alternatives as update-alternatives(1) leaves them in automatic mode: links and its database.

Of several candidates the highest priority wins, the first registered among equals; packages register in
order of their names. A candidate that is not there, for example for a manual page, is left out.
"""

from collections.abc import Iterable, Mapping

from reprobridge.assemble.deb.facts import Alternative, DebFacts
from reprobridge.assemble.debian_state.tree import StateTree, real_path

_LINKS = "etc/alternatives"
_DATABASE = "var/lib/dpkg/alternatives"


def add_alternatives(tree: StateTree, packages: Mapping[str, DebFacts]) -> None:
    """The links and database files of every alternative of these packages."""
    groups: dict[str, list[Alternative]] = {}
    for _, facts in sorted(packages.items()):
        for alternative in facts.alternatives:
            if _leads_somewhere(tree, alternative.path):
                groups.setdefault(alternative.name, []).append(alternative)
    for name, candidates in sorted(groups.items()):
        _add_group(tree, name, candidates)


def _add_group(tree: StateTree, name: str, candidates: list[Alternative]) -> None:
    best = max(candidates, key=lambda candidate: candidate.priority)
    _add_link(tree, best.link, name, best.path)
    for slave in best.slaves:
        if _leads_somewhere(tree, slave.path):
            _add_link(tree, slave.link, slave.name, slave.path)
    tree.put(f"{_DATABASE}/{name}", _database(best.link, candidates).encode())


def _leads_somewhere(tree: StateTree, path: str) -> bool:
    """Whether a candidate is there; it may be a folder, for example of headers."""
    return tree.has(path) or tree.has_below(real_path(path))


def _add_link(tree: StateTree, link: str, name: str, target: str) -> None:
    tree.link(real_path(link), f"/{_LINKS}/{name}")
    tree.link(f"{_LINKS}/{name}", target)


def _database(link: str, candidates: Iterable[Alternative]) -> str:
    """The text format of dpkg: mode, link, slaves' names and links, then each candidate with its slaves' paths."""
    ordered = sorted(candidates, key=lambda candidate: candidate.path)
    slaves = {slave.name: slave.link for candidate in ordered for slave in candidate.slaves}
    lines = ["auto", link]
    for name in sorted(slaves):
        lines += [name, slaves[name]]
    lines.append("")
    for candidate in ordered:
        paths = {slave.name: slave.path for slave in candidate.slaves}
        lines += [candidate.path, str(candidate.priority), *(paths.get(name, "") for name in sorted(slaves))]
    return "\n".join([*lines, "", ""])
