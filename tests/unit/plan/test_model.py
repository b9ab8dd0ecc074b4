"""Keys of recipes: what they depend on, and what they don't."""

import pickle

from reprobridge.digest import Digest
from reprobridge.frozen import replace
from reprobridge.lock.model import LockedFile
from reprobridge.plan.model import InventoryRecipe, LayerPlan, WheelRecipe

WHEEL = WheelRecipe(wheel=LockedFile("a-1-py3-none-any.whl", Digest.of(b"a"), 1), python="3.11")


def test_a_changed_field_changes_the_key_although_the_old_one_was_asked_for_before() -> None:
    before = WHEEL.key()
    assert replace(WHEEL, omit=("x",)).key() != before
    assert replace(replace(WHEEL, omit=("x",)), omit=()).key() == before


def test_asking_for_the_key_changes_neither_equality_nor_what_another_process_receives() -> None:
    fresh = replace(WHEEL)
    asked = replace(WHEEL)
    key = asked.key()
    assert asked == fresh
    assert hash(asked) == hash(fresh)
    received = pickle.loads(pickle.dumps(asked))
    assert received == asked
    assert received.key() == key


def test_the_title_of_a_layer_is_not_in_its_key_and_its_parts_are() -> None:
    layer = LayerPlan(title="a", parts=(WHEEL,))
    assert replace(layer, title="b").key() == layer.key()
    assert replace(layer, parts=(WHEEL, WHEEL)).key() != layer.key()


def test_kinds_with_equal_parameters_have_different_keys() -> None:
    inventory = InventoryRecipe(of=(), path="x")
    assert inventory.key() != LayerPlan(title="", parts=()).key()
