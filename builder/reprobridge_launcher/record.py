"""Frozen records: what `dataclasses` (Python 3.7, and costly to import) would give, in a few lines.

A subclass lists its fields as quoted annotations; a class attribute of the same name is the default.
Instances take keywords only, can't be changed, and compare and hash by their fields.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import TypeVar, dataclass_transform

    R = TypeVar("R", bound="Record")
else:

    def dataclass_transform(**_options: bool) -> object:
        """Do nothing at run time: `Record` itself does what the type checker is told here."""
        return lambda cls: cls


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=True)
class Record:
    """Base of all frozen records of the launcher."""

    _fields = ()  # type: tuple[str, ...]

    def __init_subclass__(cls) -> None:
        """Take the field names from the annotations, parents first."""
        own = tuple(name for name in cls.__annotations__ if name not in cls._fields and name[0] != "_")
        cls._fields = cls._fields + own

    def __init__(self, **values: object) -> None:
        """Set every field; a missing or unknown one is a TypeError."""
        for name in self._fields:
            if name in values:
                object.__setattr__(self, name, values.pop(name))
            elif not hasattr(type(self), name):
                raise TypeError("{} needs {}".format(type(self).__name__, name))
        if values:
            raise TypeError("{} has no field {}".format(type(self).__name__, ", ".join(sorted(values))))

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: records are frozen."""
        raise AttributeError("{} is frozen: can't set {}".format(type(self).__name__, name))

    def __delattr__(self, name: str) -> None:
        """Refuse: records are frozen."""
        raise AttributeError("{} is frozen: can't delete {}".format(type(self).__name__, name))

    def _values(self) -> "tuple[object, ...]":
        return tuple(getattr(self, name) for name in self._fields)

    def __eq__(self, other: object) -> bool:
        """Equal when of the same class with equal fields."""
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        """Hash of class and fields."""
        return hash((type(self).__name__, *self._values()))

    def __repr__(self) -> str:
        """Look like the call that makes it."""
        shown = ", ".join("{}={!r}".format(*pair) for pair in zip(self._fields, self._values()))
        return "{}({})".format(type(self).__name__, shown)


def replaced(record: "R", **changes: object) -> "R":
    """Return a copy of a record in which some fields have other values."""
    kept = {name: getattr(record, name) for name in record._fields}
    kept.update(changes)
    return type(record)(**kept)
