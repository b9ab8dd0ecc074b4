"""Truth values: two words, and what other words probably meant."""

import pytest

from support.artifact_on_disk import ArtifactOnDisk


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("yes", "did you mean true?"),
        ("False", "did you mean false?"),
        ("often", "write one of the two words"),
    ],
)
def test_a_truth_value_in_other_words_gets_a_hint(artifact: ArtifactOnDisk, text: str, hint: str) -> None:
    artifact.spec["environment"]["python"]["bytecode"] = text
    problem = artifact.problem()
    assert (problem.where, problem.hint) == ("environment.python.bytecode", hint)
