"""`reprobridge pull`: bring an image of a registry into the store, every blob verified."""

import argparse

from reprobridge.cli.doors import Doors

NAME = "pull"
SUMMARY = "bring an image of a registry into the store, fetching only what lacks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument("image", metavar="REGISTRY/REPO[:TAG|@DIGEST]", help="which image")
    parser.add_argument(
        "--output",
        "-o",
        default="store",
        metavar="WHERE",
        help="store (default), oci:FOLDER, oci-archive:FILE, docker-archive:FILE, docker: or podman:",
    )
    parser.add_argument("--json", action="store_true", help="print digest, name and what moved as JSON")
    parser.add_argument("--insecure", action="store_true", help="plain http to a registry on another machine")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Pull, write the output, print name and digest."""
    from reprobridge.assemble.model import BuiltImage
    from reprobridge.cli.images import pull
    from reprobridge.cli.outputs import parse_output, require_writable, write_output

    output = parse_output(arguments.output)
    require_writable(output)
    pulled = pull(arguments.image, doors, insecure=arguments.insecure)
    image = pulled.image
    doors.log(f"fetched {pulled.fetched} bytes; {pulled.present} blobs were there")
    written = BuiltImage(name=image.name, version=image.version, manifest=image.manifest.digest, notes=())
    write_output(output, written, doors)
    if arguments.json:
        import json

        value = {"digest": str(image.manifest.digest), "name": image.name, "version": image.version}
        print(json.dumps({**value, "fetched": pulled.fetched, "present": pulled.present}), file=doors.out)
    else:
        print(f"{image.name}@{image.manifest.digest}", file=doors.out)
    return 0
