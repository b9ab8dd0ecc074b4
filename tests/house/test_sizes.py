"""Modules, functions and parameter lists stay small enough to read."""

import ast
from collections.abc import Iterator

import pytest

from support.source_tree import Module, modules

MODULE_LINES = 400
FUNCTION_LINES = 60
PARAMETERS = 5
"""Without self and cls; more are a frozen, keyword-only dataclass."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
ALL = modules("builder", "tests", "benchmarks")


def functions(module: Module) -> Iterator[Function]:
    return (node for node in ast.walk(module.tree) if isinstance(node, Function))


def parameters(function: Function) -> list[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [argument.arg for argument in named if argument.arg not in ("self", "cls")]


def test_no_module_is_too_long() -> None:
    found = [f"{m.place}: {m.lines} lines" for m in ALL if m.lines > MODULE_LINES]
    assert found == []


def test_no_function_is_too_long() -> None:
    found = [
        f"{module.place}:{function.lineno}: {function.name}: {length} lines"
        for module in ALL
        for function in functions(module)
        if (length := (function.end_lineno or 0) - function.lineno + 1) > FUNCTION_LINES
    ]
    assert found == []


def test_no_function_takes_too_many_parameters() -> None:
    found = [
        f"{module.place}:{function.lineno}: {function.name}: {len(parameters(function))} parameters"
        for module in ALL
        for function in functions(module)
        if len(parameters(function)) > PARAMETERS and not function.name.startswith("test_")
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "count"),
    [("def f(self, a, /, b, *, c): ...", 3), ("def f(*args, **kwargs): ...", 0), ("def f(cls): ...", 0)],
)
def test_parameters_are_counted_without_self_and_cls(source: str, count: int) -> None:
    (function,) = ast.parse(source).body
    assert isinstance(function, Function)
    assert len(parameters(function)) == count
