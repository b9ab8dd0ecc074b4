"""Trying a row of the table: do the job while things go wrong, and hold what came of it against what must."""

import pytest

from fakes.registry.content import Content
from reprobridge.errors import RegistryError
from support.registry_faults.bed import SECRET, Bed, Wishes, bed
from support.registry_faults.model import Around, Case, Refuses
from support.registry_faults.state import meaning


def try_out(case: Case) -> None:
    """Fails like a test."""
    wishes = Wishes(
        options=case.options,
        login=case.login,
        quirks=case.quirks,
        https=case.https,
        read_timeout=case.read_timeout,
    )
    with bed(wishes) as ready:
        case.job.fill(ready.content)
        ready.registry.fail(*case.made(_around(ready)))
        if isinstance(case.then, Refuses):
            with pytest.raises(RegistryError) as caught:
                case.job.run(ready.client)
            _look(case, ready)
            _read(str(caught.value), case.then, ready.client.host)
            ready.registry.heal()
        result = case.job.run(ready.client)
        if not isinstance(case.then, Refuses):
            _look(case, ready)
        _compare(case, ready.content, result)


def _around(ready: Bed) -> Around:
    expire = (lambda: None) if ready.access is None else ready.access.expire
    return Around(registry=ready.registry.url, elsewhere=ready.elsewhere.url, expire=expire)


def _look(case: Case, ready: Bed) -> None:
    assert bool(ready.registry.faults.met) is bool(case.faults), "the fault did not happen"
    if case.besides is not None:
        case.besides(ready)


def _read(text: str, then: Refuses, host: str) -> None:
    """An error says where, what, what was expected and found, and no secret."""
    for word in (host, then.message, "expected: ", "found: ", *then.also):
        assert word in text
    assert SECRET not in text


def _compare(case: Case, content: Content, result: object) -> None:
    wanted = Content()
    case.job.fill(wanted)
    assert result == case.job.finish(wanted)
    if case.meanwhile is not None:
        case.meanwhile(wanted)
    assert meaning(content) == meaning(wanted)
