"""What the same signer said about an image before: it stands, and is not signed once more.

A key's signature of the same statement has the same bytes, so publishing again finds it there by its digest. Each
keyless one has a certificate of its own: signed again it would only be one more attachment, and one more entry in
the public log, that says nothing new.
"""

from collections.abc import Callable, Iterable

from reprobridge.digest import Digest, strict_json
from reprobridge.errors import TrustError
from reprobridge.publish.attested import Offered, Unread
from reprobridge.publish.signing.check import check_bundle
from reprobridge.publish.signing.policy import Policy
from reprobridge.publish.signing.signer import Signer
from reprobridge.publish.statements.statement import PredicateType, Statement


class Standing:
    """Bundles about one image that a policy accepts, by what they say."""

    def __init__(self, bundles: Iterable[Offered], policy: Policy, image: Digest) -> None:
        """What does not hold is passed over, as `verify` would."""
        self._said = [said for bundle in bundles for said in _accepted(bundle, policy, image)]

    def bundle(self, statement: Statement) -> bytes | None:
        """The first that says the same as the statement, if there is one."""
        wanted = _essence(strict_json(statement.to_bytes()))
        return next((bundle for said, bundle in self._said if said == wanted), None)


class StandingSigner:
    """Signs what does not stand yet."""

    def __init__(self, standing: Standing, name: str, signer: Callable[[], Signer]) -> None:
        """`signer` is asked for only when there is something to sign."""
        self._standing, self._signer = standing, signer
        self.name = name
        """Who signs."""

    def sign(self, statement: Statement) -> bytes:
        """The bundle that stands, or a new one."""
        return self._standing.bundle(statement) or self._signer().sign(statement)


def _accepted(bundle: Offered, policy: Policy, image: Digest) -> list[tuple[object, bytes]]:
    if isinstance(bundle, Unread):
        return []
    try:
        checked = check_bundle(bundle, policy, subject=image)
    except TrustError:
        return []
    return [(_essence(strict_json(checked.payload)), bundle)]


def _essence(statement: object) -> object:
    """The statement without which run it was that built, where it says that: every run builds the same."""
    match statement:
        case {
            "predicateType": PredicateType.PROVENANCE.value as kind,
            "predicate": {"runDetails": {**details}, **predicate},
            **rest,
        }:
            who = {name: part for name, part in details.items() if name != "metadata"}
            return {**rest, "predicateType": kind, "predicate": {**predicate, "runDetails": who}}
    return statement
