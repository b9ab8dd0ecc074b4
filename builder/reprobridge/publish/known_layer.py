"""What is known of one layer: everything that building an image of it needs but its bytes.

One blob a layer, the same for every paper that has the layer. It is a gzip stream of

    {"schema": "reprobridge.known-layer/1", "key": "sha256:…",
     "layer": {"blob": …, "size": …, "diff_id": …, "tar_size": …},
     "parts": [{"kind": "wheel", "key": "sha256:…", "index": 1234, "facts": 56 | null}, …]}

in one line, followed by the index and the facts of each part in this order; the numbers are their lengths.
The keys are digests of the recipes: artifact, converter's revision, encoder and every parameter.
"""

import json
import zlib
from collections.abc import Iterator
from typing import TypeVar

from reprobridge.assemble.composition import Composed
from reprobridge.assemble.elsewhere import LEARNED
from reprobridge.assemble.index import read_index
from reprobridge.assemble.model import Fragment, Layer
from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen, replace
from reprobridge.oci import members
from reprobridge.oci.model import Descriptor
from reprobridge.store.store import Store

SCHEMA = "reprobridge.known-layer/1"
"""Value of `schema`."""
MEDIA_TYPE = "application/vnd.reprobridge.known-layer.v1+gzip"
"""Of the blob."""
LARGEST = 512 << 20
"""Most bytes that such a blob may inflate to: a hundred times the index of the largest wheel there is."""
RESULT = "known-layer"
"""Kind of the store's results that name the blob of a layer, by the layer's key."""

Made = TypeVar("Made", Fragment, Layer)


@frozen(kw_only=True)
class KnownPart:
    """What is known of one recipe of a layer."""

    kind: str
    """Its converter."""
    key: Digest
    """The recipe's."""
    index: bytes
    """The fragment's index."""
    facts: bytes | None
    """Its facts, where its kind has some."""


@frozen(kw_only=True)
class KnownLayer:
    """What is known of one layer."""

    key: Digest
    """Of its plan."""
    layer: Layer
    """Digests and sizes."""
    parts: tuple[KnownPart, ...]
    """Its recipes, in order."""

    def to_bytes(self) -> bytes:
        """The blob."""
        parts: list[Json] = [
            {
                "kind": part.kind,
                "key": str(part.key),
                "index": len(part.index),
                "facts": None if part.facts is None else len(part.facts),
            }
            for part in self.parts
        ]
        named: dict[str, Json] = {"schema": SCHEMA, "key": str(self.key)}
        head = canonical_json({**named, "layer": self.layer.to_json(), "parts": parts})
        body = b"".join(part.index + (part.facts or b"") for part in self.parts)
        return members.chain(head + b"\n" + body)

    @classmethod
    def from_bytes(cls, data: bytes) -> "KnownLayer":
        """Read a blob, which may be anybody's. Raises TrustError for anything but what `to_bytes` writes."""
        try:
            head, _, body = _inflated(data).partition(b"\n")
            value = json.loads(head)
            parts = tuple(_parts(value["parts"], body))
            for part in parts:
                read_index(part.index)
            layer = Layer.from_json(value["layer"])
            _require_schema(value["schema"])
            return cls(key=Digest.parse(value["key"]), layer=layer, parts=parts)
        except (ValueError, KeyError, TypeError, RecursionError, zlib.error) as error:
            raise TrustError(
                "what is known of a layer cannot be read", expected=SCHEMA, found=str(error)
            ) from error


def _require_schema(found: object) -> None:
    if found != SCHEMA:
        raise ValueError(f"schema {found!r}")


def _parts(rows: list[dict[str, Json]], body: bytes) -> Iterator[KnownPart]:
    place = 0

    def piece(length: object) -> bytes:
        nonlocal place
        if not isinstance(length, int) or isinstance(length, bool) or not 0 <= length <= len(body) - place:
            raise ValueError(f"a length of {length!r} where {len(body) - place} bytes are left")
        place += length
        return body[place - length : place]

    for row in rows:
        index = piece(row["index"])
        facts = None if row["facts"] is None else piece(row["facts"])
        yield KnownPart(kind=str(row["kind"]), key=Digest.parse(str(row["key"])), index=index, facts=facts)
    if place != len(body):
        raise ValueError(f"{len(body) - place} bytes behind the last part")


def _inflated(data: bytes) -> bytes:
    """The bytes of a chain of gzip members, bounded."""
    found, left = [], LARGEST
    while data:
        inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        piece = inflater.decompress(data, left + 1)
        left -= len(piece)
        if left < 0 or not inflater.eof:
            raise ValueError("more than it may inflate to" if left < 0 else "its end is missing")
        found.append(piece)
        data = inflater.unused_data
    return b"".join(found)


# the store


def tell(store: Store, layer: Composed) -> Descriptor | None:
    """The blob of what was made here of a layer, kept in the store; None when something of that is gone.

    What was only learned is not told on: whoever signs a list vouches for all of it.
    """
    match store.result(RESULT, layer.key):
        case {"blob": str(text), "size": int(size)} if store.has(Digest.parse(text)):
            return Descriptor(MEDIA_TYPE, Digest.parse(text), size)
    known = known_of(store, layer)
    if known is None:
        return None
    data = known.to_bytes()
    digest = store.add(data)
    store.remember(RESULT, layer.key, {"blob": str(digest), "size": len(data)})
    return Descriptor(MEDIA_TYPE, digest, len(data))


def known_of(store: Store, layer: Composed) -> KnownLayer | None:
    """What was made here of a layer; None when something of that is gone, or somebody else's word."""
    try:
        made = Layer.from_json(store.result("layer", layer.key))
        parts = tuple(_known_part(store, kind, key) for kind, key in layer.parts)
    except (KeyError, TypeError, ValueError):
        return None
    found = tuple(part for part in parts if part is not None)
    if len(found) != len(parts):
        return None
    return KnownLayer(key=layer.key, layer=made, parts=found)


def _known_part(store: Store, kind: str, key: Digest) -> KnownPart | None:
    fragment = Fragment.from_json(store.result(kind, key))
    needed = [fragment.index, *([fragment.facts] if fragment.facts else [])]
    if not all(store.has(digest) for digest in needed):
        return None
    facts = None if fragment.facts is None else store.read(fragment.facts)
    return KnownPart(kind=kind, key=key, index=store.read(fragment.index), facts=facts)


def learn(store: Store, known: KnownLayer, title: str) -> None:
    """Put what is known of a layer into the store, apart from what was made here.

    Raises TrustError where it contradicts what was made here; `title` names the layer then.
    """
    fragments = [(part, _fragment(store, part)) for part in known.parts]
    for part, fragment in fragments:
        for kind in (part.kind, f"{LEARNED}{part.kind}"):
            held = _held(Fragment, store.result(kind, part.key))
            _require_same(f"{title}: {part.kind}", held and replace(held, gzip=None), fragment)
    for kind in ("layer", f"{LEARNED}layer"):
        _require_same(title, _held(Layer, store.result(kind, known.key)), known.layer)
    for part, fragment in fragments:
        store.remember(f"{LEARNED}{part.kind}", part.key, fragment.to_json())
    store.remember(f"{LEARNED}layer", known.key, known.layer.to_json())


def _fragment(store: Store, part: KnownPart) -> Fragment:
    facts = None if part.facts is None else store.add(part.facts)
    return Fragment(gzip=None, index=store.add(part.index), facts=facts)


def _held(kind: type[Made], value: object) -> Made | None:
    try:
        return kind.from_json(value)
    except (KeyError, TypeError, ValueError):
        return None


def _require_same(where: str, held: Fragment | Layer | None, told: Fragment | Layer) -> None:
    if held is not None and held != told:
        raise TrustError(
            "what is known of a layer contradicts what was made or learned before",
            where=where,
            expected=str(held),
            found=str(told),
            hint="somebody built something else: build without --known and with an empty store, and tell them",
        )
