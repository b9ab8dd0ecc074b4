"""Locked files as something to fetch."""

from pathlib import Path

from reprobridge.assemble.arrivals import wanted_files
from support.lock_doors import doors
from support.specs import PLATFORM, sample_deb, sample_lock


def test_only_the_base_systems_files_are_the_templates(store_folder: Path) -> None:
    lock = sample_lock(extra=(sample_deb("libgl1"),))
    wanted = wanted_files(lock, PLATFORM, doors(store_folder)).values()
    assert {one.name: one.template for one in wanted} == {
        "base-files_1_amd64.deb": "debian12-py311",
        "bash_1_amd64.deb": "debian12-py311",
        "python3.11_1_amd64.deb": "debian12-py311",
        "libgl1_1_amd64.deb": None,
        "numpy-1.0-py3-none-any.whl": None,
    }
