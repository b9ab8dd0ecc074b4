"""What may be required of an image."""

import pytest

from reprobridge.errors import UsageError
from reprobridge.replicate.requirement import DEFAULT, required


def test_signature_provenance_sbom_and_validation_are_required_by_default() -> None:
    assert tuple(required([])) == DEFAULT == ("signature", "provenance", "sbom", "validation")


def test_a_predicate_type_may_be_given_in_full() -> None:
    assert required(["https://example.org/x", "sbom"])["https://example.org/x"] == "https://example.org/x"


def test_an_unknown_word_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        required(["sbom", "sbomb"])
    assert "measurements" in str(caught.value)
    assert caught.value.found == "sbomb"


def test_short_names_stand_for_predicate_types() -> None:
    assert required(["sbom"]) == {"sbom": "https://spdx.dev/Document/v2.3"}
