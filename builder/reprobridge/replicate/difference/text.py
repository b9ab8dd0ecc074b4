"""The tree of differences for people: first how much differs, then what, indented like a tree."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from reprobridge.digest import Json
from reprobridge.replicate.difference.model import (
    Aspect,
    FieldChange,
    FileDifference,
    FileOnly,
    Files,
    ImageDifference,
    LayerChanged,
    LayerDifference,
    LayerMoved,
    LayerOnly,
    Meaning,
    NotLooked,
    PackageChange,
    Side,
    Unlike,
)
from reprobridge.replicate.one_line import one_line
from reprobridge.replicate.seen import SeenLayer
from reprobridge.spec.nodes import printable

SHOWN = 20
"""Entries of a list that are shown unless all are asked for."""

_DIGITS = 12  # of a file's SHA-256
_UNLIKE = {
    Unlike.COMPRESSION: "the same tar stream, compressed differently",
    Unlike.ORDER: "the same files in another order",
    Unlike.HEADERS: "the same files; times or the writing of tar headers differ",
}
_SIGNS = {Side.BEFORE: "-", Side.AFTER: "+"}


def counts(difference: ImageDifference) -> dict[str, Json]:
    """How much differs, by kind; what does not differ at all is left out."""
    counter: Counter[str] = Counter()
    counter["fields"] = len(difference.manifest) + len(difference.config)
    for layer in difference.layers:
        counter[f"layers {_layer_word(layer)}"] += 1
    for file in difference.files():
        counter[f"files {_file_word(file)}"] += 1
    if isinstance(difference.meaning, Meaning):
        meaning = difference.meaning
        counter["packages"] = len(meaning.packages)
        counter["lock fields"] = len(meaning.lock)
        counter["specification"] = len(meaning.spec) + len(meaning.files)
    return {name: number for name, number in counter.items() if number}


def difference_lines(difference: ImageDifference, *, everything: bool = False) -> Iterator[str]:
    """The lines to print; `everything`: also beyond the first `SHOWN` entries of each list."""
    shown = None if everything else SHOWN
    if difference.equal:
        yield f"equal: {difference.before}"
        return
    yield f"- {difference.before}"
    yield f"+ {difference.after}"
    yield ", ".join(f"{name}: {number}" for name, number in counts(difference).items())
    yield from _section("made from", _meaning(difference.meaning, shown))
    yield from _section("manifest", _cut(map(_field, difference.manifest), len(difference.manifest), shown))
    yield from _section("configuration", _cut(map(_field, difference.config), len(difference.config), shown))
    yield from _section("layers", (line for layer in difference.layers for line in _layer(layer, shown)))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    first = True
    for line in lines:
        if first:
            yield f"{title}:"
            first = False
        yield f"  {line}"


def _cut(lines: Iterable[str], total: int, shown: int | None) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number == shown:
            yield f"… and {total - number} more"
            return
        yield line


# what they are made from


def _meaning(meaning: Meaning | NotLooked, shown: int | None) -> Iterator[str]:
    if isinstance(meaning, NotLooked):
        yield f"not compared: {one_line(meaning.reason.splitlines()[0])}"
        return
    fields = [
        FieldChange(f"specification {change.where}", change.before, change.after) for change in meaning.spec
    ]
    fields += [FieldChange(f"lock {change.where}", change.before, change.after) for change in meaning.lock]
    yield from _cut(map(_field, fields), len(fields), shown)
    yield from _cut((line for file in meaning.files for line in _file(file)), len(meaning.files), shown)
    yield from _cut(map(_package, meaning.packages), len(meaning.packages), shown)


def _package(change: PackageChange) -> str:
    name = f"{change.kind} {change.name}"
    if change.before is None:
        return one_line(f"+ {name} {change.after}")
    if change.after is None:
        return one_line(f"- {name} {change.before}")
    return one_line(f"~ {name} {change.before} -> {change.after}")


def _field(change: FieldChange) -> str:
    if not change.where:
        return "~ the same JSON, written differently"
    where = one_line(change.where)
    if change.before is None:
        return f"+ {where}: {_value(change.after)}"
    if change.after is None:
        return f"- {where}: {_value(change.before)}"
    return f"~ {where}: {_value(change.before)} -> {_value(change.after)}"


def _value(value: Json) -> str:
    import json

    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


# layers and files


def _layer(difference: LayerDifference, shown: int | None) -> Iterator[str]:
    match difference:
        case LayerOnly(layer=layer, position=position, side=side):
            yield f"{_SIGNS[side]} {position} {_named(layer)}"
        case LayerMoved(layer=layer, before=before, after=after):
            yield f"> {before} -> {after} {_named(layer)}"
        case LayerChanged(before=before, after=after, inside=inside):
            title = _title(after) if before.title == after.title else f"{_title(before)} -> {_title(after)}"
            sizes = f"{before.descriptor.size} -> {after.descriptor.size} bytes"
            yield f"~ {title} ({sizes}) {before.descriptor.digest} -> {after.descriptor.digest}"
            yield from (f"  {line}" for line in _inside(inside, shown))


def _inside(inside: Files | NotLooked, shown: int | None) -> Sequence[str]:
    if isinstance(inside, NotLooked):
        return [inside.reason]
    if inside.unlike is not None:
        return [_UNLIKE[inside.unlike]]
    shown_files = inside.files[:shown]
    lines = [line for file in shown_files for line in _file(file)]
    left = len(inside.files) - len(shown_files)
    return [*lines, f"… and {left} more"] if left else lines


def _file(difference: FileDifference) -> Iterator[str]:
    if isinstance(difference, FileOnly):
        yield f"{_SIGNS[difference.side]} {one_line(difference.path)}"
        return
    yield f"~ {one_line(difference.path)}"
    for change in difference.aspects:
        short = _DIGITS if change.aspect is Aspect.CONTENT else None
        before, after = (printable(text[:short]) for text in (change.before, change.after))
        yield f"    {change.aspect.value}: {before} -> {after}"


def _named(layer: SeenLayer) -> str:
    return f"{_title(layer)} ({layer.descriptor.size} bytes) {layer.descriptor.digest}"


def _title(layer: SeenLayer) -> str:
    return printable(layer.title)


def _layer_word(layer: LayerDifference) -> str:
    match layer:
        case LayerOnly(side=side):
            return "removed" if side is Side.BEFORE else "added"
        case LayerMoved():
            return "moved"
        case LayerChanged():
            return "changed"


def _file_word(file: FileDifference) -> str:
    if isinstance(file, FileOnly):
        return "removed" if file.side is Side.BEFORE else "added"
    return "changed" if any(one.aspect in _BYTES for one in file.aspects) else "with other modes or owners"


_BYTES = frozenset((Aspect.KIND, Aspect.CONTENT, Aspect.TARGET))
