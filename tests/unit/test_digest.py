"""Digests and canonical JSON."""

import io
import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.digest import Digest, canonical_json, digest_stream, url_uuid

scalars = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(values)
def test_canonical_json_reads_back_as_the_same_value(value: object) -> None:
    text = canonical_json(value)  # type: ignore[arg-type]  # hypothesis makes what Json allows
    assert json.loads(text) == value


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_keys_does_not_reach_the_bytes(value: dict[str, int]) -> None:
    assert canonical_json(value) == canonical_json(dict(reversed(value.items())))


@pytest.mark.parametrize("value", [1.5, [0.1], {"a": {"b": 2.0}}])
def test_floats_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="keep the number as text"):
        canonical_json(value)  # type: ignore[arg-type]  # that is what is refused


@given(st.binary())
def test_a_stream_has_the_digest_of_its_bytes(data: bytes) -> None:
    assert digest_stream(io.BytesIO(data)) == (Digest.of(data), len(data))


@pytest.mark.parametrize("text", ["", "sha256:", "sha256:" + "A" * 64, "md5:" + "0" * 64, "0" * 64])
def test_only_lower_case_sha256_is_a_digest(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        Digest.parse(text)


@given(st.text())
def test_an_address_has_the_uuid_that_python_gives_it(url: str) -> None:
    assert url_uuid(url) == uuid.uuid5(uuid.NAMESPACE_URL, url).urn
