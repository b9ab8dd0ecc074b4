"""What is peculiar to some registries, as data.

Sources: GHCR cuts requests with Content-Range off at 4 MiB (ocx#237, rust-oci-client#35), and containerd and
buildx send it whole bodies; ECR refuses to close an upload with an empty body (tart#159).
"""

from reprobridge.registry.options import Quirks

_MIB = 1 << 20
_DEFAULT = Quirks()
_BY_DOMAIN: tuple[tuple[str, Quirks], ...] = (
    ("ghcr.io", Quirks(chunk_limit=None)),
    ("amazonaws.com", Quirks(chunk_limit=20 * _MIB, last_chunk_closes=True)),
    ("public.ecr.aws", Quirks(chunk_limit=20 * _MIB, last_chunk_closes=True)),
)
"""Domain, which also stands for the hosts below it."""


def quirks_of(host: str) -> Quirks:
    """What the registry at this host needs."""
    name = host.partition(":")[0].lower()
    for domain, quirks in _BY_DOMAIN:
        if name == domain or name.endswith(f".{domain}"):
            return quirks
    return _DEFAULT
