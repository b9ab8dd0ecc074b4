"""How long to go on."""

import pytest

from reprobridge.frozen import replace
from reprobridge.registry.refusals import ServerFailed, Throttled, Transient, Unreachable
from reprobridge.registry.tries import Tries
from support.registries import Waiting


def throttled(wait: float | None) -> Throttled:
    error = Throttled("too many")
    error.wait = wait
    return error


def stumble(tries: Tries, trouble: Transient, times: int) -> None:
    for _ in range(times):
        tries.after(trouble)


def test_failures_are_waited_for_longer_and_longer_and_end() -> None:
    waiting = Waiting()
    trouble = ServerFailed("out of order")
    with pytest.raises(ServerFailed, match="out of order"):
        stumble(Tries(waiting.patience()), trouble, 100)
    assert waiting.waited == [0.5, 1, 2, 4]


def test_a_throttling_registry_is_given_the_time_it_asks_for() -> None:
    waiting = Waiting()
    tries = Tries(waiting.patience())
    for asked in (7.0, 0.01, None):
        tries.after(throttled(asked))
    assert waiting.waited == [7, 2, 4]


def test_throttling_ends_too() -> None:
    waiting = Waiting()
    with pytest.raises(Throttled):
        stumble(Tries(waiting.patience()), throttled(None), 100)
    assert waiting.waited == [1, 2, 4, 8, 16, 30, 30]


def test_who_asks_for_an_hour_is_not_waited_for() -> None:
    waiting = Waiting()
    with pytest.raises(Throttled):
        Tries(waiting.patience()).after(throttled(3600))
    assert waiting.waited == []


def test_a_name_that_means_no_address_is_tried_twice() -> None:
    waiting = Waiting()
    trouble = Unreachable("no answer")
    trouble.hopeless = True
    with pytest.raises(Unreachable):
        stumble(Tries(waiting.patience()), trouble, 100)
    assert waiting.waited == [0.5]


def test_each_wait_is_said_before_it_begins() -> None:
    waiting = Waiting()
    said: list[tuple[str, int]] = []
    patience = replace(waiting.patience(), say=lambda text: said.append((text, len(waiting.waited))))
    trouble = Unreachable("the registry does not answer", where="registry.test", found="refused")
    stumble(Tries(patience), trouble, 2)
    text = "registry.test: the registry does not answer (refused); trying again"
    assert said == [(text, 0), (text, 1)]


def test_throttling_does_not_use_up_the_tries_of_failures() -> None:
    tries = Tries(Waiting().patience())
    stumble(tries, throttled(None), 7)
    stumble(tries, Unreachable("no answer"), 4)
    with pytest.raises(Unreachable):
        tries.after(Unreachable("no answer"))
