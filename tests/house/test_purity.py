"""plan is a pure function: it knows values and earlier stages' types, and nothing that could differ between machines.

The import contract forbids what is known to be impure; this is the other half, which also holds for modules that
nobody has thought of yet.
"""

import ast
from collections.abc import Iterator

import pytest

from support.source_tree import modules

ALLOWED = (
    "bisect",
    "collections",
    "dataclasses",
    "enum",
    "fnmatch",
    "functools",
    "heapq",
    "itertools",
    "json",
    "math",
    "operator",
    "re",
    "reprobridge.digest",
    "reprobridge.errors",
    "reprobridge.frozen",
    "reprobridge.lock",
    "reprobridge.oci",
    "reprobridge.plan",
    "reprobridge.spec",
    "reprobridge_launcher",
    "string",
    "textwrap",
    "typing",
    "urllib.parse",
)
IMPURE_BUILTINS = {"open", "input", "print", "hash", "id", "exec", "eval", "__import__", "breakpoint"}
"""`hash` and `id` differ between processes."""


def impurities(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom():
                names = [node.module or "."]
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_BUILTINS:
                yield node.lineno, f"{name}()"
                continue
            case _:
                continue
        yield from ((node.lineno, f"import {name}") for name in names if not is_allowed(name))


def is_allowed(name: str) -> bool:
    return any(name == allowed or name.startswith(f"{allowed}.") for allowed in ALLOWED)


def test_plan_is_pure() -> None:
    found = [
        f"{module.place}:{line}: {what}"
        for module in modules("builder/reprobridge/plan")
        for line, what in impurities(module.tree)
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    ["import os", "from pathlib import Path", "import reprobridge.store", "from reprobridge.registry import client",
     "import secrets", "open('x')", "hash('x')", "def f():\n    import time"],
)  # fmt: skip
def test_an_impurity_is_found(source: str) -> None:
    assert list(impurities(ast.parse(source)))
