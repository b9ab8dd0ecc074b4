"""Reading the number and size of layers from an image's manifest, wherever it lies."""

import json
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

_TAG = "org.opencontainers.image.ref.name"
_ACCEPTED = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"


class Layers(NamedTuple):
    """What the compressed layers of an image come to."""

    number: int
    """How many there are."""
    size: int
    """Their bytes."""


def layers_of(manifest: bytes) -> Layers:
    """From a manifest's bytes."""
    layers: list[dict[str, Any]] = json.loads(manifest)["layers"]
    return Layers(len(layers), sum(layer["size"] for layer in layers))


def find_in_layout(layout: Path, tag: str) -> tuple[str, Layers]:
    """Manifest digest and layers of the image with this tag. Raises LookupError."""
    for entry in json.loads((layout / "index.json").read_bytes())["manifests"]:
        if entry.get("annotations", {}).get(_TAG) == tag:
            digest: str = entry["digest"]
            return digest, layers_of(
                (layout / "blobs" / "sha256" / digest.removeprefix("sha256:")).read_bytes()
            )
    raise LookupError(f"no image tagged {tag} in {layout.name}")


def find_in_registry(address: str, repository: str) -> Layers:
    """Layers of the image `latest` in a registry on this machine."""
    url = f"http://{address}/v2/{repository}/manifests/latest"
    request = urllib.request.Request(url, headers={"Accept": _ACCEPTED})
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - likewise
        return layers_of(answer.read())
