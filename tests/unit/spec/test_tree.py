"""A specification's tree is the same from the parser and from memory."""

from hypothesis import given
from hypothesis import strategies as st

from reprobridge.digest import Digest, Json
from reprobridge.spec.nodes import Entries, Node, Scalar, Sequence, below
from reprobridge.spec.tree import KIND, node_json, read_node, tree_of
from reprobridge.spec.yaml_tree import read_tree

DATA = b'a: {b: [no, "1", ~]}\n"c d": |\n  text\n'


class Kept:
    """A memory that counts what was kept."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, Digest], Json] = {}
        self.times = 0

    def result(self, kind: str, key: Digest) -> object | None:
        """What was kept."""
        return self.values.get((kind, key))

    def remember(self, kind: str, key: Digest, value: Json) -> None:
        """Keep it."""
        self.values[kind, key] = value
        self.times += 1


def placed(node: Node, place: str) -> Node:
    """The node with the places that it would have in a file."""
    match node:
        case Scalar():
            return Scalar(place, node.line, node.text, node.plain)
        case Sequence():
            items = tuple(placed(item, f"{place}[{number}]") for number, item in enumerate(node.items))
            return Sequence(place, node.line, items)
        case Entries():
            pairs = {key: placed(item, below(place, key)) for key, item in node.items.items()}
            return Entries(place, node.line, pairs)


lines = st.integers(1, 99)
leaves: st.SearchStrategy[Node] = st.builds(Scalar, st.just(""), lines, st.text(), st.booleans())
nodes = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Sequence, st.just(""), lines, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Entries, st.just(""), lines, st.dictionaries(st.text(), inner, max_size=3)),
    ),
    max_leaves=8,
)


@given(nodes)
def test_every_tree_survives_memory_with_its_places(node: Node) -> None:
    root = placed(node, "")
    assert read_node(node_json(root), "") == root


def test_a_text_is_parsed_once() -> None:
    memory = Kept()
    first, again = tree_of(DATA, "x.yaml", memory), tree_of(DATA, "x.yaml", memory)
    assert first == again == read_tree(DATA, "x.yaml") == tree_of(DATA, "x.yaml", None)
    assert memory.times == 1


def test_another_text_is_another_tree() -> None:
    memory = Kept()
    tree_of(DATA, "x.yaml", memory)
    assert tree_of(DATA + b"e: f\n", "x.yaml", memory) == read_tree(DATA + b"e: f\n", "x.yaml")


def test_a_broken_memory_counts_for_nothing() -> None:
    memory = Kept()
    tree_of(DATA, "x.yaml", memory)
    for kind, key in list(memory.values):
        assert kind == KIND
        memory.values[kind, key] = [1, "no node"]
    assert tree_of(DATA, "x.yaml", memory) == read_tree(DATA, "x.yaml")
