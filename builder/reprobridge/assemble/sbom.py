"""The bill of materials, with the licenses that only the packages know: the plan's document, completed.

Python packages declare their license in METADATA (`wheel/license.py`). A Debian package's copyright file names the
licenses of each of its files, of which no expression is made here; the plan's document says where it stands.
"""

import json

from reprobridge.assemble.converter import Inputs
from reprobridge.assemble.fragment import FragmentWriter
from reprobridge.assemble.wheel.facts import read_facts
from reprobridge.assemble.wheel.license import declared_license
from reprobridge.oci.tar import EntryKind, TarEntry
from reprobridge.plan.contents.sbom import document_bytes
from reprobridge.plan.model import SbomRecipe


def convert(recipe: SbomRecipe, inputs: Inputs, writer: FragmentWriter) -> None:
    """Write the document of the recipe with the licenses of its wheels."""
    document = json.loads(recipe.document)
    for package in document["packages"]:
        if (wheel := recipe.wheels.get(package["SPDXID"])) is not None:
            found = declared_license(read_facts(inputs.facts(wheel)))
            if found.expression is not None:
                package["licenseDeclared"] = found.expression
            if found.words:
                package["licenseComments"] = found.words
    data = document_bytes(document)
    writer.file(TarEntry(recipe.path, EntryKind.FILE, 0o644, len(data)), data)
