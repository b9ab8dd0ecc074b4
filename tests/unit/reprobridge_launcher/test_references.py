"""The references' format."""

from typing import Any

import pytest

from reprobridge_launcher.fields import FormatError
from reprobridge_launcher.interval import Policy
from reprobridge_launcher.references import load, parse


def document(**changes: object) -> dict[str, Any]:
    made: dict[str, Any] = {"observations": [1, 2.5], "where": "here", "interval": {"lower": 0}}
    return {"schema": "reprobridge.references/1", "tasks": {"lda": made | changes}}


def test_observations_and_policy_are_read() -> None:
    reference = parse(document())["lda"]
    assert reference.observations == (1.0, 2.5)
    assert reference.policy == Policy(lower=0.0)


def test_a_range_counts_as_its_midpoint_and_is_kept() -> None:
    reference = parse(document(observations=[[1, 2], 3]))["lda"]
    assert (reference.observations, reference.ranges) == ((1.5, 3.0), ((1.0, 2.0), None))


def test_a_missing_file_means_no_references() -> None:
    assert load("/nonexistent/references.json") == {}


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"observations": []}, "tasks.lda.observations"),
        ({"observations": [True]}, "tasks.lda.observations[0]"),
        ({"observations": [[2, 1]]}, "tasks.lda.observations[0]"),
        ({"observations": [[1, 2, 3]]}, "tasks.lda.observations[0]"),
        ({"observations": ["1"]}, "tasks.lda.observations[0]"),
        ({"where": None}, "tasks.lda.where"),
        ({"interval": {"level": 1}}, "tasks.lda.interval.level"),
        ({"interval": {"confidence": 95}}, "tasks.lda.interval"),
        ({"more": 1}, "tasks.lda.more"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(changes: dict[str, Any], place: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(document(**changes))
    assert caught.value.place == place
