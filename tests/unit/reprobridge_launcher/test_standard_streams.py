"""Whoever starts the launcher may have closed its standard streams."""

import subprocess
from pathlib import Path

import pytest

from support.launcher_artifact import artifact


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_standard_stream_is_no_file_of_the_run(tmp_path: Path, closed: str) -> None:
    made = artifact(tmp_path)
    script = f'exec "$@" {closed}'
    words = [str(made.python), "-ISB", str(made.root / "bin/rra"), "run", "lda"]
    variables = {"PATH": "/usr/bin:/bin", "TMPDIR": str(made.scratch)}
    result = subprocess.run(
        ["sh", "-c", script, "sh", *words], env=variables, capture_output=True, check=False, timeout=60
    )
    record = made.evidence()
    assert (result.returncode, record["state"], record["value"]) == (0, "finished", 98.5)
    (log,) = made.out.glob("lda/*/stdout.log")
    assert log.read_text() == "fitting on data\naccuracy: 98.5\n"
