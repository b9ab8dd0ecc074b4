"""Where Debian's files come from on this machine: a setting, the host's apt sources, or the snapshot service.

A lock names archive and pool path, never a host; this module turns them into addresses, best first.
It reads apt's two formats (sources.list(5): one-line and deb822) and apt's mirror lists on disk, and keeps
the entries that are the archive by the names of their suites; it checks nothing that they serve, since
every index is verified by signature and every package by digest.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.lock.debian.control import parse_paragraph, split_paragraphs
from reprobridge.lock.model import LockedDeb, LockedSuite

SNAPSHOT = "https://snapshot.debian.org"
"""Debian's own archive of every state of its archives; `REPROBRIDGE_DEBIAN_SNAPSHOT` replaces it."""
VARIABLES: Mapping[str, str] = {
    "debian": "REPROBRIDGE_DEBIAN_MIRROR",
    "debian-security": "REPROBRIDGE_DEBIAN_SECURITY_MIRROR",
}
"""Archive -> environment variable with the addresses of its mirrors, separated by blanks."""
TIMESTAMP = "%Y%m%dT%H%M%SZ"
"""Format of a snapshot's time, and of the dates in a lock."""

_RELEASES = (
    *("bullseye", "bookworm", "trixie", "forky", "duke"),
    *("sid", "oldstable", "stable", "testing", "unstable"),
)


@frozen(kw_only=True)
class DebianSettings:
    """The user's configuration of Debian mirrors."""

    mirrors: Mapping[str, tuple[str, ...]]
    """Archive -> addresses of its mirrors without a slash at the end, best first; may be empty."""
    snapshot: str = SNAPSHOT
    """Address of the snapshot service."""

    def index_bases(self, archive: str, now: datetime) -> list[str]:
        """Addresses below which `dists/` stands, best first; the snapshot of this moment comes last."""
        return [*self.mirrors.get(archive, ()), self.snapshot_base(archive, now)]

    def snapshot_base(self, archive: str, when: datetime) -> str:
        """Address of an archive as it was at a moment."""
        return f"{self.snapshot}/archive/{archive}/{when.astimezone(UTC).strftime(TIMESTAMP)}"


def read_settings(environment: Mapping[str, str], apt: Path = Path("/etc/apt")) -> DebianSettings:
    """The settings of a user: environment variables first, else the host's apt sources."""
    configured = apt_mirrors(apt)
    mirrors = {
        archive: tuple(_trimmed(environment[variable].split()))
        if environment.get(variable)
        else configured.get(archive, ())
        for archive, variable in VARIABLES.items()
    }
    snapshot = environment.get("REPROBRIDGE_DEBIAN_SNAPSHOT") or SNAPSHOT
    return DebianSettings(mirrors=mirrors, snapshot=snapshot.rstrip("/"))


def deb_urls(deb: LockedDeb, suites: Sequence[LockedSuite], settings: DebianSettings) -> list[str]:
    """Where a package may be found, best first: each mirror, then the snapshots of the locked dates.

    A snapshot is taken some hours after a release is signed, so the day after its date is tried as well.
    """
    urls = [f"{mirror}/{deb.pool}" for mirror in settings.mirrors.get(deb.archive, ())]
    dates = sorted({suite.date for suite in suites if suite.archive == deb.archive}, reverse=True)
    for date in dates:
        signed = _moment(date)
        moments = (signed, signed + timedelta(days=1))
        urls += [f"{settings.snapshot_base(deb.archive, when)}/{deb.pool}" for when in moments]
    return list(dict.fromkeys(urls))


def _moment(date: str) -> datetime:
    try:
        return datetime.strptime(date, TIMESTAMP).replace(tzinfo=UTC)
    except ValueError:
        raise LockError(
            "a suite's date is wrong", where="suites", expected="YYYYMMDDTHHMMSSZ", found=repr(date)
        ) from None


# the host's apt sources


def apt_mirrors(apt: Path) -> dict[str, tuple[str, ...]]:
    """Archive -> mirrors that the apt configuration in this folder names, in its order."""
    found: dict[str, list[str]] = {}
    for uri, suite, components in _apt_entries(apt):
        if archive := _archive(suite, components):
            found.setdefault(archive, []).extend(_addresses(uri))
    return {archive: tuple(dict.fromkeys(_trimmed(uris))) for archive, uris in found.items()}


def _apt_entries(apt: Path) -> Iterator[tuple[str, str, list[str]]]:
    """(address, suite, components) of each enabled binary source."""
    folder = apt / "sources.list.d"
    for path in (apt / "sources.list", *sorted(folder.glob("*.list"))):
        for line in _text(path).splitlines():
            yield from _one_line_entry(line)
    for path in sorted(folder.glob("*.sources")):
        for text in split_paragraphs(_text(path)):
            yield from _deb822_entries(text)


def _one_line_entry(line: str) -> Iterator[tuple[str, str, list[str]]]:
    words = line.partition("#")[0].strip()
    kind, _, rest = words.partition(" ")
    if kind != "deb":
        return
    rest = rest.strip()
    if rest.startswith("["):
        rest = rest.partition("]")[2]
    match rest.split():
        case [uri, suite, *components]:
            yield uri, suite, components
        case _:
            return


def _deb822_entries(text: str) -> Iterator[tuple[str, str, list[str]]]:
    try:
        fields = {name.lower(): value for name, value in parse_paragraph(text).items()}
    except ValueError:
        return  # apt would refuse it as well; it names no mirror that we could use
    if fields.get("enabled", "yes").lower() in ("no", "false", "off", "0"):
        return
    if "deb" not in fields.get("types", "").split():
        return
    for uri in fields.get("uris", "").split():
        for suite in fields.get("suites", "").split():
            yield uri, suite, fields.get("components", "").split()


def _archive(suite: str, components: Sequence[str]) -> str | None:
    """The archive that has a suite of this name, or None when it is somebody else's."""
    if "main" not in components:
        return None
    release, _, pocket = suite.partition("/")[0].partition("-")
    if release not in _RELEASES:
        return None
    if pocket == "security" or suite.endswith("/updates"):
        return "debian-security"
    return "debian" if pocket in ("", "updates", "backports", "proposed-updates") else None


def _addresses(uri: str) -> Iterator[str]:
    """The address itself, or those in a mirror list on disk (`mirror+file:`, as in cloud images)."""
    if uri.startswith(("http://", "https://", "file:/")):
        yield uri
    elif uri.startswith("mirror+file:"):
        for line in _text(Path(uri.removeprefix("mirror+file:").replace("//", "/"))).splitlines():
            if line.startswith(("http://", "https://")):
                yield line.split()[0]


def _trimmed(uris: Iterable[str]) -> Iterator[str]:
    return (uri.rstrip("/") for uri in uris)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
