"""Whose signature counts: a key's, or an identity that an issuer vouched for."""

from typing import TypeAlias

from reprobridge.frozen import frozen
from reprobridge.publish.signing.keys import PublicKey


@frozen
class KeyPolicy:
    """Signed with this key."""

    key: PublicKey
    """The public half."""

    def __str__(self) -> str:
        return f"key {self.key.fingerprint}"


@frozen(kw_only=True)
class IdentityPolicy:
    """Signed by somebody whom sigstore's certificate names; everything must be equal, character by character."""

    identity: str
    """The certificate's subject: an e-mail address, or a workflow such as
    `https://github.com/OWNER/NAME/.github/workflows/publish.yml@refs/tags/v1.0.0`."""
    issuer: str
    """Who vouched for it: `https://token.actions.githubusercontent.com` for GitHub Actions."""
    repository: str | None = None
    """Address of the repository whose workflow ran. A reusable workflow's identity is its own, whoever calls it:
    only the repository tells its callers apart. None: any."""

    def __str__(self) -> str:
        caller = f", repository {self.repository}" if self.repository else ""
        return f"{self.identity} (issuer {self.issuer}{caller})"


Policy: TypeAlias = KeyPolicy | IdentityPolicy
