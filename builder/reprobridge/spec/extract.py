"""The section `extract` of a task: where its value stands in what a run leaves behind.

The launcher owns the format (`reprobridge_launcher/extraction.py`) and has the last word on it here too, so that
what passes is what a run inside the image will accept.
"""

from collections.abc import Mapping
from functools import partial

from reprobridge.spec.model import Extract, Reduce, Rule
from reprobridge.spec.nodes import Entries, Scalar, is_null
from reprobridge.spec.reading import Reading
from reprobridge.spec.scalars import NUMBER, TEXT, VERBATIM, Choice, Verbatim, Whole, Word
from reprobridge.spec.shapes import Key, MapOf, Record, Variants
from reprobridge_launcher.extraction import KINDS, check_pattern, parse
from reprobridge_launcher.fields import FormatError


def launcher_form(extract: Extract) -> dict[str, object]:
    """The launcher's JSON form of an extractor. The scale is a float there: this is for writing, not hashing."""
    form: dict[str, object] = {"kind": extract.kind, "file": extract.file, **extract.parameters}
    if extract.reduce:
        form |= {"reduce": extract.reduce.how, "expect": extract.reduce.expect}
    return form | {"scale": float(extract.scale)}


def _extract(kind: str, **written: object) -> Extract:
    """Build from the keys of EXTRACT; counts that don't fit each other are kept for the launcher's check."""
    reduce, expect = written["reduce"], written["expect"]
    occurrence = written["occurrence"] or ("all" if reduce else "only")
    return Extract(
        file=str(written["file"]),
        kind=kind,
        parameters={kind: _rule(written[kind]), "occurrence": str(occurrence)},
        scale=str(written["scale"]),
        reduce=Reduce(how=str(reduce), expect=expect if isinstance(expect, int) else 0) if reduce else None,
    )


def _rule(written: object) -> Rule:
    return {str(key): value for key, value in written.items()} if isinstance(written, dict) else str(written)


def _check(extract: Extract, node: Entries, reading: Reading) -> None:
    form = launcher_form(extract)
    expect = node.items.get("expect")
    if isinstance(expect, Scalar) and not is_null(expect):
        form["expect"] = int(expect.text)
    try:
        check_pattern(parse(form, node.place), node.place)
    except FormatError as error:
        key = error.place.removeprefix(f"{node.place}.").partition(".")[0]
        reading.report(node.items.get(key, node), error.expected, error.found)


_CELL = Record(
    dict[str, object],
    {
        "column": Key(shape=TEXT, doc="Column of the value, by its name in the first row."),
        "where": Key(
            shape=MapOf(TEXT, VERBATIM), doc="Columns -> texts that they must have in the row.", default={}
        ),
        "delimiter": Key(
            shape=Word(r'[^"\r\n]', "one character other than a quotation mark"),
            doc="What stands between cells.",
            default=",",
        ),
    },
)

_RULES: Mapping[str, Key] = {
    "regex": Key(
        shape=Verbatim(most=2000), doc="Regular expression with exactly one group, named value: (?P<value>…)."
    ),
    "json": Key(shape=VERBATIM, doc="JSON pointer (RFC 6901) into a JSON file."),
    "jsonl": Key(shape=VERBATIM, doc="JSON pointer into each line of a file of JSON lines."),
    "csv": Key(shape=_CELL, doc="Cell of a CSV file whose first row names the columns."),
}

EXTRACT = Variants(
    {
        kind: Record(
            partial(_extract, kind),
            {
                "file": Key(shape=TEXT, doc="stdout, stderr, or a path or pattern below the run's outputs."),
                kind: _RULES[kind],
                "occurrence": Key(
                    shape=Choice("only", "first", "last", "all"),
                    doc="Which of several matches in one file counts: only (all of them with reduce) by default.",
                    default=None,
                ),
                "scale": Key(
                    shape=NUMBER, doc="Factor from the number in the file to the task's unit.", default="1"
                ),
                "reduce": Key(
                    shape=Choice("mean", "median", "max", "min"),
                    doc="How the values of all matches in all files become one.",
                    default=None,
                ),
                "expect": Key(
                    shape=Whole(1), doc="How many values must be found; needed with reduce.", default=None
                ),
            },
            check=_check,
        )
        for kind in KINDS
    }
)
"""The shape of `extract`."""
