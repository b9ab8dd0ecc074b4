"""/rra/sbom.spdx.json: an SPDX 2.3 document of everything that the lock names.

One entry a line. A pure function of spec and lock: the time is the source's, the namespace is the artifact's id.
A lock does not hold the packages' licenses: `assemble/sbom.py` adds those that wheels declare.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from reprobridge.digest import Digest
from reprobridge.lock.model import Lock, LockedDeb, LockedPlatform, LockedWheel
from reprobridge.spec.model import Spec

_NOTHING = "NOASSERTION"
_LINE = json.JSONEncoder(sort_keys=True, ensure_ascii=False)


def sbom_bytes(spec: Spec, lock: Lock, platform: LockedPlatform, artifact: Digest) -> bytes:
    """The document's bytes, as far as spec and lock know it."""
    packages = [_artifact(spec, lock, platform), *_packages(platform)]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{spec.paper.id}-{spec.version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{spec.paper.id}-{spec.version}-{artifact.hex}",
        "creationInfo": {
            "created": lock.source.date,
            "creators": [f"Tool: reprobridge-{lock.tools.release}"],
        },
        "packages": packages,
        "relationships": list(_relationships(packages)),
    }
    return document_bytes(document)


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """The bytes of a document."""
    head = {key: value for key, value in document.items() if key not in ("packages", "relationships")}
    lists = ",\n".join(_rows(key, document[key]) for key in ("packages", "relationships"))
    return f"{_LINE.encode(head)[:-1]},\n{lists}\n}}\n".encode()


def wheel_id(wheel: LockedWheel) -> str:
    """The identifier of a Python package in the document."""
    return f"SPDXRef-wheel-{_spdx_id(wheel.name, wheel.file.sha256)}"


def _rows(key: str, values: Iterable[Mapping[str, object]]) -> str:
    """A list as a member of the document, one entry a line."""
    return f'"{key}": [\n' + ",\n".join(map(_LINE.encode, values)) + "\n]"


def _artifact(spec: Spec, lock: Lock, platform: LockedPlatform) -> dict[str, object]:
    bytecode = (
        f"; bytecode of {platform.python.interpreter} and of all wheels, compiled from their sources"
        if platform.python.bytecode
        else ""
    )
    return _package(
        "SPDXRef-Artifact",
        spec.paper.id,
        spec.version,
        {
            "licenseDeclared": spec.license,
            "downloadLocation": spec.repository or _NOTHING,
            "sourceInfo": f"{lock.source.kind} {lock.source.origin} {lock.source.commit or ''}".strip(),
            "comment": f"refined code: tree {lock.source.refined}{bytecode}",
        },
    )


def _packages(platform: LockedPlatform) -> Iterator[dict[str, object]]:
    for deb in (*platform.debian.base, *platform.debian.extra):
        yield _deb(deb)
    for wheel in platform.python.wheels:
        yield _wheel(wheel)


def _deb(deb: LockedDeb) -> dict[str, object]:
    version = quote(deb.version, safe=".+~-")
    purl = f"pkg:deb/debian/{quote(deb.name, safe='.+-')}@{version}?arch={deb.architecture}"
    return _package(
        f"SPDXRef-deb-{_spdx_id(deb.name, deb.sha256)}",
        deb.name,
        deb.version,
        {
            "packageFileName": deb.file.name,
            "checksums": _checksums(deb.sha256),
            "externalRefs": _purl(purl),
            "licenseComments": f"in the image: /usr/share/doc/{deb.name}/copyright",
        },
    )


def _wheel(wheel: LockedWheel) -> dict[str, object]:
    purl = f"pkg:pypi/{wheel.name}@{quote(wheel.version, safe='.')}"
    fields: dict[str, object] = {
        "packageFileName": wheel.file.name,
        "checksums": _checksums(wheel.file.sha256),
        "externalRefs": _purl(purl),
    }
    return _package(wheel_id(wheel), wheel.name, wheel.version, fields)


def _package(identifier: str, name: str, version: str, more: dict[str, object]) -> dict[str, object]:
    return {
        "SPDXID": identifier,
        "name": name,
        "versionInfo": version,
        "downloadLocation": _NOTHING,
        "filesAnalyzed": False,
        "licenseConcluded": _NOTHING,
        "licenseDeclared": _NOTHING,
        "copyrightText": _NOTHING,
        **more,
    }


def _checksums(digest: Digest) -> list[dict[str, str]]:
    return [{"algorithm": "SHA256", "checksumValue": digest.hex}]


def _purl(purl: str) -> list[dict[str, str]]:
    kind = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl"}
    return [{**kind, "referenceLocator": purl}]


def _spdx_id(name: str, digest: Digest) -> str:
    letters = "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in name)
    return f"{letters}-{digest.hex[:8]}"


def _relationships(packages: list[dict[str, object]]) -> Iterator[dict[str, object]]:
    yield _relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Artifact")
    for package in packages[1:]:
        yield _relation("SPDXRef-Artifact", "DEPENDS_ON", str(package["SPDXID"]))


def _relation(subject: str, kind: str, target: str) -> dict[str, object]:
    return {"spdxElementId": subject, "relationshipType": kind, "relatedSpdxElement": target}
