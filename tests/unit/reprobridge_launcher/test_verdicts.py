"""What the launcher says of a value, beside the references and the published value."""

import json
from pathlib import Path

import pytest

from support.launcher_artifact import artifact, task


def test_without_references_nothing_is_compared(tmp_path: Path) -> None:
    made = artifact(tmp_path)
    (made.root / "references.json").unlink()
    result = made.call("run", "lda")
    assert "holds no references, so nothing says what is compatible" in result.stdout
    assert made.evidence()["comparison"]["published"] == 98.9
    assert made.evidence()["comparison"]["published_in_interval"] is None


@pytest.mark.parametrize(
    ("value", "raw", "inside", "verdict"),
    [
        (98.9, "98.5", True, "compatible"),
        (
            99.9,
            "98.5",
            False,
            "compatible with the references; the published value lies outside their interval",
        ),
        (98.9, "99.9", True, "incompatible"),
        (
            99.9,
            "99.49",
            False,
            "incompatible with the references (the rounded value would be compatible); the",
        ),
    ],
)
def test_a_verdict_says_when_the_published_value_is_not_the_references(
    tmp_path: Path, value: float, raw: str, inside: bool, verdict: str
) -> None:
    published = {**task()["published"], "value": value, "raw": str(value), "decimals": 0}
    made = artifact(tmp_path, f"print('accuracy: {raw}')\n", published=published)
    result = made.call("run", "lda")
    assert result.returncode == 0
    (line,) = (line for line in result.stdout.splitlines() if "  verdict" in line)
    assert line.split("verdict")[1].strip().startswith(verdict)
    assert ("outside" in line) is not inside
    assert made.evidence()["comparison"]["published_in_interval"] is inside
    (told,) = json.loads(made.call("run", "lda", "--json").stdout)["results"]
    assert (told["published_in_interval"], told["compatible"]) == (inside, verdict[0] == "c")
    required = made.call("run", "lda", "--require-compatible").returncode
    assert required == (0 if verdict[0] == "c" else 8)
    assert ("the published value lies outside" in made.call("show", "lda").stdout) is not inside


def test_references_that_cannot_be_read_take_no_value_away(tmp_path: Path) -> None:
    made = artifact(tmp_path)
    (made.root / "references.json").write_text("{}")
    result = made.call("run", "lda")
    assert (result.returncode, "lda: accuracy 98.5 percent" in result.stdout) == (0, True)
    assert "the references can't be read: schema: expected" in made.evidence()["deviations"][0]
