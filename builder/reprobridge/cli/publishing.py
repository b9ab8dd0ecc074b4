"""The parts of `reprobridge publish`, made from its words and the doors."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.cli.doors import Doors
from reprobridge.cli.signing import More, Signing
from reprobridge.errors import UsageError
from reprobridge.publish.gate import Accepted, Passed, Presented, pass_gate
from reprobridge.publish.model import Beside, Target
from reprobridge.publish.target import Layout, Repository, names_target
from reprobridge.wording import counted

if TYPE_CHECKING:
    from reprobridge.digest import Digest
    from reprobridge.oci.model import Descriptor
    from reprobridge.publish.attested import Offered
    from reprobridge.publish.known_publishing import KnownPublication
    from reprobridge.publish.proof import Proof
    from reprobridge.publish.signing.policy import Policy
    from reprobridge.registry.client import Registry
    from reprobridge.registry.model import Blob
    from reprobridge.validate.scored import Scored
    from reprobridge.validate.subject import Subject


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
        self.signing = Signing(arguments, doors.log)
        """Who signs."""

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
        from reprobridge.publish.proof import attested_proof
        from reprobridge.registry.reference import ImageReference

        where, policy = self._words.proof_from, self._trusted()
        place: Repository | Layout = Layout(Path(where.removeprefix("oci:")))
        if not where.startswith("oci:"):
            reference = ImageReference.parse(where)
            place = Repository(reference.registry, reference.repository)
        bundles = tuple(self.offered(place, image.digest))
        return attested_proof(Said(bundles=bundles, subject=image.digest, where=where), policy)

    def offered(self, place: Repository | Layout, image: "Digest") -> "Iterator[Offered]":
        """What is attached to an image there. Raises RegistryError."""
        from reprobridge.publish.bundles import layout_bundles, registry_bundles

        if isinstance(place, Layout):
            return layout_bundles(place.folder, image)
        return registry_bundles(self.registry(place.host), place.path, image)

    def _trusted(self) -> "Policy":
        """Whose attestations count: those of the key that is named, else our own."""
        from reprobridge.cli.key_files import public_key
        from reprobridge.publish.signing.policy import KeyPolicy

        if self._words.proof_key:
            return KeyPolicy(public_key(self._words.proof_key))
        if self._words.key:
            return KeyPolicy(self.signing.private_key.public_key)
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

    # afterwards

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
            signer=KeySigner(self.signing.private_key),
            policy=KeyPolicy(self.signing.private_key.public_key),
            blob_of=self.blobs(to, passed),
        )
