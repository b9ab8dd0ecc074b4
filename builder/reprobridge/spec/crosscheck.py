"""Rules between parts of a specification: ids are unique, what is referred to exists.

They look at the tree, not at typed values, so that they speak up beside problems of other kinds.
"""

from collections.abc import Iterator

from reprobridge.spec.model import ChangeClass
from reprobridge.spec.nodes import Entries, Node, Scalar, nodes_at, shown
from reprobridge.spec.reading import Reading

_IDS = {
    "changes.*.id": "change",
    "tasks.*.id": "task",
    "decisions.ambiguities.*.id": "ambiguity",
    "decisions.pitfalls.*.id": "pitfall",
    "decisions.open_choices.*.id": "open choice",
}
"""Where ids stand; each is unique among its kind."""

_REFERENCES = {
    "changes.*.ambiguity": "decisions.ambiguities.*.id",
    "changes.*.tasks.*": "tasks.*.id",
    "decisions.ambiguities.*.tasks.*": "tasks.*.id",
    "decisions.pitfalls.*.tasks.*": "tasks.*.id",
}
"""Where something is referred to by its id, and where that id stands."""


def check_ids(root: Node, reading: Reading) -> None:
    """Report ids that occur twice and references that lead nowhere."""
    for path, kind in _IDS.items():
        first: dict[str, Scalar] = {}
        for node in _texts(root, path):
            earlier = first.setdefault(node.text, node)
            if earlier is not node:
                reading.report(
                    node, f"each {kind} with an id of its own", f"{shown(node.text)}, as {earlier.place}"
                )
    for path, target in _REFERENCES.items():
        known = [node.text for node in _texts(root, target)]
        exists = frozenset(known)
        for node in _texts(root, path):
            if node.text not in exists:
                _report_unknown(node, _IDS[target], known, reading)


def check_repairs(root: Node, reading: Reading) -> None:
    """Report correctness repairs that follow an ambiguity which was settled by the code and not by the paper."""
    basis = {_text(item, "id"): _text(item, "basis") for item in nodes_at(root, "decisions.ambiguities.*")}
    for change in nodes_at(root, "changes.*"):
        follows = _text(change, "ambiguity")
        repairs = _text(change, "class") == ChangeClass.CORRECTNESS_REPAIR
        if repairs and basis.get(follows) == "code" and not _text(change, "paper"):
            expected = "a repair that follows the paper, or another class"
            reading.report(change, expected, f"ambiguity {shown(follows)}, settled by what the code does")


def _report_unknown(node: Scalar, kind: str, known: list[str], reading: Reading) -> None:
    guess = reading.guess(node.text, known)
    there_is = f"there is {', '.join(map(shown, known[:10]))}" if known else None
    hint = f"did you mean {shown(guess)}?" if guess else there_is
    reading.report(node, f"the id of an existing {kind}", shown(node.text), hint)


def _texts(root: Node, path: str) -> Iterator[Scalar]:
    return (node for node in nodes_at(root, path) if isinstance(node, Scalar) and node.text)


def _text(node: Node, key: str) -> str:
    item = node.items.get(key) if isinstance(node, Entries) else None
    return item.text if isinstance(item, Scalar) else ""
