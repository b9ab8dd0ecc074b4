"""The REQUESTED marks (PEP 376) of the packages that the paper asked for, each in its package's own folder.

They stand apart from the packages' layers, which would depend on the paper otherwise (ADR 0005). What a wheel
calls its dist-info folder only the wheel knows: its file name may spell name and version in another way.
"""

from reprobridge.assemble.converter import Inputs
from reprobridge.assemble.fragment import FragmentWriter, sorted_entries
from reprobridge.assemble.wheel.facts import read_facts
from reprobridge.assemble.wheel.layout import site_packages
from reprobridge.oci.tar import EntryKind, TarEntry
from reprobridge.plan.model import RequestedRecipe


def convert(recipe: RequestedRecipe, inputs: Inputs, writer: FragmentWriter) -> None:
    """Write an empty file for each wheel of the recipe."""
    folders = [
        f"{site_packages(wheel.python)}/{read_facts(inputs.facts(wheel)).folder}" for wheel in recipe.wheels
    ]
    marks = [TarEntry(f"{folder}/REQUESTED", EntryKind.FILE, 0o644, 0) for folder in folders]
    for mark in sorted_entries(marks):
        writer.file(mark, b"")
