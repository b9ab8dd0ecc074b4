"""The reference page of reprobridge.yaml (guides/reference/reprobridge-yaml.md), made from the parser's own table."""

from collections.abc import Iterator

from reprobridge.spec.document import DOCUMENT
from reprobridge.spec.model import SCHEMA
from reprobridge.spec.shapes import ListOf, Record, Shape, Variants

_INTRODUCTION = f"""\
# reprobridge.yaml

Format `{SCHEMA}`: what the author of an artifact writes, in one file beside the guide, the patches and the
requirements. This page is made by `reprobridge schema --markdown`, the
[JSON Schema for editors](reprobridge.schema.json) by `reprobridge schema`; both come from the table that the
parser works with.

- The file is YAML in UTF-8 without anchors, aliases, tags and repeated keys.
- Scalars are read as text and typed by their key: `no`, `1e5` or a commit of 40 digits mean what was written.
  A key without value, `~` or `null` means that an optional key is left out.
- Unknown keys are errors, and so are keys of the format that this release can't honour.
- Paths are relative to the artifact's folder and stay below it, links included.
- All problems are shown at once, each with its place, what was expected, what was found, and often a hint.

The image's digest depends on this file and on every file that it names.
"""

_RULES = """\
## Rules between parts

- Ids are unique among changes, tasks, ambiguities, pitfalls and open choices; ids that are referred to exist.
- A `correctness_repair` cites a place in the paper (`paper`) or an `ambiguity`, and not one that was settled by
  what the code does: where paper and code disagree, the paper is followed.
- An ambiguity names the place that leaves something open: in the `paper`, in the `code`, or both.
- A patch is a unified diff with whole hunks. That it applies is checked when locking.
- Requirements and constraints files hold no options: reprobridge.yaml has keys for them.
- `statistic: value` goes with exactly one part: without several seeds and repeats.
- `over: seeds` needs `seeds`; every statistic but `value` needs `over`.
- An `evaluation_only` task names its `checkpoints`; where the source is a folder, they lie in it.
- `published.value` is the midpoint of `published.range` where there is one.
- The regular expression of `extract` has exactly one group, named `value`; it is matched against bytes.
"""


def reference_text() -> str:
    """The whole page."""
    sections = "\n".join(_sections("", DOCUMENT))
    return f"{_INTRODUCTION}\n{sections}\n{_RULES}"


def _sections(place: str, record: Record[object]) -> Iterator[str]:
    """The section of a record, then those of the records inside of it."""
    yield _table(place, record)
    for name, key in record.keys.items():
        at = f"{place}.{name}" if place else name
        for inner_place, inner in _records(at, key.shape):
            yield from _sections(inner_place, inner)


def _records(place: str, shape: Shape[object]) -> Iterator[tuple[str, Record[object]]]:
    match shape:
        case Record():
            yield place, shape
        case ListOf():
            yield from _records(f"{place}[]", shape.item)
        case Variants():
            for name, record in shape.records.items():
                yield f"{place} with {name}", record


def _table(place: str, record: Record[object]) -> str:
    lines = [f"## {place or 'Top level'}", "", "| key | | value | meaning |", "|---|---|---|---|"]
    for name, key in record.keys.items():
        wanted = key.shape.wanted.replace("|", "\\|")
        need = "required" if key.required else "optional"
        lines.append(f"| `{name}` | {need} | {wanted} | {key.doc.replace('|', '/')} |")
    lines += [
        f"\nNot supported by this release: `{name}` ({meaning.rpartition(' ')[0]})."
        for name, meaning in record.unsupported.items()
    ]
    return "\n".join(lines) + "\n"
