"""The parts of `reprobridge publish`, made from its words and the doors."""

import argparse
import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.cli.doors import Doors
from reprobridge.errors import UsageError
from reprobridge.frozen import frozen
from reprobridge.publish.gate import Accepted, Passed, Presented, pass_gate
from reprobridge.publish.model import Attachment, Beside, Publication, Target
from reprobridge.publish.target import Layout, Repository, names_target
from reprobridge.wording import counted

if TYPE_CHECKING:
    from reprobridge.oci.model import Descriptor
    from reprobridge.publish.known_publishing import KnownPublication
    from reprobridge.publish.proof import Proof
    from reprobridge.publish.signing.keys import PrivateKey
    from reprobridge.publish.signing.policy import Policy
    from reprobridge.publish.signing.signer import Signer
    from reprobridge.registry.client import Registry
    from reprobridge.registry.model import Blob
    from reprobridge.validate.scored import Scored
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


def joined(one: Beside, other: Beside) -> Beside:
    """Both."""
    return Beside(
        known=one.known + other.known, blobs=(*one.blobs, *other.blobs), tags=(*one.tags, *other.tags)
    )


class Publishing:
    """One run of the command: its words, and what is made of them once."""

    def __init__(self, arguments: argparse.Namespace, doors: Doors) -> None:
        """Raises UsageError for words that do not fit together."""
        if arguments.cosign_tag and not arguments.key:
            raise UsageError("cosign's tag takes a key", where="--cosign-tag", expected="--key FILE")
        if arguments.keyless and doors.offline:
            raise UsageError("signing without a key takes the network", where="--keyless", found="--offline")
        if arguments.proof_key and not arguments.proof_from:
            raise UsageError("no proof is taken over", where="--proof-key", expected="--proof-from REPO")
        self._words = arguments
        self._doors = doors
        self._connected: dict[str, Registry] = {}

    def registry(self, host: str) -> "Registry":
        """The registry of a host, connected once."""
        from reprobridge.registry.connect import connect

        if host not in self._connected:
            doors, insecure = self._doors, self._words.insecure
            self._connected[host] = connect(host, doors.http, say=doors.log, insecure=insecure)
        return self._connected[host]

    # the gate

    def let_pass(self, image: "Subject") -> Passed:
        """The image past the gate. Raises GateClosedError, PublishError, TrustError."""
        from reprobridge.publish.evidence import find_evidence, find_report

        words, artifact, store = self._words, image.artifact, self._doors.store
        report = find_report(store, image.digest, words.report)
        offered: Mapping[str, Scored] = {}
        if words.proof_from:
            proof = self._proof(image)
            report, offered = report or proof.report, proof.evidence
        return pass_gate(
            Presented(
                image=image.parts,
                artifact=artifact,
                report=report,
                evidence=find_evidence(store, artifact, words.evidence, offered),
                accepted=Accepted(not_run=words.accept_not_run, unmeasured=words.accept_unmeasured),
            )
        )

    def _proof(self, image: "Subject") -> "Proof":
        from reprobridge.publish.attested import Said
        from reprobridge.publish.bundles import layout_bundles, registry_bundles
        from reprobridge.publish.proof import attested_proof
        from reprobridge.registry.reference import ImageReference

        where, policy = self._words.proof_from, self._trusted()
        if where.startswith("oci:"):
            bundles = layout_bundles(Path(where.removeprefix("oci:")), image.digest)
        else:
            reference = ImageReference.parse(where)
            registry = self.registry(reference.registry)
            bundles = registry_bundles(registry, reference.repository, image.digest)
        return attested_proof(Said(bundles=tuple(bundles), subject=image.digest, where=where), policy)

    def _trusted(self) -> "Policy":
        """Whose attestations count: those of the key that is named, else our own."""
        from reprobridge.cli.key_files import public_key
        from reprobridge.publish.signing.policy import KeyPolicy

        if self._words.proof_key:
            return KeyPolicy(public_key(self._words.proof_key))
        if self._words.key:
            return KeyPolicy(self._private_key.public_key)
        raise UsageError(
            "nobody is named whose proof counts", where="--proof-from", expected="--proof-key or --key"
        )

    # the target

    def target(self, to: Repository | Layout, image: str) -> Target:
        """What is published into."""
        if isinstance(to, Layout):
            from reprobridge.publish.layout_target import LayoutTarget

            return LayoutTarget(to.folder, image)
        from reprobridge.publish.registry_target import RegistryTarget

        return RegistryTarget(self.registry(to.host), to.path, proves_blobs=not self._words.check_blobs)

    def blobs(self, to: Repository | Layout, passed: Passed) -> "Callable[[Descriptor], Blob]":
        """How a blob of the image is had: its bytes, or another repository of the same registry that holds it."""
        from reprobridge.publish.layer_bytes import LayerBytes
        from reprobridge.publish.pushed import Mounts
        from reprobridge.registry.model import Blob

        held = LayerBytes(path=passed.image.path, store=self._doors.store, connect=self.registry)
        if isinstance(to, Layout):
            return lambda blob: Blob(blob, lambda: held.open(blob))
        mounts = Mounts(
            self._doors.store, to.host, (*self._mount_from(to.host), *self._near(to.host, passed))
        )

        def blob_of(blob: "Descriptor") -> Blob:
            sure = held.repositories(blob.digest, to.host)
            return Blob(blob, lambda: held.open(blob), mounts.sources(blob.digest, to.path, sure))

        return blob_of

    def _near(self, host: str, passed: Passed) -> list[str]:
        """Repositories of a registry where this very image was published, or layers of it are known."""
        from reprobridge.assemble.elsewhere import place_of
        from reprobridge.registry.reference import ImageReference

        found: list[str] = []
        proof = self._words.proof_from or "oci:"
        if not proof.startswith("oci:") and (reference := ImageReference.parse(proof)).registry == host:
            found.append(reference.repository)
        places = [place_of(self._doors.store, layer.digest) for layer in passed.image.layers]
        found += [place.repository for place in places if place is not None and place.host == host]
        return list(dict.fromkeys(found))

    def _mount_from(self, host: str) -> tuple[str, ...]:
        """The repositories that --mount-from names, as paths in the registry. Raises UsageError."""
        paths = [word.removeprefix(f"{host}/") for word in self._words.mount_from]
        for path in filter(names_target, paths):
            raise UsageError(
                "layers are mounted within one registry only",
                where="--mount-from",
                expected=f"a repository of {host}",
                found=path,
            )
        return tuple(paths)

    # signing

    @functools.cached_property
    def _private_key(self) -> "PrivateKey":
        from reprobridge.cli.key_files import private_key

        return private_key(self._words.key)

    @contextlib.contextmanager
    def _signer(self) -> "Iterator[Signer]":
        if self._words.keyless:
            from reprobridge.publish.signing.keyless import keyless_signer

            with keyless_signer() as signer:
                yield signer
        else:
            from reprobridge.publish.signing.signer import KeySigner

            yield KeySigner(self._private_key)

    def attachments(self, passed: Passed, image: "Subject", name: str) -> tuple[Attachment, ...]:
        """What is attached to the image: nothing without somebody who signs it."""
        words, log = self._words, self._doors.log
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
        with self._signer() as signer:
            return tuple(signed(one, signer, subject, TITLES[one.predicate_type]) for one in statements)

    # afterwards

    def cosign_tag(self, publication: Publication, target: Target) -> More:
        """The signature as cosign 2 keeps it, where that is asked for. Raises TrustError for another's tag."""
        if not self._words.cosign_tag:
            return More()
        from reprobridge.publish.signing.cosign_tag import add_signature, signature_tag
        from reprobridge.registry.model import SILENT, Blob

        tag = signature_tag(publication.digest)
        if not add_signature(target.manifest(tag), target.name, publication.digest, self._private_key).blobs:
            return More()

        def bring() -> None:
            # Looked at again: somebody else may have signed meanwhile, which took the image its time.
            signed = add_signature(target.manifest(tag), target.name, publication.digest, self._private_key)
            target.push([Blob.of(data) for data in signed.blobs], SILENT)
            target.put_manifest(tag, signed.manifest)

        return More(Beside(tags=(tag,)), bring)

    def remember(self, to: Repository | Layout, passed: Passed) -> None:
        """Remember where the layers are, for the next paper that shares them."""
        from reprobridge.publish.pushed import remember_pushed

        image = passed.image
        if isinstance(to, Repository):
            held = (blob.digest for blob in (*image.layers, image.config))
            remember_pushed(self._doors.store, to.host, to.path, held)

    def known_layers(self, to: Repository | Layout, passed: Passed) -> More:
        """The image's layers as an addition to those that are known in the repository.

        They are added when a key signs them. Raises TrustError where what is known there contradicts the image.
        """
        from reprobridge.publish.known_layers import TAG
        from reprobridge.publish.known_publishing import UntrustedListError, add, addition

        known = self._known_publication(to, passed)
        if known is None:
            return More()
        try:
            more = addition(known)
        except UntrustedListError as error:
            self._doors.log(f"note: the known layers of the repository stay as they are: {error.message}")
            return More()
        if more is None:
            return More()

        def bring() -> None:
            add(known, more)
            self._doors.log(f"{counted(more.added, 'layer')} more are known in {known.target.name}")

        # Each look is a request, and only a plan shows what comes of them.
        looked_for = known.ours.values() if self._words.dry_run else ()
        absent = tuple(blob for blob in looked_for if not known.target.holds(blob))
        return More(Beside(known=more.added, blobs=absent, tags=(TAG,)), bring)

    def _known_publication(self, to: Repository | Layout, passed: Passed) -> "KnownPublication | None":
        if not isinstance(to, Repository) or not self._words.key:
            return None
        from reprobridge.publish.known_layers import RemoteList
        from reprobridge.publish.known_publishing import KnownPublication, known_here
        from reprobridge.publish.signing.policy import KeyPolicy
        from reprobridge.publish.signing.signer import KeySigner

        ours = known_here(self._doors.store, passed.image.manifest.digest)
        if not ours:
            return None
        return KnownPublication(
            ours=ours,
            remote=RemoteList(self.registry(to.host), to.path),
            target=self.target(to, passed.image.name),
            signer=KeySigner(self._private_key),
            policy=KeyPolicy(self._private_key.public_key),
            blob_of=self.blobs(to, passed),
        )
