"""Revisions of the converters: each grows whenever the same recipe would give other bytes.

The lock pins them. A converter's kind is the name of its module in assemble/.
"""

from collections.abc import Mapping

REVISIONS: Mapping[str, int] = {
    "wheel": 1,
    "deb": 2,
    "debian-state": 2,
    "tree": 1,
    "files": 1,
    "inventory": 1,
    "layer": 1,
}
"""Revision of each converter of this release."""
