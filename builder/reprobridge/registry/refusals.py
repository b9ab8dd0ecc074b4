"""What a registry says when it does not do what it was asked: errors that a user can act on.

Words of a server are shown shortened and without control characters; addresses without their query.
"""

import json
import re
from collections.abc import Mapping

from reprobridge.digest import Digest
from reprobridge.errors import RegistryError
from reprobridge.frozen import frozen
from reprobridge.system.http import NoAnswerError, without_query

_SHOWN = 300
_RATE_LIMIT = re.compile(r"rate limit|toomanyrequests|too many requests", re.IGNORECASE)
_BODY_WAIT = re.compile(r"retry[- ]?after:?\s*([0-9.]+)\s*(ms|s|m)?\b", re.IGNORECASE)
_LOST_BLOB = "MANIFEST_BLOB_UNKNOWN"
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


@frozen(kw_only=True)
class Reply:
    """A small answer, read to its end."""

    method: str
    """Of the request."""
    url: str
    """That answered."""
    status: int
    """For example 200."""
    headers: Mapping[str, str]
    """Names in lower case."""
    data: bytes
    """The body, cut off at the limit that was set."""


class Refused(RegistryError):
    """The registry answers, and does not do it."""

    status: int = 0
    """HTTP's."""
    code: str = ""
    """The registry's own code, such as `BLOB_UNKNOWN`; empty when it gave none."""
    missing: tuple[Digest, ...] = ()
    """Blobs or manifests that it says it lacks."""


class Unauthorized(Refused):
    """It does not know us, or not well enough (401)."""

    renewed: bool = False
    """Another try carries other authorization than the one that was refused."""


class LostBlobError(RegistryError):
    """The registry does not have what something that it has names."""

    wanted: Digest | None = None
    """The digest of what is lost."""


class WrongBytesError(RegistryError):
    """The bytes that the registry sends are not those of the digest that they were asked for by."""

    wanted: Digest | None = None
    """The digest."""


class Transient(RegistryError):
    """Another try may succeed."""

    wait: float | None = None
    """Seconds that the server asks us to wait."""
    hopeless: bool = False
    """One more try is enough."""


class Throttled(Refused, Transient):
    """Too many requests (429)."""


class ServerFailed(Refused, Transient):
    """The server stumbled (5xx)."""


class Unreachable(Transient):
    """No whole answer came."""

    timed_out: bool = False
    """None came in time."""


class Lost(Refused, Transient):
    """The server does not know this upload any more, or has another view of it."""


def no_answer(host: str, error: NoAnswerError) -> Unreachable:
    """The error for an exchange that broke."""
    trouble = Unreachable(
        "the registry does not answer",
        where=host,
        expected="an answer",
        found=error.found,
        hint="check the registry's name and the network, then run the same again: what arrived stays there",
    )
    trouble.hopeless, trouble.timed_out = error.unknown_host, error.timed_out
    return trouble


def refusal(host: str, reply: Reply, *, now: float) -> Refused:
    """The error for an answer that is not what was asked for."""
    codes, message, missing = _own_words(reply.data)
    kind, hint = _kind(host, reply)
    if _LOST_BLOB in codes:
        hint = (
            "`reprobridge publish --check-blobs` brings what the registry lost of an image or its attachments"
        )
    error = kind(
        f"the registry refuses {reply.method} {without_query(reply.url).partition('/v2/')[2] or 'the request'}",
        where=host,
        expected="success",
        found=" ".join(filter(None, [f"status {reply.status}", *codes[:1], message])),
        hint=hint,
    )
    error.status, error.code, error.missing = reply.status, codes[0] if codes else "", missing
    if isinstance(error, Transient):
        error.wait = wait_asked_for(reply, now)
    return error


def lost_blob(wanted: Digest, what: str, *, where: str, found: str = "status 404") -> LostBlobError:
    """The error for something that must be there, and is not; `where`: the repository."""
    error = LostBlobError(
        f"the registry has lost {what}",
        where=f"{where}@{wanted}",
        expected="what was published",
        found=found,
        hint="whoever published it brings it back by `reprobridge publish --check-blobs`",
    )
    error.wanted = wanted
    return error


def wrong_bytes(
    what: str, *, where: str, wanted: Digest, found: str, size: int | None = None
) -> WrongBytesError:
    """The error for other bytes than those of a digest; `size`: how many there should be."""
    error = WrongBytesError(
        f"the registry sends {what}",
        where=where,
        expected=f"{wanted}" if size is None else f"{wanted}, {size} bytes",
        found=found,
        hint="run the same again; if it stays so, the registry, or somebody on the way, changed the bytes",
    )
    error.wanted = wanted
    return error


def lost(reply: Reply, error: Refused) -> Lost:
    """The same refusal, as one of an upload that must start again."""
    again = Lost(
        error.message, where=error.where, expected="the upload going on", found=error.found, hint=error.hint
    )
    again.status, again.code, again.missing = reply.status, error.code, error.missing
    return again


def _kind(host: str, reply: Reply) -> tuple[type[Refused], str | None]:
    match reply.status:
        case 401:
            return Unauthorized, f"run `docker login {host}`, or `docker logout {host}` to read public images"
        case 429:
            return Throttled, "wait a while, then run the same again"
        case 403 if _RATE_LIMIT.search(reply.data.decode(errors="replace")):
            return Throttled, "wait a while, then run the same again"
        case 403:
            return (
                Refused,
                f"run `docker login {host}` as somebody who may do this (on ghcr.io: write:packages)",
            )
        case 408:
            return ServerFailed, "run the same again"
        case status if status >= 500 and status != 501:
            return ServerFailed, "run the same again in a while: what arrived stays there"
        case _:
            return Refused, None


def wait_asked_for(reply: Reply, now: float) -> float | None:
    """Seconds until the server wants to be asked again: its header, or GHCR's words in the body."""
    header = reply.headers.get("retry-after", "").strip()
    if header.isdecimal():
        return float(header)
    if header and (until := _seconds(header)) is not None:
        # The server's own clock, when it tells: ours may be wrong.
        served = _seconds(reply.headers.get("date", ""))
        return max(0.0, until - (now if served is None else served))
    if found := _BODY_WAIT.search(reply.data.decode(errors="replace")):
        try:
            return float(found[1]) * _UNITS[(found[2] or "s").lower()]
        except ValueError:
            return None
    return None


def _seconds(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _own_words(data: bytes) -> tuple[list[str], str, tuple[Digest, ...]]:
    """Codes, message and missing digests of the specification's error body, or a look at what came instead."""
    try:
        errors = json.loads(data)["errors"]
        entries = [entry for entry in errors if isinstance(entry, dict)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return [], _shown(data), ()
    codes = [readable(str(entry.get("code", ""))) for entry in entries]
    messages = [readable(str(entry.get("message", ""))) for entry in entries]
    missing = [digest for entry in entries for digest in _digests(entry)]
    return [code for code in codes if code], "; ".join(filter(None, messages))[:_SHOWN], tuple(missing)


def _digests(entry: Mapping[str, object]) -> list[Digest]:
    if "UNKNOWN" not in str(entry.get("code", "")):
        return []
    found = re.findall(r"sha256:([0-9a-f]{64})\b", json.dumps(entry.get("detail")))
    return [Digest(digits) for digits in found]


def _shown(data: bytes) -> str:
    text = data[: 4 * _SHOWN].decode(errors="replace").lstrip()
    return "(an HTML page)" if text[:1] == "<" else readable(text)


def readable(text: str) -> str:
    """Somebody else's words on one line, without control characters, not endlessly long."""
    clean = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(clean.split())[:_SHOWN]
