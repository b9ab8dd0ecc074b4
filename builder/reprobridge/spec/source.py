"""The sections `source` and `changes`: the original code, and the patches that refine it."""

from pathlib import PurePosixPath

from reprobridge.digest import Digest
from reprobridge.frozen import frozen
from reprobridge.spec.model import (
    ArchiveSource,
    Change,
    ChangeClass,
    FolderSource,
    GitSource,
    PypiSource,
    Source,
)
from reprobridge.spec.nodes import Entries
from reprobridge.spec.package_name import normalized
from reprobridge.spec.patches import check_patch
from reprobridge.spec.paths import PATH_TEXT, NamedFile, NamedFolder
from reprobridge.spec.reading import Reading
from reprobridge.spec.scalars import FLAG, IDENTIFIER, TEXT, WEB_ADDRESS, Address, Choice, Word
from reprobridge.spec.shapes import Key, ListOf, Record, Variants


@frozen
class SourceSection:
    """What stands below `source`."""

    source: Source
    """Where the original code comes from."""
    exclude: tuple[str, ...]
    """Globs of files that must not reach the image."""


_EXCLUDE = Key(
    shape=ListOf(PATH_TEXT, distinct=True),
    doc="Globs of files that must not reach the image, such as shipped scores.",
    default=(),
)
_SUBDIRECTORY = Key(shape=PATH_TEXT, doc="The part of the tree that is the source.", default=None)


_REMOTE = Address(
    r"(https?|git|file)://[^\s@]+|ssh://([\w.-]+@)?[^\s@/]+(/\S*)?|[\w.-]+@[\w.-]+:\S+",
    "the address of a git repository, without password or token",
    hint="write https://HOST/PATH (http, git), ssh://USER@HOST/PATH, USER@HOST:PATH or file:///PATH; "
    "a folder beside this file is `path` instead of `git`",
)
_COMMIT = Word(r"[0-9a-f]{40}", "a commit of 40 hexadecimal digits", hint="`git rev-parse HEAD` prints it")
_SHA256 = Word(r"[0-9a-f]{64}", "64 lower-case hexadecimal digits", hint="`sha256sum FILE` prints them")
_RELEASE = Word(
    r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?==[0-9A-Za-z.!+]+",
    "a published release as name==version",
)


def _git(
    *, url: str, commit: str, submodules: bool, subdirectory: str | None, exclude: tuple[str, ...]
) -> SourceSection:
    return SourceSection(GitSource(url, commit, submodules, subdirectory), exclude)


def _archive(*, url: str, sha256: str, subdirectory: str | None, exclude: tuple[str, ...]) -> SourceSection:
    return SourceSection(ArchiveSource(url, Digest(sha256), subdirectory), exclude)


def _pypi(*, release: str, exclude: tuple[str, ...]) -> SourceSection:
    name, _, version = release.partition("==")
    return SourceSection(PypiSource(normalized(name), version), exclude)


def _folder(*, path: PurePosixPath, exclude: tuple[str, ...]) -> SourceSection:
    return SourceSection(FolderSource(path), exclude)


SOURCE = Variants(
    {
        "git": Record(
            _git,
            {
                "git": Key(
                    shape=_REMOTE,
                    doc="Git repository that is cloned; without a login or token in its address.",
                    attribute="url",
                ),
                "commit": Key(shape=_COMMIT, doc="The commit, in full."),
                "submodules": Key(shape=FLAG, doc="Whether submodules belong to it.", default=False),
                "subdirectory": _SUBDIRECTORY,
                "exclude": _EXCLUDE,
            },
        ),
        "archive": Record(
            _archive,
            {
                "archive": Key(shape=WEB_ADDRESS, doc="Tar or zip archive to fetch.", attribute="url"),
                "sha256": Key(shape=_SHA256, doc="Digest of the archive's bytes."),
                "subdirectory": _SUBDIRECTORY,
                "exclude": _EXCLUDE,
            },
        ),
        "pypi": Record(
            _pypi,
            {
                "pypi": Key(
                    shape=_RELEASE,
                    doc="Release on the Python package index whose sdist is the source.",
                    attribute="release",
                ),
                "exclude": _EXCLUDE,
            },
        ),
        "path": Record(
            _folder,
            {"path": Key(shape=NamedFolder(), doc="Folder beside this file."), "exclude": _EXCLUDE},
        ),
    }
)
"""The shape of `source`."""


def _check_change(change: Change, node: Entries, reading: Reading) -> None:
    if change.change_class is ChangeClass.CORRECTNESS_REPAIR and not (change.paper or change.ambiguity):
        expected = (
            "the key paper (a place in the paper) or ambiguity (an id), which a correctness_repair follows"
        )
        reading.report(node, expected, "neither")


def _change(*, change_class: str, **rest: object) -> Change:
    return Change(change_class=ChangeClass(change_class), **rest)  # type: ignore[arg-type]  # typed by CHANGE


CHANGE = Record(
    _change,
    {
        "id": Key(shape=IDENTIFIER, doc="For example C1."),
        "patch": Key(shape=NamedFile(check_patch), doc="Unified diff, applied in the list's order."),
        "class": Key(
            shape=Choice(*(kind.value for kind in ChangeClass)),
            doc="It did not run; it ran but did not do what the paper says; neither.",
            attribute="change_class",
        ),
        "why": Key(shape=TEXT, doc="The reason."),
        "affects_numbers": Key(shape=Choice("yes", "no", "unknown"), doc="Whether a measured value changes."),
        "paper": Key(shape=TEXT, doc="Place in the paper that a correctness repair follows.", default=None),
        "ambiguity": Key(shape=IDENTIFIER, doc="Id of the ambiguity that it settles.", default=None),
        "tasks": Key(
            shape=ListOf(IDENTIFIER, distinct=True),
            doc="Ids of the tasks that it touches; none: all of them.",
            default=(),
        ),
    },
    check=_check_change,
)
"""The shape of one item of `changes`."""
