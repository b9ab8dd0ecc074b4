"""The bill of materials of an image: the plan's document with the licenses that its wheels declare."""

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from reprobridge.assemble.workshop import Workshop
from reprobridge.lock.model import LockedFile, LockedWheel
from reprobridge.plan.contents.sbom import sbom_bytes, wheel_id
from reprobridge.plan.model import LayerPlan, SbomRecipe, WheelRecipe
from reprobridge.publish.statements.sbom import cyclonedx_document
from reprobridge.store.store import Store
from support.specs import PLATFORM, digest, sample_lock, sample_spec
from support.wheels import WheelSource, build_wheel

PATH = "rra/sbom.spdx.json"
FIELDS = {
    "modern": "License-Expression: MIT AND (BSD-3-Clause OR Apache-2.0)\n",
    "older": "License: new BSD\nClassifier: License :: OSI Approved :: BSD License\n",
    "own": "License-Expression: LicenseRef-Own\n",
    "silent": "",
}
"""What METADATA of each package says of its license."""


def wheel(store: Store, name: str) -> LockedWheel:
    """A wheel whose METADATA has these fields, in the store."""
    metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{FIELDS[name]}"
    made = build_wheel(WheelSource(name=name, metadata={"METADATA": metadata}))
    file = LockedFile(made.filename, store.add(made.data), len(made.data))
    return LockedWheel(name=name, version="1.0", file=file, requested=True)


def document(store: Store) -> dict[str, Any]:
    """The document of an image with these packages."""
    workshop, wheels = Workshop(store), tuple(wheel(store, name) for name in FIELDS)
    lock = sample_lock(wheels)
    planned = sbom_bytes(sample_spec(), lock, lock.platforms[PLATFORM], digest("artifact"))
    recipes = {wheel_id(one): WheelRecipe(wheel=one.file, python="3.11") for one in wheels}
    for recipe in recipes.values():
        workshop.make_fragment(recipe)
    part = SbomRecipe(document=planned, wheels=recipes, path=PATH)
    layer = workshop.make_layer(LayerPlan(title="sbom", parts=(part,)))
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(store.read(layer.blob)))) as archive:
        file = archive.extractfile(PATH)
        assert file is not None
        data = file.read()
    completed: dict[str, Any] = json.loads(data)
    assert len(data.splitlines()) == len(planned.splitlines())
    return completed


def test_it_says_which_licenses_its_packages_declare_and_their_own_words(store_folder: Path) -> None:
    found = {
        package["name"]: (package["licenseDeclared"], package.get("licenseComments"))
        for package in document(Store(store_folder))["packages"]
        if package["name"] in FIELDS
    }
    words = "License: new BSD; Classifier: License :: OSI Approved :: BSD License"
    assert found == {
        "modern": ("MIT AND (BSD-3-Clause OR Apache-2.0)", None),
        "older": ("BSD-3-Clause", words),
        "own": ("NOASSERTION", "License-Expression: LicenseRef-Own"),
        "silent": ("NOASSERTION", None),
    }


def test_it_is_valid_for_the_spdx_tools_and_cyclonedx_says_the_same(store_folder: Path) -> None:
    completed = document(Store(store_folder))
    parsed = JsonLikeDictParser().parse(dict(completed))  # type: ignore[no-untyped-call]  # its authors gave it no types
    assert validate_full_spdx_document(parsed, "SPDX-2.3") == []
    components: Any = cyclonedx_document(completed)["components"]
    licenses = {item["name"]: item.get("licenses") for item in components if item["name"] in FIELDS}
    assert licenses == {
        "modern": [{"expression": "MIT AND (BSD-3-Clause OR Apache-2.0)"}],
        "older": [{"expression": "BSD-3-Clause"}],
        "own": None,
        "silent": None,
    }
