"""The tree of a specification, remembered by the digest of its bytes.

Importing the YAML parser takes as long as everything else in a build that has nothing to do (20 ms, most of it
for compiling its patterns), so it is imported for a text that nobody has parsed before, and for no other.
"""

import contextlib
from typing import Protocol

from reprobridge.digest import Digest, Json, digest_json
from reprobridge.errors import Problem
from reprobridge.spec.nodes import Entries, Node, Scalar, Sequence, below

LARGEST = 1 << 20
"""Bytes of a YAML file that are read; a spec of a thousand tasks has half of them."""
KIND = "yaml-tree"
"""Kind of the results that remember a tree."""
RULES = 2
"""Grows when the same bytes give another tree or none, or trees are written differently."""


class BrokenYamlError(Exception):
    """The file has no tree: `problem` says why. Only inside of spec."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem
        """The one thing that is wrong."""


class Memory(Protocol):
    """Keeps results by kind and key: the store, or a part of it."""

    def result(self, kind: str, key: Digest) -> object | None:
        """What was kept, or None."""

    def remember(self, kind: str, key: Digest, value: Json) -> None:
        """Keep a value."""


def tree_of(data: bytes, name: str, memory: Memory | None) -> Node:
    """The tree of a YAML file called `name`. Raises BrokenYamlError."""
    key = digest_json({"sha256": str(Digest.of(data)), "rules": RULES})
    if memory is not None:
        with contextlib.suppress(ValueError):
            return read_node(memory.result(KIND, key), "")
    from reprobridge.spec.yaml_tree import read_tree

    root = read_tree(data, name)
    if memory is not None:
        memory.remember(KIND, key, node_json(root))
    return root


def node_json(node: Node) -> Json:
    """A node for the store, without its place, which follows from where it stands."""
    match node:
        case Scalar():
            return [node.line, node.text, node.plain]
        case Sequence():
            return [node.line, [node_json(item) for item in node.items]]
        case Entries():
            return [node.line, [node_json(item) for item in node.items.values()], list(node.items)]


def read_node(value: object, place: str) -> Node:
    """The node at `place` that `node_json` wrote. Raises ValueError for anything else."""
    match value:
        case [int(line), str(text), bool(plain)]:
            return Scalar(place, line, text, plain)
        case [int(line), [*items]]:
            return Sequence(
                place, line, tuple(read_node(item, f"{place}[{number}]") for number, item in enumerate(items))
            )
        case [int(line), [*items], [*keys]]:
            pairs = zip(map(str, keys), items, strict=True)
            return Entries(place, line, {key: read_node(item, below(place, key)) for key, item in pairs})
    raise ValueError(f"expected a node, found {value!r}")
