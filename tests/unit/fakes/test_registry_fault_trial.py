"""The fault table's judge notices when a client does not do what a row says."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from fakes.registry.content import Content
from fakes.registry.exchange import Phase
from fakes.registry.faults import Answer, Fault, Reset, status
from reprobridge.errors import RegistryError
from reprobridge.registry.client import Registry
from support.registry_faults.bed import SECRET
from support.registry_faults.jobs import LAYER, PullBlob, PushBlob
from support.registry_faults.model import NAME, Case, GoesOn, Refuses
from support.registry_faults.page import page
from support.registry_faults.table import CASES
from support.registry_faults.trial import try_out

DENIED = Fault(Phase.UPLOAD_START, Answer(status(403)))
RIGHT = Case(name="x", job=PushBlob(), says="", then=Refuses("the registry refuses"), faults=(DENIED,))


@dataclass(frozen=True)
class Odd:
    """A push that goes wrong in a way of its own."""

    do: Callable[[Registry], object]
    title: str = "push oddly"

    def fill(self, content: Content) -> None:
        PushBlob().fill(content)

    def run(self, client: Registry) -> object:
        self.do(client)
        return PushBlob().run(client)

    def finish(self, content: Content) -> object:
        return PushBlob().finish(content)


def refuse(text: str) -> Callable[[Registry], object]:
    def do(client: Registry) -> object:
        raise RegistryError(text, where=client.host, expected="x", found="y")

    return do


def test_a_right_row_passes() -> None:
    try_out(RIGHT)


@pytest.mark.parametrize(
    "case",
    [
        replace(RIGHT, then=GoesOn("")),
        replace(RIGHT, then=Refuses("other words")),
        replace(RIGHT, then=Refuses("the registry refuses", ("and more words",))),
        replace(RIGHT, faults=(Fault(Phase.TAGS, Reset()),), then=GoesOn("")),
        replace(RIGHT, faults=(), then=Refuses("the registry refuses")),
        replace(RIGHT, meanwhile=lambda content: content.put_blob(NAME, b"not there")),
        replace(RIGHT, job=Odd(lambda client: client.put_manifest(NAME, "tag", b"{}", "text/plain"))),
        replace(RIGHT, job=Odd(refuse(f"the registry refuses {SECRET}"))),
    ],
    ids=["error", "words", "further-words", "no-fault", "no-error", "state", "more-state", "secret"],
)
def test_a_wrong_row_fails(case: Case) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception, RegistryError)):
        try_out(case)


def test_an_unexpected_exception_is_no_refusal() -> None:
    def bug(client: Registry) -> object:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        try_out(replace(RIGHT, job=Odd(bug)))


def test_a_pull_that_gives_out_a_whole_wrong_blob_is_noticed() -> None:
    class Careless(Registry):
        def __init__(self) -> None:
            pass

        def pull_blob(self, repository: str, blob: object, sink: Callable[[bytes], object]) -> None:
            sink(bytes(len(LAYER)))
            raise RegistryError("too late")

    with pytest.raises(AssertionError):
        PullBlob().run(Careless())


def test_every_row_is_on_the_page() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    heads = sum(line.startswith("| step |") for line in rows)
    assert len(rows) - heads == len(CASES) >= 40
