"""SPDX and CycloneDX statements: valid by their own authors' words, and the same packages in both."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from reprobridge.publish.statements.sbom import cyclonedx, spdx
from support.artifacts import EVERY
from support.statements import SUBJECT, said_of_itself

every_artifact = pytest.mark.parametrize("folder", EVERY.values(), ids=EVERY.keys())


def documents(folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The SPDX and the CycloneDX predicate of an artifact, as readers get them."""
    sbom = said_of_itself(folder).sbom
    made = [json.loads(make(SUBJECT, sbom).to_bytes()) for make in (spdx, cyclonedx)]
    return made[0]["predicate"], made[1]["predicate"]


@every_artifact
def test_the_spdx_statement_is_the_images_own_document(folder: Path) -> None:
    document, _ = documents(folder)
    assert document == json.loads(said_of_itself(folder).sbom)


@every_artifact
def test_spdx_is_valid_for_the_spdx_tools(folder: Path) -> None:
    document, _ = documents(folder)
    parsed = JsonLikeDictParser().parse(dict(document))  # type: ignore[no-untyped-call]  # its authors gave it no types
    assert validate_full_spdx_document(parsed, "SPDX-2.3") == []


@every_artifact
def test_cyclonedx_is_valid_by_its_schema(folder: Path) -> None:
    _, document = documents(folder)
    errors = JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(document), all_errors=True)
    assert list(errors or ()) == []


@every_artifact
def test_both_name_the_same_packages_with_the_same_digests(folder: Path) -> None:
    document, other = documents(folder)
    ours = {
        (item["name"], item["versionInfo"], item["externalRefs"][0]["referenceLocator"],
         item["checksums"][0]["checksumValue"])
        for item in document["packages"]
        if "externalRefs" in item
    }  # fmt: skip
    theirs = {
        (item["name"], item["version"], item["purl"], item["hashes"][0]["content"])
        for item in other["components"]
    }
    assert ours == theirs
    assert len(theirs) == len(other["components"]) == len(document["packages"]) - 1


@every_artifact
def test_the_artifact_depends_on_every_component(folder: Path) -> None:
    _, document = documents(folder)
    (dependencies,) = document["dependencies"]
    assert dependencies["ref"] == document["metadata"]["component"]["bom-ref"]
    assert sorted(dependencies["dependsOn"]) == sorted(item["bom-ref"] for item in document["components"])


def test_a_validator_would_notice_a_wrong_document() -> None:
    _, document = documents(EVERY["minimal"])
    broken = json.dumps({**document, "serialNumber": "x"})
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(broken) is not None


def test_the_serial_number_follows_from_the_artifact() -> None:
    numbers = {name: documents(folder)[1]["serialNumber"] for name, folder in EVERY.items()}
    assert numbers == {name: documents(folder)[1]["serialNumber"] for name, folder in EVERY.items()}
    assert len(set(numbers.values())) == len(EVERY)
