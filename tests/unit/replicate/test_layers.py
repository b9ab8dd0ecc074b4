"""Which layers of two images belong together, and which moved."""

from hypothesis import given
from hypothesis import strategies as st

from reprobridge.digest import Digest
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.replicate.difference.layers import Pair, compare_layers, moved, pair_up
from reprobridge.replicate.difference.model import (
    LayerChanged,
    LayerMoved,
    LayerOnly,
    NotLooked,
    Side,
)
from reprobridge.replicate.seen import SeenLayer


def layer(title: str, content: str = "") -> SeenLayer:
    digest = Digest.of(f"{title}{content}".encode())
    return SeenLayer(descriptor=Descriptor(MediaType.LAYER, digest, 10), diff_id=digest, title=title)


def look(before: SeenLayer, after: SeenLayer) -> NotLooked:
    return NotLooked(f"{before.title}/{after.title}")


A, B, C = layer("a"), layer("b"), layer("c")


def test_the_same_layers_do_not_differ() -> None:
    assert compare_layers([A, B, C], [A, B, C], look) == ()


def test_a_layer_is_added_and_removed() -> None:
    assert compare_layers([A, B], [A, B, C], look) == (LayerOnly(C, 2, Side.AFTER),)
    assert compare_layers([A, B, C], [A, C], look) == (LayerOnly(B, 1, Side.BEFORE),)


def test_only_the_layer_that_moved_is_said_to_have_moved() -> None:
    assert compare_layers([A, B, C], [C, A, B], look) == (LayerMoved(C, 2, 0),)


def test_layers_of_one_title_are_compared_with_each_other() -> None:
    other = layer("b", "changed")
    assert compare_layers([A, B], [A, other], look) == (LayerChanged(B, other, NotLooked("b/b")),)


def test_layers_of_the_same_packages_in_other_versions_are_compared_with_each_other() -> None:
    old, new = layer("python: numpy 2.3.0, six 1.0"), layer("python: numpy 2.4.0, six 1.0")
    assert isinstance(compare_layers([old], [new], look)[0], LayerChanged)
    other = layer("python: scipy 2.4.0")
    assert [type(one) for one in compare_layers([old], [other], look)] == [LayerOnly, LayerOnly]


def test_a_layer_that_is_there_twice_is_paired_twice() -> None:
    assert compare_layers([A, A], [A], look) == (LayerOnly(A, 1, Side.BEFORE),)


LAYERS = st.lists(st.builds(layer, st.sampled_from("abcd"), st.sampled_from("xy")), max_size=6)


@given(LAYERS, LAYERS)
def test_every_layer_is_in_one_pair_or_alone_and_equal_lists_have_no_difference(
    before: list[SeenLayer], after: list[SeenLayer]
) -> None:
    pairs = pair_up(before, after)
    assert len({pair.before for pair in pairs}) == len({pair.after for pair in pairs}) == len(pairs)
    found = compare_layers(before, after, look)
    alone = [one for one in found if isinstance(one, LayerOnly)]
    assert len(alone) == len(before) + len(after) - 2 * len(pairs)
    digests = [[one.descriptor.digest for one in layers] for layers in (before, after)]
    assert bool(found) == (digests[0] != digests[1])


@given(st.permutations(range(7)))
def test_what_did_not_move_stands_in_the_same_order_and_no_more_could(order: list[int]) -> None:
    pairs = [Pair(number, place) for number, place in enumerate(order)]
    left = [pair.after for pair in pairs if pair not in moved(pairs)]
    assert left == sorted(left)
    assert len(left) == _longest_rising(order)


def _longest_rising(order: list[int]) -> int:
    best: list[int] = []
    for number, value in enumerate(order):
        best.append(1 + max((best[i] for i in range(number) if order[i] < value), default=0))
    return max(best)
