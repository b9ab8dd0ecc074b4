"""The fixture of the fake registry."""

from collections.abc import Iterator

import pytest

from fakes.registry.server import FakeRegistry


@pytest.fixture
def fake_registry() -> Iterator[FakeRegistry]:
    """A complete registry that wants no authentication, of the test's own."""
    with FakeRegistry() as registry:
        yield registry
