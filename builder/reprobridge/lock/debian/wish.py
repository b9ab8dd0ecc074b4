"""What is asked of Debian, as a digest: cheap to compute, since every build compares it with the lock's."""

from collections.abc import Iterable

from reprobridge.digest import Digest, digest_json
from reprobridge.lock.template import Template


def wish_digest(template: Template, packages: Iterable[str], platform: str) -> Digest:
    """Digest of template, suites and package names."""
    return digest_json(
        {
            "template": template.name,
            "wish": str(template.wish()),
            "packages": sorted(set(packages)),
            "architecture": template.architecture(platform),
        }
    )
