"""The whole table."""

from support.registry_faults import access, attached, downloads, manifests, patience, uploads
from support.registry_faults.model import Case

GROUPS: tuple[tuple[str, tuple[Case, ...]], ...] = (
    ("Pushing blobs", uploads.CASES),
    ("Pulling blobs", downloads.CASES),
    ("Manifests and tags", manifests.CASES),
    ("Signatures and attestations", attached.CASES),
    ("Authentication", access.CASES),
    ("Servers that stumble or are overrun", patience.CASES),
)
"""Heading of the page -> rows."""

CASES: tuple[Case, ...] = tuple(case for _, cases in GROUPS for case in cases)
"""All rows."""
