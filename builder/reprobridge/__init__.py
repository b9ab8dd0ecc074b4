"""ReproBridge: refined reproducible artifacts of papers, assembled as OCI images from a lock.

Owns nothing but the release's number; every stage is a package of its own (guides/explanation/architecture.md).
"""

RELEASE = "0.1.0"
"""This release, as in the distribution's metadata (held equal by a house test)."""
