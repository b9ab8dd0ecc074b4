"""Revisions of what of this tool reaches an image's bytes: each grows whenever the same input would give other bytes.

The lock pins them. Tests hold each to the digests of what it makes of samples (`test_revision.py` in tests/unit/plan and
tests/unit/assemble, `test_revision_converters.py`), and the examples' golden digests notice the rest.
"""

from collections.abc import Mapping

REVISIONS: Mapping[str, int] = {
    "wheel": 2,
    "deb": 3,
    "debian-state": 3,
    "requested": 1,
    "tree": 1,
    "files": 1,
    "inventory": 1,
    "sbom": 1,
    "layer": 1,
}
"""Revision of each converter of this release that every lock pins; a kind is the name of its module in assemble/."""

ON_DEMAND: Mapping[str, int] = {"bytecode": 1}
"""Revision of each that a lock pins only where the artifact asks for it, so that others keep their bytes."""

PLAN = 1
"""Revision of the plan: which recipes a specification and its lock give, what an image says about itself (manifest,
guide, changes, bill of materials, references), and its settings."""

ASSEMBLY = 2
"""Revision of what is decided between recipes and image: who keeps a path that several packages have, and the form of
manifest and configuration."""


def revision_of(kind: str) -> int:
    """Revision of a converter of this release."""
    return REVISIONS[kind] if kind in REVISIONS else ON_DEMAND[kind]
