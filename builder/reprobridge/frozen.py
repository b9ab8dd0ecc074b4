"""Frozen values: what `dataclass(frozen=True)` gives, with classes made 30 times as quickly.

`dataclasses` writes and compiles six functions for every class, 0.4 ms each time a program starts; a command
that has nothing to do needs a hundred of our types and should be done in a tenth of a second (ADR 0008).
Here all classes share the same functions, which look at the fields' names. Type checkers read the classes as
dataclasses (PEP 681). Not meant for what is made a hundred thousand times: use NamedTuple there.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn, TypeVar, dataclass_transform, overload

T = TypeVar("T")
_FIELDS = "__frozen_fields__"
_DEFAULTS = "__frozen_defaults__"
_CHECKED = "__frozen_checked__"  # whether the class has a `__post_init__`


class _Made:
    """A default that is made anew for each value."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


def field(*, default_factory: Callable[[], T]) -> T:
    """A field whose default is made anew for each value."""
    return _Made(default_factory)  # type: ignore[return-value]  # the class body sees the value's type


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, kw_only: bool = False, order: bool = False) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    cls: type[T] | None = None, /, *, kw_only: bool = False, order: bool = False
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class with annotated fields a frozen value, compared and hashed by all its fields."""

    def make(made: type[T]) -> type[T]:
        names = tuple(name for name, kind in made.__annotations__.items() if not _is_class_variable(kind))
        defaults = {name: made.__dict__[name] for name in names if name in made.__dict__}
        for name, default in defaults.items():
            if isinstance(default, _Made):
                delattr(made, name)
        setattr(made, _FIELDS, names)
        setattr(made, _DEFAULTS, defaults)
        setattr(made, _CHECKED, hasattr(made, "__post_init__"))
        members = {**_SHARED, **(_ORDER if order else {}), "__match_args__": () if kw_only else names}
        members["__init__"] = _init_by_name if kw_only else _init
        for name, member in members.items():
            if name not in made.__dict__:
                setattr(made, name, member)
        return made

    return make if cls is None else make(cls)


def field_names(cls: type[object] | object) -> tuple[str, ...]:
    """Names of a value's fields, in the order of the class."""
    return getattr(cls, _FIELDS)  # type: ignore[no-any-return]


def is_frozen(cls: object) -> bool:
    """Whether this is such a class, or a value of one."""
    return hasattr(cls, _FIELDS)


def replace(old: T, **changes: Any) -> T:
    """The value with some fields changed."""
    return type(old)(**{**vars(old), **changes})


def _is_class_variable(kind: object) -> bool:
    if isinstance(kind, str):
        return kind.startswith(("typing.ClassVar", "ClassVar"))
    return kind is ClassVar or getattr(kind, "__origin__", None) is ClassVar


def _init(self: Any, *given: object, **named: object) -> None:
    names = getattr(self, _FIELDS)
    if len(given) == len(names) and not named:
        vars(self).update(zip(names, given, strict=True))
        if getattr(self, _CHECKED):
            self.__post_init__()
        return
    if len(given) > len(names):
        raise TypeError(f"{type(self).__name__} takes {len(names)} fields, not {len(given)}")
    positional = dict(zip(names, given, strict=False))
    if twice := positional.keys() & named.keys():
        raise TypeError(f"{type(self).__name__} got {', '.join(sorted(twice))} twice")
    _init_by_name(self, **positional, **named)


def _init_by_name(self: Any, /, **named: object) -> None:
    fields = vars(self)
    for name in getattr(self, _FIELDS):
        fields[name] = named.pop(name) if name in named else _default(self, name)
    if named:
        raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(named))}")
    if getattr(self, _CHECKED):
        self.__post_init__()


def _default(self: object, name: str) -> object:
    defaults = getattr(self, _DEFAULTS)
    if name not in defaults:
        raise TypeError(f"{type(self).__name__} lacks {name}")
    default = defaults[name]
    return default.make() if isinstance(default, _Made) else default


def _values(self: object) -> tuple[object, ...]:
    return tuple(vars(self).values())


def _eq(self: object, other: object) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    return vars(self) == vars(other)


def _lt(self: object, other: object) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    return _values(self) < _values(other)


def _hash(self: object) -> int:
    return hash(_values(self))


def _repr(self: object) -> str:
    fields = ", ".join(f"{name}={item!r}" for name, item in vars(self).items())
    return f"{type(self).__qualname__}({fields})"


def _refuse(self: object, name: str, *_: object) -> NoReturn:
    raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be changed")


_SHARED: Mapping[str, object] = {
    "__eq__": _eq,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
}
_ORDER: Mapping[str, object] = {"__lt__": _lt}
