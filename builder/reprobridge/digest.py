"""Digests, and the canonical JSON that keys and identities are digests of.

A digest is always SHA-256, written `sha256:<64 hex>` as in the OCI image specification.
A key or an identity is never the digest of a library's dump, only of our own canonical JSON: keys sorted, no
blanks, UTF-8, no floats (they have no canonical text; numbers that matter are kept as text).
Bytes that are hashed while they pass, or as somebody's format asks (RECORD, md5sums), are hashed where they pass.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO, TypeAlias

from reprobridge.frozen import frozen

CHUNK = 1 << 20
"""Bytes read at once when a stream is hashed or copied."""

Json: TypeAlias = "bool | int | str | Sequence[Json] | Mapping[str, Json] | None"
"""What canonical JSON can hold. No floats."""

_HEX = "0123456789abcdef"
_URL_NAMESPACE = bytes.fromhex("6ba7b8119dad11d180b400c04fd430c8")
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


@frozen(order=True)
class Digest:
    """A SHA-256 digest; equal digests mean equal bytes."""

    hex: str
    """64 lower-case hexadecimal digits."""

    def __post_init__(self) -> None:
        if len(self.hex) != 64 or self.hex.strip(_HEX):
            raise ValueError(f"expected 64 lower-case hexadecimal digits, found {self.hex!r}")

    def __str__(self) -> str:
        return f"sha256:{self.hex}"

    @classmethod
    def parse(cls, text: str) -> "Digest":
        """Read `sha256:<hex>`. Raises ValueError for anything else, also for what is no text."""
        if not isinstance(text, str):
            raise ValueError(f"expected sha256:<64 hex>, found {text!r}")  # noqa: TRY004 - as for wrong text
        algorithm, _, digits = text.partition(":")
        if algorithm != "sha256":
            raise ValueError(f"expected sha256:<64 hex>, found {text!r}")
        return cls(digits)

    @classmethod
    def of(cls, data: bytes) -> "Digest":
        """The digest of these bytes."""
        return cls(hashlib.sha256(data).hexdigest())


class Hasher:
    """SHA-256 and length of bytes that pass by."""

    __slots__ = ("_sha256", "size")

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self.size = 0
        """Bytes seen so far."""

    def write(self, data: bytes) -> int:
        """Take the next bytes; named so that a hasher can stand where a file is written."""
        self._sha256.update(data)
        self.size += len(data)
        return len(data)

    def digest(self) -> Digest:
        """The digest of everything seen so far."""
        return Digest(self._sha256.hexdigest())


def digest_stream(stream: BinaryIO) -> tuple[Digest, int]:
    """Digest and size of the rest of a stream, read in pieces of `CHUNK` bytes."""
    hasher = Hasher()
    while block := stream.read(CHUNK):
        hasher.write(block)
    return hasher.digest(), hasher.size


def canonical_json(value: Json) -> bytes:
    """The one encoding of a JSON value that we hash. Raises TypeError for what has no canonical text."""
    _refuse_floats(value)
    text = _CANONICAL.encode(value)
    # File names that are no UTF-8 are kept as surrogates; `json.loads` reads them back from this encoding.
    return text.encode("utf-8", "surrogatepass")


def strict_json(data: bytes | str) -> object:
    """What a JSON text says whose objects name nothing twice: readers disagree about which of two counts.

    Raises ValueError for anything else, RecursionError for what is nested too deeply.
    """
    return json.loads(data, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is named twice")
    return found


def url_uuid(url: str) -> str:
    """The name-based UUID of an address (RFC 9562, version 5), as `urn:uuid:…`.

    Python's module `uuid` first asks which machine this is, which takes longer than a publication's statements.
    """
    number = bytearray(hashlib.sha1(_URL_NAMESPACE + url.encode(), usedforsecurity=False).digest()[:16])
    number[6] = number[6] & 0x0F | 0x50
    number[8] = number[8] & 0x3F | 0x80
    text = number.hex()
    return f"urn:uuid:{'-'.join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))}"


def digest_json(value: Json) -> Digest:
    """Digest of a value's canonical JSON."""
    return Digest.of(canonical_json(value))


def _refuse_floats(value: object) -> None:
    if isinstance(value, float):
        raise TypeError(f"a float has no canonical JSON: {value!r}; keep the number as text")
    # Plain types are asked for first: the question for an abstract one takes as long as all the rest.
    items: Iterable[object] = ()
    if isinstance(value, (list, tuple)):
        items = value
    elif isinstance(value, (dict, Mapping)):
        items = value.values()
    for item in items:
        if type(item) not in _PLAIN:  # most are, and a call takes longer than the question
            _refuse_floats(item)


_PLAIN = frozenset((str, int, bool, type(None)))
