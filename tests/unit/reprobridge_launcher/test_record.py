"""Frozen records behave like frozen keyword-only dataclasses."""

import pytest

from reprobridge_launcher.record import Record, replaced


class Point(Record):
    x: "int"
    y: "int" = 0


class Named(Point):
    name: "str"


def test_fields_come_from_annotations_parents_first_and_defaults_fill_in() -> None:
    assert repr(Named(name="a", x=1)) == "Named(x=1, y=0, name='a')"


def test_equal_fields_make_equal_records_of_one_class_only() -> None:
    assert Point(x=1) == Point(x=1, y=0)
    assert hash(Point(x=1)) == hash(Point(x=1, y=0))
    assert Point(x=1) != Point(x=2)
    assert Named(x=1, name="a") != Point(x=1)


@pytest.mark.parametrize(
    ("values", "message"), [({}, "Point needs x"), ({"x": 1, "z": 2}, "Point has no field z")]
)
def test_a_missing_or_unknown_field_is_refused(values: dict[str, int], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Point(**values)


def test_records_cannot_be_changed() -> None:
    point = Point(x=1)
    with pytest.raises(AttributeError, match="frozen"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del point.x
    assert replaced(point, x=2) == Point(x=2)
    assert point.x == 1
