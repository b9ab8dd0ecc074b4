"""`reprobridge verify`: are these an image's bytes, who signed it, and does what they say fit what it holds?"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.cli.doors import Doors
from reprobridge.cli.values import path_word

if TYPE_CHECKING:
    from reprobridge.digest import Digest
    from reprobridge.publish.signing.policy import Policy
    from reprobridge.replicate.signed import Signed

NAME = "verify"
SUMMARY = "check an image's digests, signature and attestations against a key or an identity"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "image", metavar="DIR|oci:PATH|IMAGE", help="an image of a registry, of a layout or of the store"
    )
    trust = parser.add_argument_group("whom you trust")
    trust.add_argument("--key", type=path_word, metavar="PUB", help="public key that must have signed")
    trust.add_argument("--identity", metavar="ID", help="subject of sigstore's certificate, exactly")
    trust.add_argument("--issuer", metavar="URL", help="who vouched for the identity, exactly")
    trust.add_argument("--repository", metavar="URL", help="repository whose workflow must have signed")
    parser.add_argument(
        "--require",
        nargs="+",
        action="extend",
        default=[],
        metavar="TYPE",
        help="signature, provenance, sbom, validation (these four by default), cyclonedx, measurements, or a URI",
    )
    parser.add_argument(
        "--bundle",
        nargs="+",
        action="extend",
        default=[],
        type=path_word,
        metavar="FILE",
        help="signed statements in files, besides those that are attached",
    )
    parser.add_argument("--all", action="store_true", help="fetch every layer and check its digests")
    parser.add_argument(
        "--accept-not-run", action="store_true", help="accept checks that the publisher accepted as not run"
    )
    parser.add_argument("--json", action="store_true", help="print the answers as JSON")
    parser.add_argument("--insecure", action="store_true", help="plain http to a registry on another machine")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Ask everything, print all answers; 12 when one of them is no."""
    from reprobridge.cli.images import open_image
    from reprobridge.errors import TrustError
    from reprobridge.registry.refusals import LostBlobError, WrongBytesError
    from reprobridge.replicate.answers import verification_lines
    from reprobridge.replicate.requirement import Demand, required
    from reprobridge.replicate.verify import verify, verify_unserved

    demand = Demand(
        policy=policy_of(arguments),
        required=required(arguments.require),
        every_layer=arguments.all,
        accept_not_run=arguments.accept_not_run,
    )
    with doors.store.working():
        try:
            parts = open_image(arguments.image, doors, whole=False, insecure=arguments.insecure)
        except (LostBlobError, WrongBytesError) as error:
            if error.wanted is None:
                raise
            signed = _signed(arguments, error.wanted, doors)
            verification = verify_unserved(error.wanted, error, signed, demand)
        else:
            signed = _signed(arguments, parts.manifest.digest, doors)
            verification = verify(parts, signed, demand, doors.store)
    if arguments.json:
        import json

        print(json.dumps(verification.to_json(), indent=1), file=doors.out)
    else:
        print(asked_for(arguments.image, verification.image), file=doors.out)
        for line in verification_lines(verification):
            print(line, file=doors.out)
    return 0 if verification.held else TrustError.exit_code


def asked_for(word: str, image: "Digest") -> str:
    """The image as it was named, and its digest: names that come with an image are not to be relied on."""
    if word.endswith(f"@{image}") or word == str(image):
        return word
    return f"{word}: {image}" if "@" in word else f"{word}@{image}"


def policy_of(arguments: argparse.Namespace) -> "Policy":
    """Whose signatures count. Raises UsageError when the words do not say it, or say more than one thing."""
    from reprobridge.cli.key_files import public_key
    from reprobridge.errors import UsageError
    from reprobridge.publish.signing.policy import IdentityPolicy, KeyPolicy

    words = ("key", "identity", "issuer", "repository")
    given = [f"--{word}" for word in words if getattr(arguments, word) is not None]
    if given != ["--key"] and ("--key" in given or not {"--identity", "--issuer"} <= {*given}):
        raise UsageError(
            "whose signature counts must be said",
            expected="--key PUB alone, or --identity ID with --issuer URL",
            found=", ".join(given) or "none of them",
            hint="the author's public key, or the workflow that publishes and its issuer",
        )
    if arguments.key is not None:
        return KeyPolicy(public_key(arguments.key))
    return IdentityPolicy(
        identity=arguments.identity, issuer=arguments.issuer, repository=arguments.repository
    )


def _signed(arguments: argparse.Namespace, image: "Digest", doors: Doors) -> "Signed":
    """What is offered: in files, and what is attached where the image lies."""
    from itertools import chain

    from reprobridge.cli.images import layout_of, names_registry
    from reprobridge.publish.bundles import file_bundles, layout_bundles, registry_bundles
    from reprobridge.publish.tag_signatures import layout_signatures, registry_signatures
    from reprobridge.replicate.signed import Signed

    word, given = arguments.image, file_bundles(arguments.bundle)
    if word.startswith("oci:"):
        folder, _ = layout_of(word)
        attached = layout_bundles(folder, image)
        return Signed(bundles=chain(given, attached), tagged=lambda: layout_signatures(folder, image))
    if names_registry(word) and not Path(word).is_dir() and not doors.offline:
        from reprobridge.registry.connect import connect
        from reprobridge.registry.reference import ImageReference

        reference = ImageReference.parse(word)
        registry = connect(reference.registry, doors.http, say=doors.log, insecure=arguments.insecure)
        place = registry, reference.repository, image
        return Signed(
            bundles=chain(given, registry_bundles(*place)), tagged=lambda: registry_signatures(*place)
        )
    return Signed(bundles=given)
