"""How registries may differ and still follow the specification, as switches of the fake."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Options:
    """The defaults are a complete registry of the specification 1.1 that wants no authentication."""

    referrers: bool = True
    """Whether there is the referrers API, and `OCI-Subject` on what has a subject."""
    filters: bool = True
    """Whether the referrers API applies `artifactType` itself."""
    mounts: bool = True
    """Whether blobs are mounted; otherwise a mount is answered with an ordinary upload session."""
    absolute_locations: bool = False
    """Whether Location holds scheme and host."""
    state_in_location: bool = True
    """Whether Location has a query that changes with each chunk and is asked back, as docker's registry has."""
    chunk_limit: int | None = None
    """Most bytes of one PATCH; more are refused as GHCR does (416)."""
    chunk_minimum: int | None = None
    """Announced as `OCI-Chunk-Min-Length`."""
    body_limit: int | None = None
    """Most bytes of one PUT or PATCH; more are refused as proxies do (413)."""
    single_post: bool = False
    """Whether a POST with `digest` takes the whole blob; otherwise it begins a session."""
    page: int | None = None
    """Most tags or referrers in one answer."""
    manifest_limit: int = 4 << 20
    """Most bytes of a manifest."""
