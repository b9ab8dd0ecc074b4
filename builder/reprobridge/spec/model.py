"""The author's specification (`reprobridge.yaml`, schema `reprobridge.artifact/1`) as frozen types.

A value of these types has been checked: ids are unique, referenced ids exist, regular expressions have
their group, paths stay below the artifact's folder. Nothing here is resolved: that is the lock's part.
Numbers that reach digests are kept as the text that the author wrote, next to nothing else.
Tasks, decisions and measurements have in the image's manifest the same names as here. A task's parts stand in
`task_model.py`; every type of the specification can be imported from here.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import PurePosixPath

from reprobridge.digest import Digest
from reprobridge.frozen import field, frozen
from reprobridge.spec.task_model import (
    Experiment,
    Extract,
    Measurement,
    Published,
    Reduce,
    References,
    Resources,
    Rule,
    Seeds,
    Smoke,
    Spread,
    Task,
)

__all__ = [
    "SCHEMA",
    "Ambiguity",
    "ArchiveSource",
    "Change",
    "ChangeClass",
    "Decisions",
    "Environment",
    "Experiment",
    "Extract",
    "FolderSource",
    "GitSource",
    "Measurement",
    "OpenChoice",
    "Paper",
    "Pitfall",
    "Published",
    "PypiSource",
    "PythonWish",
    "Reduce",
    "References",
    "Resources",
    "Rule",
    "Seeds",
    "Sensitivity",
    "Smoke",
    "Source",
    "Spec",
    "Spread",
    "Task",
]

SCHEMA = "reprobridge.artifact/1"
"""Value of the key `schema`."""


# source and changes


@frozen
class GitSource:
    """A commit of a git repository."""

    url: str
    """Where it is cloned from."""
    commit: str
    """40 hexadecimal digits."""
    submodules: bool = False
    """Whether submodules belong to the source."""
    subdirectory: str | None = None
    """The part of the tree that is the source; all of it when None."""


@frozen
class ArchiveSource:
    """A tar or zip archive by its digest; a single top folder is stripped."""

    url: str
    """Where it is fetched from."""
    sha256: Digest
    """Of the archive's bytes."""
    subdirectory: str | None = None
    """The part of the tree that is the source."""


@frozen
class PypiSource:
    """The sdist of a published release; its digest is found when locking."""

    name: str
    """Normalised project name (PEP 503)."""
    version: str
    """Exact version (PEP 440)."""


@frozen
class FolderSource:
    """A folder beside reprobridge.yaml."""

    path: PurePosixPath
    """Relative to the artifact's folder."""


Source = GitSource | ArchiveSource | PypiSource | FolderSource
"""Where the original code comes from."""


class ChangeClass(StrEnum):
    """Why a patch was needed."""

    EXECUTION_REPAIR = "execution_repair"
    """It did not run."""
    CORRECTNESS_REPAIR = "correctness_repair"
    """It ran but did not do what the paper says."""
    CONVENIENCE = "convenience"
    """Neither."""


@frozen(kw_only=True)
class Change:
    """One patch of the series that turns the source into the refined code."""

    id: str
    """For example `C1`."""
    patch: PurePosixPath
    """Unified diff, relative to the artifact's folder."""
    change_class: ChangeClass
    """Key `class`."""
    why: str
    """The reason, in a sentence."""
    affects_numbers: str
    """`yes`, `no` or `unknown`."""
    paper: str | None
    """Place in the paper that a correctness repair follows."""
    ambiguity: str | None
    """Id of the ambiguity that it settles."""
    tasks: tuple[str, ...]
    """Ids of the tasks that it touches; empty: all."""


# environment


@frozen(kw_only=True)
class PythonWish:
    """Python packages that the author asks for."""

    requirements: PurePosixPath | None
    """A requirements file, relative to the artifact's folder."""
    constraints: PurePosixPath | None = None
    """A constraints file."""
    exclude_newer: str | None = None
    """RFC 3339 date: releases after it do not exist."""
    indexes: tuple[str, ...] = ()
    """Extra indexes, named by the author, searched before the user's own."""
    owners: Mapping[str, str] = field(default_factory=dict)
    """Path below site-packages -> package whose file wins where two packages ship different ones."""
    not_imported: Mapping[str, str] = field(default_factory=dict)
    """Module that validation need not be able to import -> why."""
    bytecode: bool = False
    """Whether the image holds bytecode of the interpreter's modules and all packages."""


@frozen(kw_only=True)
class Environment:
    """What the code runs in."""

    template: str
    """Name of a base system in image-templates/."""
    python: PythonWish
    """Python packages."""
    apt: tuple[str, ...] = ()
    """Debian packages beyond the template's."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Set for every task."""
    platforms: tuple[str, ...] = ("linux/amd64",)
    """What the artifact is built for."""


# decisions


@frozen(kw_only=True)
class Sensitivity:
    """How much an ambiguity matters."""

    level: str
    """`none`, `low`, `high` or `unknown`."""
    evidence: str | None
    """What shows it."""


@frozen(kw_only=True)
class Ambiguity:
    """A gap between paper and code, and how it was settled."""

    id: str
    """For example `A1`."""
    paper: str | None
    """Place in the paper."""
    code: str | None
    """Place in the code."""
    gap: str
    """What is not said, or contradicts."""
    options: tuple[str, ...]
    """What could be meant."""
    chosen: str
    """What we do."""
    basis: str
    """`paper`, `code`, `author` or `convention`."""
    sensitivity: Sensitivity
    """How much it matters."""
    tasks: tuple[str, ...]
    """Ids of the tasks concerned; empty: all."""
    decided: str
    """RFC 3339 date."""


@frozen(kw_only=True)
class Pitfall:
    """Something that went wrong and will again."""

    id: str
    """For example `P1`."""
    symptom: str
    """What one sees."""
    cause: str
    """Why."""
    avoid: str
    """What to do."""
    tasks: tuple[str, ...]
    """Ids of the tasks concerned; empty: all."""


@frozen(kw_only=True)
class OpenChoice:
    """A choice that the reader may make differently."""

    id: str
    """For example `O1`."""
    question: str
    """What is open."""
    options: tuple[str, ...]
    """What one may choose."""
    default: str
    """What the artifact does."""


@frozen(kw_only=True)
class Decisions:
    """Every ambiguity, pitfall and open choice of the artifact."""

    ambiguities: tuple[Ambiguity, ...] = ()
    """In the author's order."""
    pitfalls: tuple[Pitfall, ...] = ()
    """In the author's order."""
    open_choices: tuple[OpenChoice, ...] = ()
    """In the author's order."""


# the whole


@frozen(kw_only=True)
class Paper:
    """The paper."""

    id: str
    """Image name: `[a-z0-9]+(-[a-z0-9]+)*`."""
    title: str
    """Title."""
    authors: tuple[str, ...]
    """In the paper's order."""
    year: int
    """Of publication."""
    venue: str | None = None
    """Where it appeared."""
    doi: str | None = None
    """Digital object identifier."""
    url: str | None = None
    """Where it can be read."""


@frozen(kw_only=True)
class Spec:
    """A whole reprobridge.yaml with the files that it names."""

    paper: Paper
    """The paper."""
    version: str
    """Of the artifact; the image's tag."""
    license: str
    """SPDX expression of the refined code."""
    repository: str | None
    """Where the artifact lives."""
    source: Source
    """Original code."""
    exclude: tuple[str, ...]
    """Globs of source files that must not reach the image (shipped scores)."""
    changes: tuple[Change, ...]
    """Patch series, in order."""
    environment: Environment
    """What the code runs in."""
    tasks: tuple[Task, ...]
    """At least one."""
    decisions: Decisions
    """What was decided."""
    guide: PurePosixPath
    """The guide's Markdown file."""
    files: Mapping[PurePosixPath, bytes]
    """Bytes of every file that the spec names and that belongs to it: itself, patches, requirements, guide."""

    def digest(self) -> Digest:
        """Digest over reprobridge.yaml and every file that it names, so over everything that was written."""
        from reprobridge.digest import digest_json

        listing = {path.as_posix(): str(Digest.of(data)) for path, data in self.files.items()}
        return digest_json(listing)
