"""Documents compared field by field."""

from hypothesis import given
from hypothesis import strategies as st

from reprobridge.digest import Json
from reprobridge.replicate.difference.fields import field_changes
from reprobridge.replicate.difference.model import FieldChange

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


def test_a_changed_field_is_named_by_its_path() -> None:
    before: Json = {"config": {"Env": {"PATH": "/bin", "LANG": "C"}}, "os": "linux"}
    after: Json = {"config": {"Env": {"PATH": "/usr/bin", "LANG": "C"}}, "os": "linux"}
    assert list(field_changes(before, after)) == [FieldChange("config.Env.PATH", "/bin", "/usr/bin")]


def test_a_field_that_one_side_lacks_has_no_value_there() -> None:
    assert list(field_changes({"a": "1"}, {"b": "2"})) == [
        FieldChange("a", "1", None),
        FieldChange("b", None, "2"),
    ]


def test_a_task_that_was_put_in_between_is_one_difference() -> None:
    first, second, new = ({"id": name, "command": [name]} for name in ("lda", "qda", "new"))
    changes = list(field_changes({"tasks": [first, second]}, {"tasks": [first, new, second]}))
    assert changes == [FieldChange("tasks[new]", None, new)]


def test_the_same_tasks_in_another_order_are_said_to_be() -> None:
    first, second = {"id": "lda"}, {"id": "qda"}
    changes = list(field_changes({"tasks": [first, second]}, {"tasks": [second, first]}))
    assert changes == [FieldChange("tasks: order", ["lda", "qda"], ["qda", "lda"])]


def test_lists_without_distinct_ids_are_values() -> None:
    twice: Json = [{"id": "x"}, {"id": "x", "n": "1"}]
    assert list(field_changes(twice, [{"id": "x"}], "l")) == [FieldChange("l", twice, [{"id": "x"}])]
    assert list(field_changes(["a", "b"], ["b", "a"], "l")) == [FieldChange("l", ["a", "b"], ["b", "a"])]


def test_false_is_not_zero_and_the_order_of_keys_is_nothing() -> None:
    assert list(field_changes({"a": 0}, {"a": False})) == [FieldChange("a", 0, False)]
    assert list(field_changes([0], [False], "l")) == [FieldChange("l", [0], [False])]
    assert list(field_changes([{"a": 1, "b": 2}], [{"b": 2, "a": 1}])) == []


@given(VALUES, VALUES)
def test_there_is_a_difference_exactly_where_the_documents_differ(before: Json, after: Json) -> None:
    # A key with null means the same as no key.
    if _without_nulls(before) == _without_nulls(after):
        assert before != after or list(field_changes(before, after)) == []
    else:
        assert list(field_changes(before, after)) != []


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        kept = {key: _without_nulls(item) for key, item in value.items() if item is not None}
        return {key: item for key, item in kept.items() if item != {}} or {}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else _typed(value)


def _typed(value: object) -> object:
    """Python takes True for 1."""
    return (bool, value) if isinstance(value, bool) else value
