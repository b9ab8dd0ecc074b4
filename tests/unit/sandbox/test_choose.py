"""Choosing a sandbox by what works, and saying why none does."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from reprobridge.cli.building import SANDBOXES
from reprobridge.errors import SandboxError
from reprobridge.sandbox.choose import KINDS, choose, every_sandbox
from reprobridge.sandbox.model import Layer, Shell, Unusable
from reprobridge.store.store import Store
from reprobridge.system.processes import Completed, RealProcesses


class Pretended:
    """A sandbox that works or not, and counts how often it was asked."""

    def __init__(self, kind: str, problem: str | None = None) -> None:
        self.kind = kind
        self.probes = 0
        self.wanted: bool | None = None
        self._problem = problem

    def probe(self, *, wanted: bool) -> Unusable | None:
        self.probes += 1
        self.wanted = wanted
        return Unusable(self._problem, f"repair {self.kind}") if self._problem else None

    def run(self, layers: Sequence[Layer], shell: Shell) -> Completed:
        raise AssertionError("nobody asked to run anything")


def test_the_first_that_works_is_taken_and_the_others_are_not_tried() -> None:
    sandboxes = [Pretended("a", "broken"), Pretended("b"), Pretended("c")]
    assert choose(sandboxes).kind == "b"
    assert [sandbox.probes for sandbox in sandboxes] == [1, 1, 0]
    assert sandboxes[1].wanted is False


def test_a_wanted_one_is_the_only_one_tried() -> None:
    sandboxes = [Pretended("a"), Pretended("b")]
    assert choose(sandboxes, "b").kind == "b"
    assert [sandbox.wanted for sandbox in sandboxes] == [None, True]


def test_when_none_works_every_reason_and_remedy_is_told() -> None:
    with pytest.raises(SandboxError) as caught:
        choose([Pretended("a", "no a here"), Pretended("b", "no b here")])
    assert "a: no a here (repair a); b: no b here (repair b)" in str(caught.value)


def test_a_wanted_one_that_does_not_work_is_no_reason_to_take_another() -> None:
    with pytest.raises(SandboxError, match="sandbox a does not work here"):
        choose([Pretended("a", "broken"), Pretended("b")], "a")


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(SandboxError, match="one of a, b"):
        choose([Pretended("a"), Pretended("b")], "vm")


def test_bubblewrap_is_tried_before_the_engines(store_folder: Path) -> None:
    kinds = [sandbox.kind for sandbox in every_sandbox(Store(store_folder), RealProcesses(), as_root=False)]
    assert kinds == list(KINDS) == list(SANDBOXES)
