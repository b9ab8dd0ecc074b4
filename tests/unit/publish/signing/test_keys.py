"""Keys: what is written can be read by us and by openssl, and every wrong file is refused by what is wrong with it."""

import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.errors import UsageError
from reprobridge.publish.signing.keys import PrivateKey, is_encrypted, read_private_key, read_public_key
from support.require import require_tool

KEY = PrivateKey.generate()
PUBLIC = KEY.public_key


def other_private_keys() -> dict[str, bytes]:
    """Private keys that are not ours, by what the message must call them."""
    made: dict[str, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey] = {
        "secp384r1": ec.generate_private_key(ec.SECP384R1()),
        "RSAPrivateKey": rsa.generate_private_key(65537, 2048),
        "Ed25519PrivateKey": ed25519.Ed25519PrivateKey.generate(),
    }
    return {
        name: key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        for name, key in made.items()
    }


@given(st.binary(), st.binary())
def test_a_signature_holds_for_the_signed_bytes_only(data: bytes, other: bytes) -> None:
    signature = KEY.sign(data)
    assert PUBLIC.verifies(signature, data)
    assert PUBLIC.verifies(signature, other) == (other == data)
    assert not PrivateKey.generate().public_key.verifies(signature, data)


@given(st.binary())
def test_what_is_no_signature_does_not_hold(signature: bytes) -> None:
    assert not PUBLIC.verifies(signature, b"data")


def test_signing_again_gives_the_same_bytes() -> None:
    assert KEY.sign(b"data") == KEY.sign(b"data") != KEY.sign(b"other")


@pytest.mark.parametrize("password", [None, b"correct horse"])
def test_a_written_key_is_read_again(password: bytes | None) -> None:
    pem = KEY.to_pem(password)
    assert is_encrypted(pem) == (password is not None)
    assert read_private_key(pem, "a.key", password).public_key == PUBLIC
    assert read_public_key(PUBLIC.to_pem(), "a.pub") == PUBLIC


def test_a_password_that_is_not_needed_is_not_used() -> None:
    assert read_private_key(KEY.to_pem(None), "a.key", b"from the environment").public_key == PUBLIC


def test_a_key_of_openssl_is_read_and_says_the_same_public_key() -> None:
    openssl = require_tool("openssl")

    def run(*words: str, given: bytes = b"") -> bytes:
        return subprocess.run([openssl, *words], input=given, capture_output=True, check=True).stdout

    made = run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
    public = run("pkey", "-pubout", given=made)
    assert read_private_key(made, "a.key", None).public_key.to_pem() == public
    assert run("pkey", "-pubout", given=KEY.to_pem(None)) == PUBLIC.to_pem()


@pytest.mark.parametrize(
    ("data", "password", "message"),
    [
        (b"", None, "this is no PEM file"),
        (b"\x30\x82", None, "this is no PEM file"),
        (PUBLIC.to_pem(), None, "this is a public key"),
        (KEY.to_pem(b"right"), None, "the private key is encrypted"),
        (KEY.to_pem(b"right"), b"wrong", "its password is another"),
        (KEY.to_pem(None).replace(b"\nM", b"\nA"), None, "the key is broken"),
        (b"-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n", b"x", "cosign's own format"),
        (b"-----BEGIN ENCRYPTED COSIGN PRIVATE KEY-----\n", None, "cosign's own format"),
    ],
)
def test_a_wrong_private_key_is_refused(data: bytes, password: bytes | None, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        read_private_key(data, "a.key", password)
    assert refused.value.where == "a.key"


@pytest.mark.parametrize(("kind", "data"), other_private_keys().items())
def test_a_private_key_of_another_kind_is_refused_by_its_name(kind: str, data: bytes) -> None:
    with pytest.raises(UsageError, match=kind):
        read_private_key(data, "a.key", None)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ssh-ed25519 AAAA me@here", "this is no PEM file"),
        (KEY.to_pem(None), "this is a private key"),
        (PUBLIC.to_pem().replace(b"\nM", b"\nA"), "the key is broken"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "the key is broken"),
        (
            ec.generate_private_key(ec.SECP521R1())
            .public_key()
            .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
            "secp521r1",
        ),
    ],
)
def test_a_wrong_public_key_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_public_key(data, "a.pub")


def test_a_private_keys_representation_does_not_hold_it() -> None:
    assert repr(KEY) == f"<private key of {PUBLIC.fingerprint}>"
