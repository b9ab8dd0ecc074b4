"""`reprobridge verify`: are these an image's bytes, who signed it, and does what they say fit what it holds?"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.cli.doors import Doors

if TYPE_CHECKING:
    from reprobridge.digest import Digest
    from reprobridge.publish.signing.policy import Policy

NAME = "verify"
SUMMARY = "check an image's digests, signature and attestations against a key or an identity"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "image", metavar="DIR|oci:PATH|IMAGE", help="an image of a registry, of a layout or of the store"
    )
    trust = parser.add_argument_group("whom you trust")
    trust.add_argument("--key", type=Path, metavar="PUB", help="public key that must have signed")
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
        type=Path,
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
    from reprobridge.replicate.requirement import required
    from reprobridge.replicate.verify import Demand, verification_lines, verify

    demand = Demand(
        policy=_policy(arguments),
        required=required(arguments.require),
        every_layer=arguments.all,
        accept_not_run=arguments.accept_not_run,
    )
    with doors.store.working():
        parts = open_image(arguments.image, doors, whole=False, insecure=arguments.insecure)
        bundles = _bundles(arguments, parts.manifest.digest, doors)
        verification = verify(parts, bundles, demand, doors.store)
    if arguments.json:
        import json

        print(json.dumps(verification.to_json(), indent=1), file=doors.out)
    else:
        print(f"{parts.name}@{verification.image}", file=doors.out)
        for line in verification_lines(verification):
            print(line, file=doors.out)
    return 0 if verification.held else TrustError.exit_code


def _policy(arguments: argparse.Namespace) -> "Policy":
    from reprobridge.cli.key_files import public_key
    from reprobridge.errors import UsageError
    from reprobridge.publish.signing.policy import IdentityPolicy, KeyPolicy

    by_name = arguments.identity is not None and arguments.issuer is not None
    if (arguments.key is None) != by_name:
        raise UsageError(
            "whose signature counts must be said",
            expected="--key PUB, or --identity ID with --issuer URL",
            found="both" if by_name else "neither",
            hint="the author's public key, or the workflow that publishes and its issuer",
        )
    if arguments.key is not None:
        return KeyPolicy(public_key(arguments.key))
    return IdentityPolicy(
        identity=arguments.identity, issuer=arguments.issuer, repository=arguments.repository
    )


def _bundles(arguments: argparse.Namespace, image: "Digest", doors: Doors) -> "Iterator[bytes]":
    """What is offered: in files, and what is attached where the image lies."""
    from reprobridge.cli.images import layout_of, names_registry
    from reprobridge.publish.bundles import file_bundles, layout_bundles, registry_bundles

    yield from file_bundles(arguments.bundle)
    word = arguments.image
    if word.startswith("oci:"):
        yield from layout_bundles(layout_of(word)[0], image)
    elif names_registry(word) and not Path(word).is_dir() and not doors.offline:
        from reprobridge.registry.connect import connect
        from reprobridge.registry.reference import ImageReference

        reference = ImageReference.parse(word)
        registry = connect(reference.registry, doors.http, insecure=arguments.insecure)
        yield from registry_bundles(registry, reference.repository, image)
