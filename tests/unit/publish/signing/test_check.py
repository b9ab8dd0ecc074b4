"""Checking bundles: the right key's statement about the right image passes, and nothing else does."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.digest import Digest, canonical_json
from reprobridge.errors import TrustError
from reprobridge.publish.signing.bundle import sign_with_key, signed_bytes
from reprobridge.publish.signing.check import CheckedStatement, check_bundle
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.signing.policy import IdentityPolicy, KeyPolicy
from reprobridge.publish.signing.signer import KeySigner
from reprobridge.publish.statements.statement import PredicateType, Statement, Subject, image_signature

KEY = PrivateKey.generate()
OTHER = PrivateKey.generate()
IMAGE = Digest.of(b"manifest")
STATEMENT = image_signature(Subject("registry.example/wine", IMAGE))
SIGNED = KeySigner(KEY).sign(STATEMENT)
Change = Callable[[Any], None]


def check(bundle: bytes, key: PrivateKey = KEY, **expected: Any) -> CheckedStatement:
    return check_bundle(bundle, KeyPolicy(key.public_key), **{"subject": IMAGE, **expected})


def changed(change: Change) -> bytes:
    """The bundle after its JSON was changed."""
    document = json.loads(SIGNED)
    change(document)
    return json.dumps(document).encode()


def test_a_signed_statement_comes_back_as_the_bytes_that_were_signed() -> None:
    checked = check(SIGNED, predicate_type=PredicateType.IMAGE_SIGNATURE)
    assert checked.payload == STATEMENT.to_bytes()
    assert checked.predicate == {}
    assert checked.signer == f"key {KEY.public_key.fingerprint}"


@given(st.dictionaries(st.text(), st.integers() | st.text()))
def test_any_predicate_comes_back(predicate: dict[str, int | str]) -> None:
    statement = Statement(
        subject=Subject("x", IMAGE), predicate_type="https://x.example", predicate=predicate
    )
    assert check(KeySigner(KEY).sign(statement)).predicate == predicate


def test_a_bundle_has_exactly_these_bytes() -> None:
    payload = STATEMENT.to_bytes()
    signature = KEY.sign(b"DSSEv1 28 application/vnd.in-toto+json %d %b" % (len(payload), payload))
    assert json.loads(SIGNED) == {
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {"publicKey": {"hint": KEY.public_key.hint}, "tlogEntries": []},
        "dsseEnvelope": {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": "application/vnd.in-toto+json",
            "signatures": [{"sig": base64.b64encode(signature).decode()}],
        },
    }
    assert canonical_json(json.loads(SIGNED)) == SIGNED == KeySigner(KEY).sign(STATEMENT)


def test_the_signed_bytes_is_that_of_the_specification() -> None:
    assert signed_bytes(b"hello world", "http://example.com/HelloWorld") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_another_key_is_refused_and_named_as_such() -> None:
    with pytest.raises(TrustError, match="another key"):
        check(SIGNED, OTHER)


def test_another_image_is_refused() -> None:
    with pytest.raises(TrustError, match="about something else"):
        check(SIGNED, subject=Digest.of(b"another"))


def test_another_kind_of_statement_is_refused() -> None:
    with pytest.raises(TrustError, match="another kind"):
        check(SIGNED, predicate_type=PredicateType.PROVENANCE)


def test_an_identity_is_not_proven_by_a_key() -> None:
    policy = IdentityPolicy(identity="me@example.com", issuer="https://issuer.example")
    with pytest.raises(TrustError, match="with a key"):
        check_bundle(SIGNED, policy, subject=IMAGE)


@given(st.integers(0, len(STATEMENT.to_bytes()) * 8 - 1))
def test_a_payload_with_any_bit_changed_is_refused(bit: int) -> None:
    payload = bytearray(STATEMENT.to_bytes())
    payload[bit // 8] ^= 1 << bit % 8

    def change(document: Any) -> None:
        document["dsseEnvelope"]["payload"] = base64.b64encode(payload).decode()

    with pytest.raises(TrustError, match="does not hold"):
        check(changed(change))


@given(st.integers(0, len(SIGNED) - 1), st.integers(0, 255))
def test_no_changed_byte_makes_another_statement(place: int, byte: int) -> None:
    broken = bytearray(SIGNED)
    broken[place] = byte
    try:
        checked = check(bytes(broken))
    except TrustError:
        return
    assert checked.payload == STATEMENT.to_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda b: b.update(mediaType="application/vnd.dev.sigstore.bundle+json;version=0.2"),
            "another version",
        ),
        (lambda b: b.update(mediaType=None), "no bundle"),
        (lambda b: b.pop("dsseEnvelope"), "no bundle"),
        (lambda b: b.pop("verificationMaterial"), "no bundle"),
        (lambda b: b["dsseEnvelope"].update(payload=None), "no bundle"),
        (lambda b: b["dsseEnvelope"].update(payload="***"), "payload is not base64"),
        (lambda b: b["dsseEnvelope"].update(payloadType="text/plain"), "no statement"),
        (lambda b: b["dsseEnvelope"].update(payloadType="\ud800"), "no statement"),
        (lambda b: b["dsseEnvelope"].update(signatures=[]), "not signed once"),
        (
            lambda b: b["dsseEnvelope"]["signatures"].append(b["dsseEnvelope"]["signatures"][0]),
            "not signed once",
        ),
        (lambda b: b["dsseEnvelope"].update(signatures=[{"keyid": ""}]), "not signed once"),
        (lambda b: b["dsseEnvelope"].update(signatures=[{"sig": "é"}]), "sig is not base64"),
        (lambda b: b["dsseEnvelope"].update(signatures=[{"sig": ""}]), "does not hold"),
        (lambda b: b["verificationMaterial"].pop("publicKey"), "who signed"),
        (lambda b: b["verificationMaterial"].update(certificate={"rawBytes": ""}), "who signed"),
        (lambda b: b["verificationMaterial"].update(publicKey=None), "who signed"),
    ],
)
def test_a_bundle_that_is_not_of_the_format_is_refused(change: Change, message: str) -> None:
    with pytest.raises(TrustError, match=message):
        check(changed(change))


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b"null", b"[" * 100_000, b'{"mediaType": 1}'])
def test_what_is_no_bundle_is_refused(data: bytes) -> None:
    with pytest.raises(TrustError):
        check(data)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff",
        b"[]",
        b"[" * 100_000,
        b'{"_type":"https://in-toto.io/Statement/v0.1","subject":[],"predicateType":"x","predicate":{}}',
        b'{"_type":"https://in-toto.io/Statement/v1","subject":[],"predicateType":"x","predicate":{}}',
        b'{"_type":"https://in-toto.io/Statement/v1","subject":[{}],"predicateType":"x","predicate":{}}',
        b'{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha512":"%b"}}],'
        b'"predicateType":"x","predicate":{}}' % IMAGE.hex.encode(),
        STATEMENT.to_bytes().replace(b'"predicate":{}', b'"predicate":[]'),
    ],
    ids=range(9),
)
def test_what_a_trusted_key_signed_must_be_a_statement_about_the_image(payload: bytes) -> None:
    with pytest.raises(TrustError):
        check(sign_with_key(payload, KEY))


def test_the_signature_is_checked_before_anything_is_read_of_the_payload() -> None:
    with pytest.raises(TrustError, match="does not hold"):
        check(sign_with_key(b"no statement at all", OTHER))


def test_a_name_that_stands_twice_is_refused() -> None:
    data = STATEMENT.to_bytes().replace(b'{"_type"', b'{"predicate":{"passed":1},"_type"', 1)
    with pytest.raises(TrustError, match="is named twice"):
        check(sign_with_key(data, KEY))
    with pytest.raises(TrustError, match="is named twice"):
        check(SIGNED.replace(b"{", b'{"mediaType":"x",', 1))


def test_a_statement_with_several_subjects_holds_for_each() -> None:
    document = json.loads(STATEMENT.to_bytes())
    document["subject"].insert(0, {"name": "y", "digest": {"sha512": "00", "sha256": "cd" * 32}})
    signed = sign_with_key(canonical_json(document), KEY)
    assert check(signed).payload == check(signed, subject=Digest("cd" * 32)).payload
