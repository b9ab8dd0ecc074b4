"""The software bill of materials as statements: SPDX 2.3 as the image holds it, and CycloneDX 1.6 made from it.

/rra/sbom.spdx.json (`plan/contents/sbom.py`) is the one list of what the lock names. CycloneDX says the same in
the other format that readers ask for; it is derived, so that the two can't contradict each other, and written as
plain JSON, since a library's dump may change with its release.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reprobridge.digest import Json, url_uuid
from reprobridge.publish.statements.statement import PredicateType, Statement, Subject

_NOTHING = "NOASSERTION"


def spdx(subject: Subject, document: bytes) -> Statement:
    """The image's own SPDX document as a statement."""
    return Statement(subject=subject, predicate_type=PredicateType.SPDX, predicate=json.loads(document))


def cyclonedx(subject: Subject, document: bytes) -> Statement:
    """The image's SPDX document in CycloneDX's words as a statement."""
    predicate = cyclonedx_document(json.loads(document))
    return Statement(subject=subject, predicate_type=PredicateType.CYCLONEDX, predicate=predicate)


def cyclonedx_document(spdx_document: Mapping[str, Any]) -> dict[str, Json]:
    """A CycloneDX 1.6 document that names what an SPDX document of ours names."""
    edges = spdx_document["relationships"]
    (described,) = _targets(edges, "SPDXRef-DOCUMENT", "DESCRIBES")
    components = {item["SPDXID"]: _component(item) for item in spdx_document["packages"]}
    artifact = {**components.pop(described), "type": "application"}
    made_by = [_tool(creator) for creator in spdx_document["creationInfo"]["creators"]]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": url_uuid(spdx_document["documentNamespace"]),
        "version": 1,
        "metadata": {
            "timestamp": spdx_document["creationInfo"]["created"],
            "tools": {"components": made_by},
            "component": artifact,
        },
        "components": list(components.values()),
        "dependencies": [{"ref": described, "dependsOn": _targets(edges, described, "DEPENDS_ON")}],
    }


def _targets(edges: Sequence[Mapping[str, str]], source: str, kind: str) -> list[str]:
    return [
        edge["relatedSpdxElement"]
        for edge in edges
        if (edge["spdxElementId"], edge["relationshipType"]) == (source, kind)
    ]


def _component(package: Mapping[str, Any]) -> dict[str, Json]:
    return {
        "type": "library",
        "bom-ref": package["SPDXID"],
        "name": package["name"],
        "version": package["versionInfo"],
        **dict(_more(package)),
    }


def _more(package: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    """The fields that not every package has."""
    for reference in package.get("externalRefs", ()):
        if reference["referenceType"] == "purl":
            yield "purl", reference["referenceLocator"]
    if checksums := package.get("checksums"):
        yield "hashes", [{"alg": "SHA-256", "content": item["checksumValue"]} for item in checksums]
    if package["licenseDeclared"] != _NOTHING:
        yield "licenses", [{"expression": package["licenseDeclared"]}]
    if package["downloadLocation"] != _NOTHING:
        yield "externalReferences", [{"type": "vcs", "url": package["downloadLocation"]}]


def _tool(creator: str) -> Json:
    """`Tool: reprobridge-0.1.0` as a component."""
    name, _, release = creator.removeprefix("Tool: ").rpartition("-")
    return {"type": "application", "name": name, "version": release}
