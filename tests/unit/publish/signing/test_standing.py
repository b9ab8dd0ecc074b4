"""What stands already is not signed once more: only what somebody whom the policy trusts said, and nothing else."""

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes.registry.server import FakeRegistry
from reprobridge.digest import Digest
from reprobridge.frozen import replace
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.attachments import signed
from reprobridge.publish.attested import Offered, Unread
from reprobridge.publish.bundles import registry_bundles
from reprobridge.publish.registry_target import RegistryTarget
from reprobridge.publish.signing.bundle import sign_with_key
from reprobridge.publish.signing.keyless import foretold_policy
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.signing.policy import IdentityPolicy, KeyPolicy
from reprobridge.publish.signing.signer import Signer
from reprobridge.publish.signing.standing import Standing, StandingSigner
from reprobridge.publish.statements.statement import PredicateType, Statement, Subject, image_signature
from reprobridge.registry.model import SILENT, Blob
from reprobridge.system.http import RealHttp
from support.registries import client

KEY = PrivateKey.generate()
POLICY = KeyPolicy(KEY.public_key)
IMAGE = Descriptor(MediaType.MANIFEST, Digest.of(b"image"), 5)
SUBJECT = Subject("registry.example/paper", IMAGE.digest)
SIGNATURE = image_signature(SUBJECT)


class NewEachTime:
    """Signs the same statement with other bytes each time, as keyless signers do."""

    name = "new each time"

    def __init__(self, key: PrivateKey = KEY) -> None:
        self.key = key
        self.signed = 0

    def sign(self, statement: Statement) -> bytes:
        """A bundle that holds."""
        self.signed += 1
        bundle = json.loads(sign_with_key(statement.to_bytes(), self.key))
        bundle["verificationMaterial"]["publicKey"]["hint"] = str(self.signed)
        return json.dumps(bundle).encode()


def provenance(*, run: str, builder: str = "workflow", lock: str = "a") -> Statement:
    """A statement about who built the image, and in which run."""
    return Statement(
        subject=SUBJECT,
        predicate_type=PredicateType.PROVENANCE,
        predicate={
            "buildDefinition": {"lock": lock},
            "runDetails": {"builder": {"id": builder}, "metadata": {"invocationId": run}},
        },
    )


def stands(said: Statement, wanted: Statement, *, key: PrivateKey = KEY) -> bool:
    bundle = NewEachTime(key).sign(said)
    found = Standing([bundle], POLICY, IMAGE.digest).bundle(wanted)
    assert found in (None, bundle)
    return found is not None


def test_a_statement_that_the_signer_made_before_stands() -> None:
    assert stands(SIGNATURE, SIGNATURE)


def test_what_somebody_else_signed_does_not_stand() -> None:
    assert not stands(SIGNATURE, SIGNATURE, key=PrivateKey.generate())


@pytest.mark.parametrize(
    "said",
    [
        image_signature(replace(SUBJECT, name="registry.example/other")),
        image_signature(replace(SUBJECT, digest=Digest.of(b"other"))),
        replace(SIGNATURE, predicate={"more": "words"}),
        replace(SIGNATURE, predicate_type=PredicateType.SPDX),
    ],
)
def test_a_statement_that_says_something_else_does_not_stand(said: Statement) -> None:
    assert not stands(said, SIGNATURE)


def test_a_provenance_stands_whichever_run_it_tells_of() -> None:
    assert stands(provenance(run="1"), provenance(run="2"))


@pytest.mark.parametrize("changed", [{"builder": "somebody"}, {"lock": "b"}])
def test_a_provenance_of_another_builder_or_of_something_else_does_not_stand(changed: dict[str, str]) -> None:
    assert not stands(provenance(run="1", **changed), provenance(run="1"))


@pytest.mark.parametrize("offered", [[], [b"no bundle"], [Unread("lost")]])
def test_where_nothing_stands_it_is_signed(offered: Sequence[Offered]) -> None:
    ours = NewEachTime()
    signer = StandingSigner(Standing(offered, POLICY, IMAGE.digest), "us", lambda: ours)
    assert signer.sign(SIGNATURE) == NewEachTime().sign(SIGNATURE)
    assert ours.signed == 1


def test_published_again_only_what_is_new_is_signed_and_attached(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    registry, ours = client(fake_registry.host, real_http), NewEachTime()
    target = RegistryTarget(registry, "lab/paper")

    def publish(*statements: Statement) -> int:
        """Attach what is lacking; gives how many that is."""
        standing = Standing(registry_bundles(registry, "lab/paper", IMAGE.digest), POLICY, IMAGE.digest)
        signer: Signer = StandingSigner(standing, "us", lambda: ours)
        attachments = [signed(one, signer, IMAGE, "title") for one in statements]
        lacking = [one for one in attachments if one.digest not in target.attached(IMAGE)]
        target.push([Blob.of(blob) for one in lacking for blob in one.blobs], SILENT)
        target.attach(IMAGE, [one.manifest for one in lacking])
        return len(lacking)

    assert (publish(SIGNATURE, provenance(run="1")), ours.signed) == (2, 2)
    assert (publish(SIGNATURE, provenance(run="2")), ours.signed) == (0, 2)
    assert (publish(SIGNATURE, provenance(run="2", lock="b")), ours.signed) == (1, 3)


def test_a_signer_is_not_opened_where_everything_stands() -> None:
    def opened() -> Signer:
        pytest.fail("somebody asked sigstore for a certificate")

    standing = Standing([NewEachTime().sign(SIGNATURE)], POLICY, IMAGE.digest)
    assert StandingSigner(standing, "us", opened).sign(SIGNATURE)


# keyless

RECORDED = (Path(__file__).parents[3] / "assets" / "sigstore" / "github-actions.sigstore.json").read_bytes()
CLAIMS = {
    "iss": "https://token.actions.githubusercontent.com",
    "job_workflow_ref": "github/artifact-attestations-workflows/.github/workflows/attest.yml"
    "@09b495c3f12c7881b3cc17209a327792065c1a1d",
    "repository": "malancas/attest-demo",
    "sub": "repo:malancas/attest-demo:ref:refs/heads/main",
}
"""What GitHub's token said when the recorded bundle was signed, as far as the certificate shows it."""


def token(**claims: Any) -> str:
    """A token of GitHub Actions, signed by nobody."""
    payload = base64.urlsafe_b64encode(json.dumps({**CLAIMS, **claims}).encode()).decode()
    return f"e30.{payload.rstrip('=')}.c2ln"


def recorded() -> tuple[Statement, Digest]:
    """The statement in the recorded bundle, and what it is about."""
    payload = json.loads(base64.b64decode(json.loads(RECORDED)["dsseEnvelope"]["payload"]))
    (subject,) = payload["subject"]
    digest = Digest(subject["digest"]["sha256"])
    statement = Statement(
        subject=Subject(subject["name"], digest),
        predicate_type=payload["predicateType"],
        predicate=payload["predicate"],
    )
    return statement, digest


def test_a_keyless_signature_of_the_workflow_that_runs_stands() -> None:
    (statement, image), policy = recorded(), foretold_policy(token())
    assert policy is not None
    assert Standing([RECORDED], policy, image).bundle(statement) == RECORDED


@pytest.mark.parametrize(
    "claims",
    [
        {"repository": "somebody/attest-demo"},
        {"job_workflow_ref": CLAIMS["job_workflow_ref"].replace("@09", "@10")},
    ],
)
def test_a_keyless_signature_of_another_workflow_does_not_stand(claims: dict[str, str]) -> None:
    (statement, image), policy = recorded(), foretold_policy(token(**claims))
    assert policy is not None
    assert Standing([RECORDED], policy, image).bundle(statement) is None


@pytest.mark.parametrize(
    "unknown",
    [
        "",
        "no token",
        "e30.e30.e30",
        "e30.W10.e30",
        "e30.!.e30",
        token(iss="https://gitlab.com"),
        token(iss="https://token.actions.githubusercontent.com/company"),
        token(repository=None),
    ],
)
def test_of_another_token_nothing_is_foretold(unknown: str) -> None:
    assert foretold_policy(unknown) is None


def test_what_is_foretold_is_what_readers_verify_by() -> None:
    assert foretold_policy(token()) == IdentityPolicy(
        identity=f"https://github.com/{CLAIMS['job_workflow_ref']}",
        issuer=CLAIMS["iss"],
        repository="https://github.com/malancas/attest-demo",
    )
