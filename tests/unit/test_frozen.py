"""Frozen values: the same as frozen dataclasses, where we use them."""

import copy
import dataclasses
import pickle
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.frozen import field, field_names, frozen, replace


@frozen
class Pair:
    """A value with a default and a method."""

    kind: ClassVar[str] = "pair"
    left: int
    right: str = "r"

    def __post_init__(self) -> None:
        if self.left < 0:
            raise ValueError("left is negative")


@dataclasses.dataclass(frozen=True)
class Model:
    """What `Pair` must behave like."""

    left: int
    right: str = "r"


@frozen(kw_only=True)
class Holder:
    """A value by names, with a default that is made anew."""

    first: Pair
    more: dict[str, int] = field(default_factory=dict)


@frozen(order=True)
class Ordered:
    """A value that sorts."""

    number: int
    name: str


numbers = st.integers(0, 3)


@given(numbers, numbers, st.sampled_from("ab"), st.sampled_from("ab"))
def test_equality_hash_and_text_are_a_dataclasss(a: int, b: int, c: str, d: str) -> None:
    ours, theirs = (Pair(a, c), Pair(b, right=d)), (Model(a, c), Model(b, right=d))
    assert (ours[0] == ours[1]) == (theirs[0] == theirs[1])
    if ours[0] == ours[1]:
        assert hash(ours[0]) == hash(ours[1])
    assert repr(ours[0]) == repr(theirs[0]).replace("Model", "Pair")


def test_the_order_of_names_in_a_call_does_not_matter() -> None:
    assert Pair(right="x", left=1) == Pair(1, "x")
    assert hash(Pair(right="x", left=1)) == hash(Pair(1, "x"))


def test_a_value_is_frozen() -> None:
    pair: Any = Pair(1)
    with pytest.raises(AttributeError, match="frozen"):
        pair.left = 2
    with pytest.raises(AttributeError, match="frozen"):
        del pair.left


@pytest.mark.parametrize(
    ("given_", "named", "said"),
    [
        ((), {}, "lacks left"),
        ((1, "a", 2), {}, "takes 2 fields"),
        ((1,), {"left": 2}, "left twice"),
        ((1,), {"wrong": 2}, "no wrong"),
    ],
)
def test_wrong_fields_are_refused_by_name(given_: tuple[Any, ...], named: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        Pair(*given_, **named)


def test_only_names_make_a_value_by_names() -> None:
    kind: Any = Holder
    with pytest.raises(TypeError):
        kind(Pair(1))


def test_what_post_init_refuses_is_refused_also_when_replacing() -> None:
    with pytest.raises(ValueError, match="negative"):
        Pair(-1)
    with pytest.raises(ValueError, match="negative"):
        replace(Pair(1), left=-1)


def test_a_made_default_is_each_values_own() -> None:
    one, two = Holder(first=Pair(1)), Holder(first=Pair(1))
    one.more["x"] = 1
    assert two.more == {}


def test_class_variables_are_no_fields() -> None:
    assert field_names(Pair) == ("left", "right")
    assert Pair(1).kind == "pair"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
def test_copies_and_pickles_are_equal(again: Any) -> None:
    holder = Holder(first=Pair(1, "x"), more={"a": 1})
    assert again(holder) == holder


def test_ordered_values_sort_by_their_fields() -> None:
    assert sorted([Ordered(2, "a"), Ordered(1, "b"), Ordered(1, "a")]) == [
        Ordered(1, "a"),
        Ordered(1, "b"),
        Ordered(2, "a"),
    ]


def test_patterns_match_by_position_and_by_name() -> None:
    match Pair(1, "x"):
        case Pair(left, right="x"):
            assert left == 1
        case _:
            pytest.fail("no match")
