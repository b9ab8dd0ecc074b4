"""The lock (`reprobridge.lock`, schema `reprobridge.lock/1`): everything that reaches the image's bytes.

Entries name artifacts, not hosts: a file is its name, SHA-256 and size. Where files come from is the
user's configuration; only indexes, archives and git remotes that the spec itself names stand here.
Every section carries the digest of the wish that it answers, so that a stale section is found without
resolving anything. Nothing here depends on the machine that locked.
Fields that a class lists in `LATER` entered the schema after its first release: where they are empty they are
not written, so that a lock that does not need them has the bytes that it always had.
"""

import re
from collections.abc import Mapping

from reprobridge.digest import Digest
from reprobridge.frozen import field, frozen
from reprobridge.lock.revisions import ON_DEMAND

_DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@frozen(order=True)
class LockedFile:
    """A file that somebody published."""

    name: str
    """Its file name, without folders."""
    sha256: Digest
    """Of its bytes."""
    size: int
    """Its length in bytes."""

    def __post_init__(self) -> None:
        if not self.name or "/" in self.name or "\0" in self.name or self.name in (".", ".."):
            raise ValueError("a file name without folders")
        _require_size(self.size)


@frozen(kw_only=True)
class LockedWheel:
    """A Python package, as a wheel (binary distribution format)."""

    name: str
    """Normalised project name (PEP 503)."""
    version: str
    """PEP 440 version."""
    file: LockedFile
    """The wheel."""
    requested: bool
    """Whether the requirements name it, not only another package."""
    index: str | None = None
    """The extra index of the spec that has it; None: the user's own."""
    url: str | None = None
    """The address, where the requirement itself names one (PEP 508 direct reference)."""


@frozen(kw_only=True)
class LockedDeb:
    """A Debian package."""

    name: str
    """Package."""
    version: str
    """Debian version."""
    architecture: str
    """`amd64`, `arm64` or `all`."""
    archive: str
    """`debian` or `debian-security`: which archive's pool."""
    pool: str
    """Path below the archive's root; its last part is the file's name."""
    sha256: Digest
    """Of the .deb's bytes."""
    size: int
    """Its length in bytes."""

    def __post_init__(self) -> None:
        if self.pool.startswith("/") or ".." in self.pool.split("/"):
            raise ValueError("a pool path below the archive's root")
        _require_size(self.size)
        version = self.version.rpartition(":")[2]
        if self.pool.rpartition("/")[2] != f"{self.name}_{version}_{self.architecture}.deb":
            raise ValueError("a pool path that ends in NAME_VERSION_ARCHITECTURE.deb, of the same package")

    @property
    def file(self) -> LockedFile:
        """The package as a file."""
        return LockedFile(self.pool.rpartition("/")[2], self.sha256, self.size)


@frozen(kw_only=True)
class LockedSuite:
    """A signed index that Debian packages were chosen from."""

    archive: str
    """`debian` or `debian-security`."""
    suite: str
    """For example `bookworm-updates`."""
    release: Digest
    """Of the signed InRelease file."""
    date: str
    """Its Date as `YYYYMMDDTHHMMSSZ`: the timestamp from which a snapshot has the packages."""


@frozen(kw_only=True)
class LockedDebian:
    """The Debian packages of one platform."""

    wish: Digest
    """Of template, suites and package names."""
    suites: tuple[LockedSuite, ...]
    """Where they were chosen from."""
    base: tuple[LockedDeb, ...]
    """The template's own packages, sorted by name: shared by all papers of the template."""
    extra: tuple[LockedDeb, ...]
    """What the paper adds, sorted by name."""


@frozen(kw_only=True)
class LockedBuild:
    """How a wheel came to be that nobody published (`lock/sdist/`)."""

    name: str
    """Normalised project name: of one of the same lock's wheels."""
    kind: str
    """What it was built from: `sdist` (of a release), `archive` (an sdist at an address), `git` or `path`."""
    origin: str
    """`name==version`, the address, or the folder relative to the artifact's."""
    index: str | None
    """The extra index of the spec that has the sdist; None: the user's own, or no index at all."""
    commit: str | None
    """Of a git origin."""
    subdirectory: str | None
    """The part of the tree that holds the project; None: its top."""
    file: LockedFile | None
    """The sdist."""
    tree: Digest
    """Of the source tree that was built (`lock/tree.py`)."""
    requires: tuple[Digest, ...]
    """SHA-256 of the wheels that it was built with, all among `build_wheels`."""
    base: Digest
    """Of the interpreter and the Debian packages that it was built on."""
    repeatable: bool
    """Whether two builds gave the same bytes; else the wheel itself is an input, kept beside the lock."""

    @property
    def subject(self) -> str:
        """What stays the same when it is locked anew: a release's project, else where the source comes from."""
        return self.name if self.kind == "sdist" else self.origin

    @property
    def made_of(self) -> tuple[object, ...]:
        """All inputs: of equal ones the same wheel should come."""
        return (self.tree, self.subdirectory, self.requires, self.base)


@frozen(kw_only=True)
class LockedPython:
    """The Python packages of one platform."""

    LATER = ("builds", "build_wheels", "bytecode")
    """Fields that are left out where they are empty."""
    wish: Digest
    """Of requirements, constraints, dates, indexes and target."""
    version: str
    """Minor version of the interpreter, for example `3.11`."""
    interpreter: str
    """Its path in the image, for example `/usr/bin/python3.11`."""
    wheels: tuple[LockedWheel, ...]
    """Sorted by name."""
    builds: tuple[LockedBuild, ...] = ()
    """How those of them were built that nobody published, sorted by name."""
    build_wheels: tuple[LockedWheel, ...] = ()
    """What they were built with, sorted by name and version; not part of the image."""
    bytecode: bool = False
    """Whether the image holds bytecode of the interpreter's modules and all packages."""

    @property
    def on_demand(self) -> tuple[str, ...]:
        """Converters that not every lock pins, and this one has to."""
        return ("bytecode",) if self.bytecode else ()

    @property
    def built(self) -> tuple[tuple[LockedBuild, LockedWheel], ...]:
        """Each build with the wheel that came out of it."""
        wheels = {wheel.name: wheel for wheel in self.wheels}
        return tuple((build, wheels[build.name]) for build in self.builds)

    def __post_init__(self) -> None:
        if not self.builds:
            return
        names = {wheel.name for wheel in self.wheels}
        if strangers := [build.name for build in self.builds if build.name not in names]:
            raise ValueError(f"builds of wheels that are locked too, not of {', '.join(strangers)}")
        known = {wheel.file.sha256 for wheel in self.build_wheels}
        if any(not known.issuperset(build.requires) for build in self.builds):
            raise ValueError("builds that require nothing but `build_wheels`")


@frozen(kw_only=True)
class LockedPlatform:
    """Everything that depends on the platform."""

    debian: LockedDebian
    """Base system and system packages."""
    python: LockedPython
    """Python packages."""


@frozen
class LockedChange:
    """What one change does to the original code."""

    patch: Digest
    """SHA-256 of its patch."""
    files: tuple[str, ...]
    """Paths that it changes, makes or removes, sorted; of a renamed file both."""


@frozen(kw_only=True)
class LockedSource:
    """The original code and what the changes make of it."""

    LATER = ("changes",)
    """Fields that are left out where they are empty."""
    wish: Digest
    """Of source, exclude, and the patches' bytes."""
    kind: str
    """`git`, `archive`, `pypi` or `path`."""
    origin: str
    """Where it comes from, as the spec names it: an address, `name==version`, or a folder."""
    commit: str | None
    """Of a git source."""
    file: LockedFile | None
    """The archive or sdist."""
    tree: Digest
    """Of the original tree, exclusions applied (`lock/tree.py`)."""
    refined: Digest
    """Of the tree with all changes applied: what /rra/code holds."""
    date: str
    """RFC 3339: the commit's or release's date; 1980-01-02T00:00:00Z where there is none."""
    changes: tuple[LockedChange, ...] = ()
    """What each change does, in the order of the series."""

    def __post_init__(self) -> None:
        if self.kind not in ("git", "archive", "pypi", "path"):
            raise ValueError("a source whose kind is git, archive, pypi or path")
        if not re.fullmatch(_DATE, self.date):
            raise ValueError("a source with a date such as 2026-01-31T12:00:00Z")


@frozen(kw_only=True)
class LockedTools:
    """What of this tool reaches bytes."""

    LATER = ("plan", "assembly", "layer_order")
    """Fields that are left out where they are empty: older locks do not pin them, and are refused."""
    release: str
    """Release that wrote the lock."""
    encoder: str
    """Identity of the DEFLATE encoder (`oci/members.py`)."""
    codec: str
    """Identity of the layer format (`oci/members.py`)."""
    converters: Mapping[str, int]
    """Revision of each converter, by its recipe's kind."""
    launcher: Digest
    """Of the launcher's files."""
    plan: int = 0
    """Revision of the plan (`lock/revisions.py`); 0: not pinned."""
    assembly: int = 0
    """Revision of the assembly (`lock/revisions.py`); 0: not pinned."""
    layer_order: Digest | None = None
    """Of the table of the order of layers; None: not pinned."""


@frozen(kw_only=True)
class Lock:
    """A whole reprobridge.lock."""

    tools: LockedTools
    """What of this tool reaches bytes."""
    template: str
    """Name of the base system."""
    source: LockedSource
    """Original and refined code."""
    platforms: Mapping[str, LockedPlatform] = field(default_factory=dict)
    """By platform (`linux/amd64`)."""

    def __post_init__(self) -> None:
        wanted = {kind for one in self.platforms.values() for kind in one.python.on_demand}
        if wanted != ON_DEMAND.keys() & self.tools.converters.keys():
            raise ValueError("a lock that pins a converter where it is used, and only there")


def _require_size(size: int) -> None:
    """Raises ValueError for a length that no file has."""
    if size < 0:
        raise ValueError("a size of at least 0 bytes")
