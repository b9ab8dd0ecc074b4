"""Taking newer packages than the ones that are locked."""

from pathlib import Path

import pytest

from reprobridge.lock.file import read_lock
from support.artifacts import MINIMAL, copy_of
from support.command import reprobridge, succeed

pytestmark = [pytest.mark.slow, pytest.mark.network]


def test_a_base_system_of_today_has_the_same_wishes_and_no_older_suites(
    store_folder: Path, tmp_path: Path
) -> None:
    artifact = copy_of(MINIMAL, tmp_path)
    before = read_lock(artifact / "reprobridge.lock").platforms["linux/amd64"].debian
    succeed(reprobridge("lock", artifact, "--upgrade-template", store=store_folder))
    after = read_lock(artifact / "reprobridge.lock").platforms["linux/amd64"].debian
    assert after.wish == before.wish
    assert {"bash", "python3.11-minimal"} <= {deb.name for deb in after.base}
    dates = {suite.suite: suite.date for suite in before.suites}
    assert all(suite.date >= dates[suite.suite] for suite in after.suites)
    succeed(reprobridge("lock", "--check", artifact, store=store_folder))
