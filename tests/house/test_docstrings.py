"""Every module and everything public in it says what it is."""

import ast
from collections.abc import Iterator

import pytest

from support.source_tree import modules

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
"""What can carry a docstring, apart from a module."""


def undocumented(body: list[ast.stmt], inside: str = "") -> Iterator[tuple[int, str]]:
    """(line, name) of public functions, classes and methods without a docstring."""
    for statement in body:
        if not isinstance(statement, Documented) or statement.name.startswith("_"):
            continue
        if ast.get_docstring(statement) is None and not repeats_another(statement):
            yield statement.lineno, inside + statement.name
        if isinstance(statement, ast.ClassDef):
            yield from undocumented(statement.body, f"{inside}{statement.name}.")


def repeats_another(node: Documented) -> bool:
    """Whether its docstring is another one's: a property's setter, an overload, an override."""
    names = {ast.unparse(decorator).rsplit(".", 1)[-1] for decorator in node.decorator_list}
    return bool(names & {"setter", "overload", "override"})


def test_every_module_has_a_docstring() -> None:
    found = [m.place for m in modules("builder", "tests", "benchmarks") if ast.get_docstring(m.tree) is None]
    assert found == []


def test_everything_public_has_a_docstring() -> None:
    found = [
        f"{module.place}:{line}: {name}"
        for module in modules("builder", "benchmarks", "tests/support", "tests/fakes")
        for line, name in undocumented(module.tree.body)
    ]
    assert found == []


@pytest.mark.parametrize(
    "source", ["def f(): ...", "class A: ...", "class A:\n    '''A.'''\n    def f(self): ..."]
)
def test_what_has_no_docstring_is_found(source: str) -> None:
    assert list(undocumented(ast.parse(source).body))


@pytest.mark.parametrize("source", ["def _f(): ...", "class A:\n    '''A.'''\n    x: int", "x: int = 1"])
def test_private_names_and_fields_need_none(source: str) -> None:
    assert list(undocumented(ast.parse(source).body)) == []
