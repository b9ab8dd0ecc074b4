"""The registry that benchmarks push to."""

import urllib.request
from pathlib import Path

from benchmarks.registry import own_registry
from support.require import require_tool


def test_registries_take_ports_of_their_own_and_keep_them_when_set_back(tmp_path: Path) -> None:
    require_tool("docker-registry")
    with own_registry(tmp_path / "one") as one, own_registry(tmp_path / "two") as two:
        addresses = one.address, two.address
        assert len({*addresses}) == 2
        one.keep()
        one.reset()
        assert (one.address, two.address) == addresses
        with urllib.request.urlopen(f"http://{one.address}/v2/") as answer:
            assert answer.status == 200
