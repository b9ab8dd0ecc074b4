"""Keyless signatures: a real bundle of sigstore's public instance is accepted offline, for its own signer only."""

import base64
import importlib.abc
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from sigstore.dsse import Statement as SigstoreStatement
from sigstore.models import Bundle

from reprobridge.digest import Digest
from reprobridge.errors import TrustError, UsageError
from reprobridge.frozen import replace
from reprobridge.publish.signing.bundle import signed_bytes
from reprobridge.publish.signing.check import check_bundle
from reprobridge.publish.signing.keyless import KeylessSigner, running_workflow
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.signing.policy import IdentityPolicy, KeyPolicy
from reprobridge.publish.statements.statement import PredicateType, Subject, image_signature

BUNDLE = (Path(__file__).parents[3] / "assets" / "sigstore" / "github-actions.sigstore.json").read_bytes()
WHEEL = Digest("49a3aa6075e0f49f82843e74b5baa614ad2a588e6675612bf108a0a008c5ac25")
POLICY = IdentityPolicy(
    identity="https://github.com/github/artifact-attestations-workflows/.github/workflows/attest.yml"
    "@09b495c3f12c7881b3cc17209a327792065c1a1d",
    issuer="https://token.actions.githubusercontent.com",
    repository="https://github.com/malancas/attest-demo",
)


@pytest.fixture(autouse=True)
def _no_network_and_no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The roots of trust are those that the library brings along."""

    def refuse(*_: object) -> None:
        pytest.fail("the check asked the network")

    monkeypatch.setattr("socket.socket.connect", refuse)
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))


def check(bundle: bytes = BUNDLE, policy: IdentityPolicy = POLICY, **expected: Any) -> Any:
    return check_bundle(bundle, policy, **{"subject": WHEEL, **expected})


def test_a_real_bundle_is_accepted_without_network() -> None:
    checked = check(predicate_type=PredicateType.PROVENANCE)
    signed = base64.b64decode(json.loads(BUNDLE)["dsseEnvelope"]["payload"])
    assert checked.payload == signed
    assert checked.predicate["runDetails"]["builder"]["id"].endswith("/runner/github-hosted")
    assert POLICY.identity in checked.signer


def test_the_repository_need_not_be_asked_for() -> None:
    assert check(policy=replace(POLICY, repository=None)).predicate_type == PredicateType.PROVENANCE


@pytest.mark.parametrize("field", ["identity", "issuer", "repository"])
@pytest.mark.parametrize("change", [str.upper, lambda text: f"{text}x", lambda text: text[:-1]])
def test_every_part_of_the_policy_must_be_equal(field: str, change: Any) -> None:
    with pytest.raises(TrustError, match="does not hold"):
        check(policy=replace(POLICY, **{field: change(getattr(POLICY, field))}))


def test_another_artifact_is_refused() -> None:
    with pytest.raises(TrustError, match="something else"):
        check(subject=Digest.of(b"another"))


def test_another_kind_of_statement_is_refused() -> None:
    with pytest.raises(TrustError, match="another kind"):
        check(predicate_type=PredicateType.SPDX)


def test_a_keys_policy_does_not_take_a_certificate() -> None:
    with pytest.raises(TrustError, match="without a key"):
        check_bundle(BUNDLE, KeyPolicy(PrivateKey.generate().public_key), subject=WHEEL)


def without_log(document: Any) -> None:
    document["verificationMaterial"]["tlogEntries"] = []


def other_payload(document: Any) -> None:
    statement = base64.b64decode(document["dsseEnvelope"]["payload"]).replace(b"malancas", b"somebody")
    document["dsseEnvelope"]["payload"] = base64.b64encode(statement).decode()


def other_time(document: Any) -> None:
    entry = document["verificationMaterial"]["tlogEntries"][0]
    entry["integratedTime"] = str(int(entry["integratedTime"]) + 86_400)


def other_signature(document: Any) -> None:
    signature = PrivateKey.generate().sign(b"x")
    document["dsseEnvelope"]["signatures"][0]["sig"] = base64.b64encode(signature).decode()


def broken_certificate(document: Any) -> None:
    document["verificationMaterial"]["certificate"]["rawBytes"] = "AAAA"


@pytest.mark.parametrize(
    "change", [without_log, other_payload, other_time, other_signature, broken_certificate]
)
def test_a_changed_bundle_is_refused(change: Any) -> None:
    document = json.loads(BUNDLE)
    change(document)
    with pytest.raises(TrustError):
        check(json.dumps(document).encode())


class Sigstore:
    """Stands for sigstore's signer: takes what would be signed, or fails."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.signed: list[SigstoreStatement] = []
        self.failure = failure

    def sign_dsse(self, statement: SigstoreStatement) -> Bundle:
        """Give the recorded bundle, whatever is signed."""
        if self.failure:
            raise self.failure
        self.signed.append(statement)
        return Bundle.from_json(BUNDLE)


STATEMENT = image_signature(Subject("registry.example/wine", WHEEL))


def test_sigstore_is_given_exactly_the_statements_bytes_to_sign() -> None:
    sigstore = Sigstore()
    bundle = KeylessSigner(sigstore, "me").sign(STATEMENT)
    (given,) = sigstore.signed
    assert given._pae() == signed_bytes(STATEMENT.to_bytes())
    assert check(bundle).predicate_type == PredicateType.PROVENANCE


def test_what_hinders_sigstore_is_said() -> None:
    with pytest.raises(TrustError, match="the log is closed"):
        KeylessSigner(Sigstore(Exception("the log is closed")), "me").sign(STATEMENT)


class Absent(importlib.abc.MetaPathFinder):
    """A machine where the extra is not installed."""

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse the library."""
        if name.partition(".")[0] == "sigstore":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture
def _without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "sigstore"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])


@pytest.mark.usefixtures("_without_the_extra")
def test_without_the_extra_it_is_said_what_to_install() -> None:
    with pytest.raises(UsageError, match=r"reprobridge\[sigstore\]"):
        check()
    with pytest.raises(UsageError, match=r"reprobridge\[sigstore\]"):
        running_workflow()


def test_without_an_identity_there_is_no_keyless_signer(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("GITHUB_ACTIONS", "GITLAB_CI", "CIRCLECI", "BUILDKITE", "GOOGLE_SERVICE_ACCOUNT_NAME"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UsageError, match="id-token: write"):
        running_workflow()
