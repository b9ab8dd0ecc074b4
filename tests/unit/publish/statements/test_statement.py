"""Statements are in-toto's Statement v1 in exact, canonical bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.digest import Digest, Json
from reprobridge.publish.statements.statement import PredicateType, Statement, Subject, image_signature

DIGEST = Digest("ab" * 32)
JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_a_statement_has_exactly_these_bytes() -> None:
    statement = Statement(
        subject=Subject("ghcr.io/me/wine", DIGEST),
        predicate_type="https://example.com/x",
        predicate={"b": "é", "a": 1},
    )
    assert (
        statement.to_bytes()
        == (
            '{"_type":"https://in-toto.io/Statement/v1","predicate":{"a":1,"b":"é"},'
            '"predicateType":"https://example.com/x","subject":[{"digest":{"sha256":"' + "ab" * 32 + '"},'
            '"name":"ghcr.io/me/wine"}]}'
        ).encode()
    )


@given(st.dictionaries(st.text(), JSON))
def test_the_order_in_which_a_predicate_was_made_does_not_reach_the_bytes(predicate: dict[str, Json]) -> None:
    turned = dict(reversed(predicate.items()))
    made = [
        Statement(subject=Subject("x", DIGEST), predicate_type="y", predicate=value).to_bytes()
        for value in (predicate, turned)
    ]
    assert made[0] == made[1]
    assert json.loads(made[0])["predicate"] == predicate


def test_a_float_has_no_place_in_a_statement() -> None:
    statement = Statement(subject=Subject("x", DIGEST), predicate_type="y", predicate={"x": 0.5})  # type: ignore[dict-item]  # what it refuses
    with pytest.raises(TypeError, match="float"):
        statement.to_bytes()


def test_an_images_signature_is_cosigns_empty_predicate() -> None:
    made = json.loads(image_signature(Subject("x", DIGEST)).to_bytes())
    assert (made["predicateType"], made["predicate"]) == ("https://sigstore.dev/cosign/sign/v1", {})


def test_predicate_types_are_those_of_the_specifications() -> None:
    assert {kind.name: kind.value for kind in PredicateType} == {
        "IMAGE_SIGNATURE": "https://sigstore.dev/cosign/sign/v1",
        "SPDX": "https://spdx.dev/Document/v2.3",
        "CYCLONEDX": "https://cyclonedx.org/bom",
        "PROVENANCE": "https://slsa.dev/provenance/v1",
        "VALIDATION": "https://in-toto.io/attestation/test-result/v0.1",
        "MEASUREMENTS": "urn:reprobridge:measurements:1",
    }
