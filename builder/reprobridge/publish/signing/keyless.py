"""Keyless signatures through sigstore (extra `sigstore`): a workflow signs as itself, a public log remembers it.

Signing asks sigstore's certificate authority, its transparency log and its clock; they and the identity's token
are reached by the library `sigstore` itself. Checking is offline: the bundle holds everything, the roots of
trust come with the library (or a newer copy that it keeps in the user's cache).
"""

import base64
import contextlib
import json
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from reprobridge.errors import TrustError, UsageError
from reprobridge.publish.signing.bundle import require_statement
from reprobridge.publish.signing.policy import IdentityPolicy
from reprobridge.publish.signing.signer import Signer
from reprobridge.publish.statements.statement import Statement

if TYPE_CHECKING:
    from sigstore.dsse import Statement as SigstoreStatement
    from sigstore.models import Bundle
    from sigstore.oidc import IdentityToken

GITHUB_ISSUER = "https://token.actions.githubusercontent.com"
"""Who vouches for the workflows of GitHub Actions."""
_HINT = "install it with `pip install 'reprobridge[sigstore]'`"


class Sigstore(Protocol):
    """What the library's signer does for us."""

    def sign_dsse(self, statement: "SigstoreStatement", /) -> "Bundle":
        """Sign a statement, put it into the log."""


class KeylessSigner:
    """Signs as an identity, with a key and a certificate that live for some minutes."""

    def __init__(self, signer: Sigstore, name: str) -> None:
        self._signer = signer
        self._name = name

    @property
    def name(self) -> str:
        """The identity."""
        return self._name

    def sign(self, statement: Statement) -> bytes:
        """The bundle's bytes, of exactly the statement's bytes. Raises TrustError when sigstore does not sign."""
        from sigstore.dsse import Statement as SigstoreStatement

        try:
            return self._signer.sign_dsse(SigstoreStatement(statement.to_bytes())).to_json().encode()
        except Exception as error:  # its services' errors have no root class
            raise TrustError("sigstore did not sign", where=self._name, found=str(error)) from error


class RunningWorkflow:
    """Who signs without a key: the workflow that runs, by the token that its CI service gave it."""

    def __init__(self, token: "IdentityToken") -> None:
        self._token = token

    @property
    def name(self) -> str:
        """The identity, as the token has it."""
        return f"{self._token.identity} (issuer {self._token.federated_issuer})"

    @property
    def policy(self) -> IdentityPolicy | None:
        """What its signatures are verified by; None for a CI service whose certificates we cannot foretell."""
        return foretold_policy(str(self._token))

    @contextlib.contextmanager
    def signer(self) -> Iterator[Signer]:
        """Have sigstore certify a key. Raises TrustError when its roots of trust cannot be had."""
        from sigstore.errors import Error
        from sigstore.models import ClientTrustConfig
        from sigstore.sign import SigningContext

        try:
            context = SigningContext.from_trust_config(ClientTrustConfig.production())
        except Error as error:
            raise TrustError("sigstore's roots of trust cannot be had", found=str(error)) from error
        with context.signer(self._token) as signer:
            yield KeylessSigner(signer, self.name)


def running_workflow() -> RunningWorkflow:
    """Who we are here. Raises UsageError without the extra, or where there is no identity."""
    _require_library()
    from sigstore.oidc import IdentityError, IdentityToken, detect_credential

    try:
        credential = detect_credential()
        token = IdentityToken(credential) if credential else None
    except IdentityError as error:
        raise UsageError("there is no identity to sign as", found=str(error), hint=_HOW) from error
    if token is None:
        raise UsageError("there is no identity to sign as", expected="a CI workflow's", hint=_HOW)
    return RunningWorkflow(token)


def foretold_policy(token: str) -> IdentityPolicy | None:
    """The identity that sigstore's certificate gives to the bearer of a token of GitHub Actions; else None.

    The certificate authority makes it of the token's claims so (fulcio's config/identity/config.yaml). It is only
    for recognising what the same workflow signed before, so nothing depends on the token being genuine.
    """
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (ValueError, IndexError, RecursionError):
        return None
    match claims:
        case {"iss": str(issuer), "job_workflow_ref": str(workflow), "repository": str(repository)} if (
            issuer == GITHUB_ISSUER
        ):
            where = "https://github.com/"
            return IdentityPolicy(identity=where + workflow, issuer=issuer, repository=where + repository)
    return None


_HOW = "in GitHub Actions give the job the permission `id-token: write`; elsewhere sign with --key"


def check_keyless(bundle: bytes, policy: IdentityPolicy) -> bytes:
    """The statement that the identity signed. Raises TrustError; UsageError without the extra."""
    _require_library()
    from sigstore.models import Bundle
    from sigstore.verify import Verifier
    from sigstore.verify.policy import AllOf, Identity, OIDCSourceRepositoryURI, VerificationPolicy

    wanted: list[VerificationPolicy] = [Identity(identity=policy.identity, issuer=policy.issuer)]
    wanted += [OIDCSourceRepositoryURI(policy.repository)] if policy.repository else []
    try:
        kind, payload = Verifier.production(offline=True).verify_dsse(Bundle.from_json(bundle), AllOf(wanted))
    except Exception as error:  # whatever the library raises over hostile bytes: nothing is proven
        raise TrustError(
            "the signature does not hold", expected=f"signed by {policy}", found=str(error)
        ) from error
    require_statement(kind)
    return payload


def _require_library() -> None:
    try:
        import sigstore.models  # noqa: F401 - whether it and what it needs can be imported
    except ImportError as error:
        raise UsageError(
            "keyless signatures need the package `sigstore`", found=str(error), hint=_HINT
        ) from error
    # The library warns that it asks for no newer roots of trust; but offline is what we told it to be.
    logging.getLogger("sigstore").setLevel(logging.ERROR)
