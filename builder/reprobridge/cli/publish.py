"""`reprobridge publish`: bring an image that was proven to work to where readers find it."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.cli.doors import Doors
from reprobridge.cli.values import path_word

if TYPE_CHECKING:
    from reprobridge.oci.model import Descriptor
    from reprobridge.publish.model import Difference, Publication, Target
    from reprobridge.publish.telling import Plan
    from reprobridge.registry.model import Blob
    from reprobridge.registry.transfer import Moved

NAME = "publish"
SUMMARY = "push a validated image to a registry, with what is known about it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="[DIR|oci:PATH|IMAGE] [REGISTRY/REPO|oci:FOLDER]",
        help="the image (default: the artifact here) and where it goes (default: ghcr.io/OWNER/PAPER)",
    )
    _add_proof(parser.add_argument_group("what proves that it works"))
    _add_place(parser.add_argument_group("how it is published"))


def _add_proof(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--report", type=path_word, metavar="FILE", help="report of `validate --json` (default: the store's)"
    )
    group.add_argument(
        "--evidence",
        type=path_word,
        action="append",
        default=[],
        metavar="DIR",
        help="evidence folder of `run`, besides the store's; repeatable",
    )
    group.add_argument(
        "--proof-from",
        metavar="REPO|oci:FOLDER",
        help="where this image was published before: its attested report and evidence",
    )
    group.add_argument(
        "--proof-key",
        type=path_word,
        metavar="FILE",
        help="public key that must have signed that (default: --key's)",
    )
    group.add_argument(
        "--accept-not-run", action="store_true", help="accept checks that were not run; attested"
    )
    group.add_argument(
        "--accept-unmeasured", action="store_true", help="accept tasks without evidence; attested"
    )


def _add_place(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--also-tag",
        action="append",
        default=[],
        metavar="TAG",
        help="another tag, such as latest; repeatable",
    )
    group.add_argument("--move-tag", action="store_true", help="let a published version become another image")
    group.add_argument(
        "--mount-from",
        action="append",
        default=[],
        metavar="REPO",
        help="repository of the same registry that may hold layers; repeatable",
    )
    signing = group.add_mutually_exclusive_group()
    signing.add_argument(
        "--key", type=path_word, metavar="FILE", help="private key that signs (`reprobridge keygen`)"
    )
    signing.add_argument(
        "--keyless", action="store_true", help="sign as the workflow that runs, through sigstore"
    )
    group.add_argument("--cosign-tag", action="store_true", help="with --key: sign under cosign 2's tag too")
    group.add_argument("--insecure", action="store_true", help="plain http to a registry on another machine")
    group.add_argument(
        "--check-blobs",
        action="store_true",
        help="look for every blob, and bring what the registry lost of a published image",
    )
    group.add_argument("--dry-run", action="store_true", help="say what would move, and change nothing")
    group.add_argument("--json", action="store_true", help="print what was done as JSON")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Open the gate, look at the target, bring what it lacks, print the reference."""
    from reprobridge.cli.images import open_image
    from reprobridge.cli.publishing import Publishing, joined
    from reprobridge.publish.model import Publication
    from reprobridge.publish.publication import difference, survey
    from reprobridge.publish.tags import Tags
    from reprobridge.publish.target import default_target, parse_target
    from reprobridge.publish.telling import Plan, done_json, done_text, reference
    from reprobridge.validate.subject import open_subject

    image, place = _words(arguments.words)
    subject = open_subject(open_image(image, doors, whole=False, insecure=arguments.insecure), doors.store)
    subject.require_ours()
    publishing = Publishing(arguments, doors)
    with doors.store.working():
        passed = publishing.let_pass(subject)
        version = passed.artifact.artifact.version
        to = parse_target(place, version) if place else default_target(passed.artifact)
        tags = Tags(version=version, also=tuple(arguments.also_tag), move_version=arguments.move_tag)
        target = publishing.target(to, passed.image.name)
        attachments = publishing.signing.attachments(
            passed, subject, target.name, lambda: publishing.offered(to, subject.digest)
        )
        publication = Publication(passed=passed, tags=tags, attachments=attachments)
        lacking = difference(publication, survey(publication, target))
        more = (publishing.signing.cosign_tag(publication, target), publishing.known_layers(to, passed))
        if arguments.dry_run:
            plan = Plan(
                publication=publication,
                lacking=lacking,
                absent=tuple(blob for blob in lacking.blobs if not target.holds(blob)),
                beside=joined(*(one.beside for one in more)),
                target=target.name,
            )
            _print_plan(plan, arguments, doors)
            return 0
        moved = _bring(publication, lacking, target, publishing.blobs(to, passed), doors)
        if not lacking.nothing:
            publishing.remember(to, passed)
        for one in more:
            one.bring()
    doors.log(done_text(publication, lacking, moved, target.name))
    if arguments.json:
        import json

        print(json.dumps(done_json(publication, lacking, moved, target.name)), file=doors.out)
    else:
        print(reference(publication, target.name), file=doors.out)
    return 0


def _words(words: list[str]) -> tuple[str, str | None]:
    """The image, and where it goes; a single word is a target when it begins with a registry's host."""
    from reprobridge.errors import UsageError
    from reprobridge.publish.target import FORMS, names_target

    match words:
        case []:
            return ".", None
        case [only] if not only.startswith("oci:") and not Path(only).exists() and names_target(only):
            return ".", only
        case [only]:
            return only, None
        case [image, place]:
            return image, place
    raise UsageError("too many words", expected=f"an image and {FORMS}", found=" ".join(words))


def _bring(
    publication: "Publication",
    lacking: "Difference",
    target: "Target",
    blob_of: "Callable[[Descriptor], Blob]",
    doors: Doors,
) -> "Moved":
    from reprobridge.cli.moving import moving
    from reprobridge.publish.publication import carry_out

    total = sum(blob.size for blob in lacking.blobs)
    with moving(doors, "pushing", total) as progress:
        return carry_out(publication, lacking, target, blob_of, progress)


def _print_plan(plan: "Plan", arguments: argparse.Namespace, doors: Doors) -> None:
    from reprobridge.publish.telling import plan_json, plan_text

    if arguments.json:
        import json

        print(json.dumps(plan_json(plan)), file=doors.out)
    else:
        doors.out.write(plan_text(plan))
