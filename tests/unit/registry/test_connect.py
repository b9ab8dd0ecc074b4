"""A registry as commands have it: it says once that it makes us wait."""

import contextlib

import pytest

from reprobridge.errors import RegistryError
from reprobridge.registry.connect import connect
from reprobridge.system.http import RealHttp


def test_a_registry_that_keeps_us_waiting_is_said_once() -> None:
    said: list[str] = []
    with contextlib.closing(RealHttp()) as http:
        registry = connect("no-such-host.invalid", http, say=said.append)
        for _ in range(2):
            with pytest.raises(RegistryError, match="does not answer"):
                registry.manifest("you/paper", "1.0.0")
    assert len(said) == 1
    assert said[0].startswith("no-such-host.invalid: the registry does not answer")
    assert said[0].endswith("trying again")
