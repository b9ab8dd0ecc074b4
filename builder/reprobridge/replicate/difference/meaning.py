"""Comparing what two images are made from: their locks by package, their specifications by field."""

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from reprobridge.digest import Digest, Json
from reprobridge.errors import ArtifactError
from reprobridge.lock.model import Lock, LockedPlatform
from reprobridge.replicate.contents import Contents
from reprobridge.replicate.difference.fields import field_changes
from reprobridge.replicate.difference.model import (
    Aspect,
    AspectChange,
    FileChanged,
    FileOnly,
    Meaning,
    PackageChange,
    Side,
)
from reprobridge.spec.named import FILE_NAME
from reprobridge.spec.nodes import Entries, Node, Scalar, is_null
from reprobridge.spec.tree import BrokenYamlError, tree_of

Version = tuple[str, Digest]
"""A package's version and the digest of its file."""


def compare_meaning(before: Contents, after: Contents) -> Meaning:
    """What differs. Raises LockError and ArtifactError for what can't be read."""
    old, new = before.read_lock(), after.read_lock()
    return Meaning(
        packages=tuple(_packages(old, new)),
        lock=tuple(field_changes(_rest(before), _rest(after))),
        spec=tuple(field_changes(_document(before), _document(after))),
        files=tuple(_files(before.spec, after.spec)),
    )


# the lock


def _packages(before: Lock, after: Lock) -> Iterator[PackageChange]:
    for platform in sorted({*before.platforms, *after.platforms}):
        sides = [_versions(lock.platforms.get(platform)) for lock in (before, after)]
        for kind, name in sorted({*sides[0], *sides[1]}):
            old, new = (side.get((kind, name)) for side in sides)
            if old != new:
                same_version = old is not None and new is not None and old[0] == new[0]
                yield PackageChange(
                    platform=platform,
                    kind=kind,
                    name=name,
                    before=_shown(old, with_digest=same_version),
                    after=_shown(new, with_digest=same_version),
                )


def _versions(locked: LockedPlatform | None) -> dict[tuple[str, str], Version]:
    if locked is None:
        return {}
    debs = (*locked.debian.base, *locked.debian.extra)
    return {("debian", deb.name): (deb.version, deb.sha256) for deb in debs} | {
        ("python", wheel.name): (wheel.version, wheel.file.sha256) for wheel in locked.python.wheels
    }


def _shown(version: Version | None, *, with_digest: bool) -> str | None:
    if version is None:
        return None
    return f"{version[0]} ({version[1]})" if with_digest else version[0]


def _rest(contents: Contents) -> Json:
    """The lock without its packages; wishes are left out, since they only repeat what the spec says."""
    document: dict[str, Any] = json.loads(contents.lock)
    document["source"].pop("wish")
    for platform in document["platforms"].values():
        for section, packages in (("debian", ("base", "extra")), ("python", ("wheels",))):
            for key in ("wish", *packages):
                platform[section].pop(key)
    return document


# the specification


def _document(contents: Contents) -> Json:
    try:
        return _plain(tree_of(contents.spec[PurePosixPath(FILE_NAME)], FILE_NAME, None))
    except BrokenYamlError as error:
        raise ArtifactError("the image's specification is broken", found=str(error.problem)) from error


def _plain(node: Node) -> Json:
    if is_null(node):
        return None
    match node:
        case Scalar(text=text):
            return text
        case Entries(items=items):
            return {key: _plain(item) for key, item in items.items()}
        case _:
            return [_plain(item) for item in node.items]


def _files(
    before: Mapping[PurePosixPath, bytes], after: Mapping[PurePosixPath, bytes]
) -> Iterator[FileOnly | FileChanged]:
    for path in sorted({*before, *after} - {PurePosixPath(FILE_NAME)}):
        if path not in after:
            yield FileOnly(str(path), Side.BEFORE)
        elif path not in before:
            yield FileOnly(str(path), Side.AFTER)
        elif before[path] != after[path]:
            old, new = Digest.of(before[path]).hex, Digest.of(after[path]).hex
            yield FileChanged(str(path), (AspectChange(Aspect.CONTENT, old, new),))
