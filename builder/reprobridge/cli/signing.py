"""Who signs what `publish` attaches: a key, the workflow that runs, or nobody."""

import argparse
import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from reprobridge.frozen import frozen
from reprobridge.publish.gate import Passed
from reprobridge.publish.model import Attachment, Beside, Publication, Target

if TYPE_CHECKING:
    from reprobridge.digest import Digest
    from reprobridge.publish.attested import Offered
    from reprobridge.publish.signing.keys import PrivateKey
    from reprobridge.publish.signing.signer import Signer
    from reprobridge.validate.subject import Subject


def _nothing() -> None:
    """Brings nothing."""


@frozen
class More:
    """Something that is brought after the image, as far as it is lacking."""

    beside: Beside = Beside()
    """What is lacking, for people."""
    bring: Callable[[], None] = _nothing
    """Brings it."""


class Signing:
    """The words of one run of the command that say who signs."""

    def __init__(self, words: argparse.Namespace, log: Callable[[str], object]) -> None:
        self._words, self._log = words, log

    @functools.cached_property
    def private_key(self) -> "PrivateKey":
        """The key that --key names, read once. Raises UsageError."""
        from reprobridge.cli.key_files import private_key

        return private_key(self._words.key)

    def attachments(
        self, passed: Passed, image: "Subject", name: str, offered: "Callable[[], Iterable[Offered]]"
    ) -> tuple[Attachment, ...]:
        """What is attached to the image: nothing without somebody who signs it.

        `name` is where it goes, `offered` gives what is attached to it there.
        """
        words, log = self._words, self._log
        if not words.key and not words.keyless:
            log(
                "note: not signed, and nothing attached: readers can't verify it; sign with --key or --keyless"
            )
            return ()
        if words.keyless and words.dry_run:
            log("note: nothing is signed in a dry run; publishing would attach a signature and attestations")
            return ()
        from reprobridge.publish.attachments import TITLES, signed, statements_about
        from reprobridge.publish.statements.provenance import build_in

        # No times: the same image published again then has the same attestations.
        build = build_in(os.environ, started=None, finished=None)
        statements, subject = statements_about(passed, image, name, build), passed.image.manifest
        with self._signer(subject.digest, offered) as signer:
            return tuple(signed(one, signer, subject, TITLES[one.predicate_type]) for one in statements)

    @contextlib.contextmanager
    def _signer(self, image: "Digest", offered: "Callable[[], Iterable[Offered]]") -> "Iterator[Signer]":
        if not self._words.keyless:
            from reprobridge.publish.signing.signer import KeySigner

            yield KeySigner(self.private_key)
            return
        from reprobridge.publish.signing.keyless import running_workflow
        from reprobridge.publish.signing.standing import Standing, StandingSigner

        workflow = running_workflow()
        with contextlib.ExitStack() as stack:
            opened = functools.cache(lambda: stack.enter_context(workflow.signer()))
            if workflow.policy is None:
                yield opened()
            else:
                standing = Standing(offered(), workflow.policy, image)
                yield StandingSigner(standing, workflow.name, opened)

    def cosign_tag(self, publication: Publication, target: Target) -> More:
        """The signature as cosign 2 keeps it, where that is asked for. Raises TrustError for another's tag."""
        if not self._words.cosign_tag:
            return More()
        from reprobridge.publish.signing.cosign_tag import add_signature, signature_tag
        from reprobridge.registry.model import SILENT, Blob

        tag = signature_tag(publication.digest)
        if not add_signature(target.manifest(tag), target.name, publication.digest, self.private_key).blobs:
            return More()

        def bring() -> None:
            # Looked at again: somebody else may have signed meanwhile, which took the image its time.
            signed = add_signature(target.manifest(tag), target.name, publication.digest, self.private_key)
            target.push([Blob.of(data) for data in signed.blobs], SILENT)
            target.put_manifest(tag, signed.manifest)

        return More(Beside(tags=(tag,)), bring)
