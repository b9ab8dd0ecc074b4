"""Signed package indexes: InRelease, then the Packages files that it lists by SHA-256.

Nothing is read that is not covered by the signature: the text of InRelease comes out of the verification,
each Packages file is held to its size while it comes and checked by digest before it is unpacked, and the
release must be the suite that was asked for. Dates count only here, when locking: `Valid-Until` must lie ahead,
and a release older than the one the template was locked from is a stale (or replayed) mirror.
"""

import lzma
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, LockError, NetworkError, ReproBridgeError
from reprobridge.frozen import frozen
from reprobridge.lock.debian.control import parse_paragraph
from reprobridge.lock.debian.mirrors import TIMESTAMP, DebianSettings
from reprobridge.lock.debian.signature import signed_text
from reprobridge.lock.fetch import Fetcher, Wanted
from reprobridge.lock.model import LockedSuite
from reprobridge.lock.template import Template, TemplateSuite
from reprobridge.store.store import Store
from reprobridge.system.network import Network, read_url


@frozen(kw_only=True)
class IndexSources:
    """What is needed to read an archive's indexes."""

    network: Network
    """The door to the network."""
    store: Store
    """Keeps Packages files by their digest."""
    settings: DebianSettings
    """Where the archives are."""
    now: datetime
    """This moment, for `Valid-Until`; no result depends on it otherwise."""


@frozen
class SuiteIndex:
    """The packages of one suite and architecture."""

    locked: LockedSuite
    """Which signed release this is."""
    texts: tuple[str, ...]
    """The verified Packages files, one a component."""


@frozen(kw_only=True)
class Release:
    """What we read of a signed InRelease file."""

    locked: LockedSuite
    """Digest and date."""
    files: Mapping[str, tuple[Digest, int]]
    """Path below `dists/SUITE` -> digest and size."""


def read_suite(
    sources: IndexSources, template: Template, suite: TemplateSuite, architecture: str, oldest: str = ""
) -> SuiteIndex:
    """The index of a suite from the first mirror that has a valid one. Raises LockError or NetworkError."""
    errors: list[ReproBridgeError] = []
    for base in sources.settings.index_bases(suite.archive, sources.now):
        try:
            release = _read_release(sources, template, suite, base)
            if release.locked.date < oldest:
                raise _stale(base, suite, release.locked.date, oldest)
            texts = [
                _read_packages(
                    sources, release, f"{base}/dists/{suite.suite}", f"{part}/binary-{architecture}"
                )
                for part in template.components
            ]
        except (LockError, NetworkError) as error:
            errors.append(error)
        else:
            return SuiteIndex(release.locked, tuple(texts))
    kind = LockError if any(isinstance(error, LockError) for error in errors) else NetworkError
    raise kind(
        f"no Debian mirror gives a valid index of {suite.suite}",
        expected="a signed index of " + suite.archive,
        found="\n".join(str(error) for error in errors),
        hint="set REPROBRIDGE_DEBIAN_MIRROR (and REPROBRIDGE_DEBIAN_SECURITY_MIRROR) to working mirrors",
    )


def parse_release(text: str, suite: TemplateSuite, digest: Digest, *, where: str) -> Release:
    """The release in a verified text. Raises LockError when it is another suite's or incomplete."""
    try:
        fields = parse_paragraph(text)
        date = _date(fields["Date"])
        files = _listed_files(fields["SHA256"])
    except (KeyError, ValueError) as error:
        raise LockError("the index is not a release file", where=where, found=f"{error!r}") from error
    if suite.suite not in (fields.get("Codename"), fields.get("Suite")):
        raise LockError(
            "the mirror serves another suite under this name",
            where=where,
            expected=suite.suite,
            found=fields.get("Codename", "a release without Codename"),
        )
    locked = LockedSuite(
        archive=suite.archive, suite=suite.suite, release=digest, date=date.strftime(TIMESTAMP)
    )
    return Release(locked=locked, files=files)


def _read_release(sources: IndexSources, template: Template, suite: TemplateSuite, base: str) -> Release:
    url = f"{base}/dists/{suite.suite}/InRelease"
    data = read_url(sources.network, url)
    text = signed_text(data, template.keyring, where=url)
    _require_valid(text, sources.now, where=url)
    return parse_release(text, suite, Digest.of(data), where=url)


def _require_valid(text: str, now: datetime, *, where: str) -> None:
    match = re.search(r"^Valid-Until:\s*(.+)$", text, re.MULTILINE)
    if match and _date(match[1]) < now:
        raise LockError(
            "the index has expired",
            where=where,
            expected=f"valid on {now.astimezone(UTC):%Y-%m-%d}",
            found=f"Valid-Until: {match[1]}",
            hint="the mirror has not been updated; use another one, or check this machine's clock",
        )


def _read_packages(sources: IndexSources, release: Release, dists: str, folder: str) -> str:
    """A Packages file by its digest (so that a mirror in the middle of an update does no harm), else by name."""
    name = f"{folder}/Packages.xz"
    if name not in release.files:
        raise LockError("the suite has no such index", where=dists, expected=name, found="not in InRelease")
    digest, size = release.files[name]
    urls = [f"{dists}/{folder}/by-hash/SHA256/{digest.hex}", f"{dists}/{name}"]
    wanted = Wanted(name=name, sha256=digest, size=size, addresses=lambda: urls)
    try:
        Fetcher(sources.store, sources.network).fetch_one(wanted)
    except ArtifactError as error:
        raise LockError(
            "the index is not the one that the signed release lists",
            where=dists,
            expected=f"{name}: {error.expected}",
            found=error.found,
        ) from error
    try:
        return lzma.decompress(sources.store.read(digest)).decode("utf-8")
    except (lzma.LZMAError, UnicodeDecodeError) as error:
        raise LockError("the index cannot be unpacked", where=f"{dists}/{name}", found=str(error)) from error


def _listed_files(value: str) -> dict[str, tuple[Digest, int]]:
    rows = [line.split() for line in value.splitlines() if line.strip()]
    return {path: (Digest(hexadecimal), int(size)) for hexadecimal, size, path in rows}


def _date(text: str) -> datetime:
    date = parsedate_to_datetime(text.strip())
    return date.astimezone(UTC) if date.tzinfo else date.replace(tzinfo=UTC)


def _stale(base: str, suite: TemplateSuite, found: str, oldest: str) -> LockError:
    return LockError(
        "the mirror's index is older than the one that the template was locked from",
        where=f"{base}/dists/{suite.suite}/InRelease",
        expected=f"{oldest} or later",
        found=found,
    )
