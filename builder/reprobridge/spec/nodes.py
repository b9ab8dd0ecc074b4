"""A YAML document as a tree of nodes with places: what the shapes read.

Scalars are text: what they mean is said by the shape that reads them, so `no`, `1e5` or an all-digit commit
stay what the author wrote. Only a plain `null`, `~` or empty value means "nothing".
"""

from collections.abc import Iterator, Mapping

from reprobridge.frozen import frozen
from reprobridge.wording import without_passwords

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_QUOTED = '"\\'
_SHOWN = 60


@frozen
class Scalar:
    """A text node."""

    place: str
    """Path from the document's root, such as `tasks[2].extract.regex`."""
    line: int
    """Line in the file, from 1."""
    text: str
    """What stands there, quotes and folding undone."""
    plain: bool
    """Whether it was written without quotes."""


@frozen
class Sequence:
    """A list node."""

    place: str
    """Path from the document's root."""
    line: int
    """Line in the file, from 1."""
    items: tuple["Node", ...]
    """In the author's order."""


@frozen
class Entries:
    """A mapping node; its keys are texts, each once."""

    place: str
    """Path from the document's root; empty for the root itself."""
    line: int
    """Line in the file, from 1."""
    items: Mapping[str, "Node"]
    """In the author's order."""


Node = Scalar | Sequence | Entries
"""Any node."""


def is_null(node: Node) -> bool:
    """Whether the author wrote "nothing": an empty value, `~` or `null` without quotes."""
    return isinstance(node, Scalar) and node.plain and node.text in _NULLS


def below(place: str, key: str) -> str:
    """Place of a mapping's value: `a.b`, `a["b/c"]` where the key is no plain word, `file: b` in another file."""
    if not key or len(key) > _SHOWN or not _BARE.issuperset(key):
        return f"{place}[{shown(key)}]"
    return f"{place}{key}" if not place or place.endswith(" ") else f"{place}.{key}"


def nodes_at(root: Node, path: str) -> Iterator[Node]:
    """Nodes at a path such as `tasks.*.id`, in which `*` stands for every item of a list."""
    if not path:
        yield root
        return
    key, _, rest = path.partition(".")
    if key == "*" and isinstance(root, Sequence):
        for item in root.items:
            yield from nodes_at(item, rest)
    elif isinstance(root, Entries) and key in root.items:
        yield from nodes_at(root.items[key], rest)


def describe(node: Node) -> str:
    """What stands at a node, for the "found" of a message."""
    if is_null(node):
        return "nothing"
    match node:
        case Scalar(text=text):
            return shown(text)
        case Sequence(items=items):
            return f"a list of {len(items)}" if items else "an empty list"
        case Entries(items=items):
            return f"a mapping with {', '.join(map(shown, list(items)[:3]))}" if items else "an empty mapping"


def shown(text: object) -> str:
    """A text in double quotes, printable and cut to a readable length; passwords in addresses are masked."""
    return f'"{printable(without_passwords(str(text)), escaped=_QUOTED)}"'


def printable(text: str, *, escaped: str = "") -> str:
    """A text cut to a readable length, in which what a terminal can't show or would obey is escaped."""
    head = "".join(_escape(character, escaped) for character in text[:_SHOWN])
    whole = len(text) <= _SHOWN and len(head) <= _SHOWN
    return head if whole else f"{head[: _SHOWN - 1]}…"


def _escape(character: str, escaped: str) -> str:
    if character in escaped:
        return "\\" + character
    return character if character.isprintable() else ascii(character)[1:-1]
