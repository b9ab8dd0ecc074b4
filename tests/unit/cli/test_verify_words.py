"""Whom a reviewer trusts, as the words of `verify` say it; and which image was asked for."""

import argparse
from pathlib import Path

import pytest

from reprobridge.cli.main import load_command
from reprobridge.cli.verify import asked_for, policy_of
from reprobridge.digest import Digest
from reprobridge.errors import UsageError
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.signing.policy import IdentityPolicy, KeyPolicy

IMAGE = Digest.of(b"image")


def words(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    load_command("verify").add_arguments(parser)
    return parser.parse_args(["localhost:5000/x:1", *given])


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("", "none of them"),
        ("--identity", "--identity"),
        ("--issuer", "--issuer"),
        ("--repository", "--repository"),
        ("--key --identity", "--key, --identity"),
        ("--key --issuer", "--key, --issuer"),
        ("--key --repository", "--key, --repository"),
        ("--key --identity --issuer", "--key, --identity, --issuer"),
    ],
)
def test_words_that_do_not_say_whom_to_trust_are_named(given: str, found: str) -> None:
    with pytest.raises(UsageError, match="whose signature counts must be said") as caught:
        policy_of(words(*(part for word in given.split() for part in (word, "x"))))
    assert caught.value.found == found


def test_a_key_alone_or_an_identity_with_its_issuer_is_enough(tmp_path: Path) -> None:
    key = PrivateKey.generate().public_key
    (tmp_path / "a.pub").write_bytes(key.to_pem())
    assert isinstance(policy_of(words("--key", str(tmp_path / "a.pub"))), KeyPolicy)
    policy = policy_of(words("--identity", "a", "--issuer", "b", "--repository", "c"))
    assert policy == IdentityPolicy(identity="a", issuer="b", repository="c")


def test_a_public_key_that_is_not_there_is_the_authors_to_give(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a public key") as caught:
        policy_of(words("--key", str(tmp_path / "a.pub")))
    assert "the authors give it away" in str(caught.value.hint)
    assert caught.value.found == "No such file or directory"


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("localhost:5000/x:1", f"localhost:5000/x:1@{IMAGE}"),
        ("oci:stick", f"oci:stick@{IMAGE}"),
        (f"localhost:5000/x@{IMAGE}", f"localhost:5000/x@{IMAGE}"),
        (str(IMAGE), str(IMAGE)),
        ("ghcr.io/x@sha256:of-an-index", f"ghcr.io/x@sha256:of-an-index: {IMAGE}"),
    ],
)
def test_what_was_asked_for_is_shown_with_its_digest(word: str, shown: str) -> None:
    assert asked_for(word, IMAGE) == shown
