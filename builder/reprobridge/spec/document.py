"""The whole of reprobridge.yaml: the table that parser, schema and reference page are made from."""

import re
from typing import Any, Literal

from reprobridge.spec.decisions import DECISIONS
from reprobridge.spec.environment import ENVIRONMENT
from reprobridge.spec.model import SCHEMA, Decisions, FolderSource, Spec
from reprobridge.spec.nodes import Entries, Node, Scalar, nodes_at
from reprobridge.spec.paper import PAPER
from reprobridge.spec.paths import NamedFile, relative_path
from reprobridge.spec.reading import Reading
from reprobridge.spec.scalars import WEB_ADDRESS, Choice, Word
from reprobridge.spec.shapes import Invalid, Key, ListOf, Record
from reprobridge.spec.source import CHANGE, SOURCE, SourceSection
from reprobridge.spec.task import TASK


def _spec(*, source: SourceSection, **rest: Any) -> Spec:
    """The specification, still without the bytes of its files; that there is one schema needs no field."""
    del rest["schema"]
    return Spec(source=source.source, exclude=source.exclude, files={}, **rest)


def _check_guide(node: Node, data: bytes, reading: Reading) -> None:
    text = reading.text(node, data)
    if text is not None and not text.strip():
        reading.report(node, "a guide in Markdown", "an empty file")


def _check_checkpoints(spec: Spec, node: Entries, reading: Reading) -> None:
    """Report checkpoints that a source folder lacks; other sources are looked into when locking."""
    if isinstance(spec.source, FolderSource):
        for checkpoint in nodes_at(node, "tasks.*.checkpoints.*"):
            if path := relative_path(checkpoint):
                reading.existing(checkpoint, spec.source.path / path)


class _Format(Choice):
    """The name of this format; one with a higher number was written for a newer release."""

    def read(self, node: Node, reading: Reading) -> str | Literal[Invalid.INVALID]:
        """The name."""
        if isinstance(node, Scalar) and node.text != SCHEMA and re.fullmatch(_ANY_FORMAT, node.text):
            return self.refuse(node, reading, "the file is written for a newer release: upgrade reprobridge")
        return super().read(node, reading)


_ANY_FORMAT = r"reprobridge\.artifact/[1-9][0-9]{0,5}"
_VERSION = Word(
    r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}",
    "a version such as 1.0.0",
    hint="it becomes the image's tag: letters, digits, . _ -",
)
_LICENSE = Word(
    r"\(*[A-Za-z0-9][A-Za-z0-9.+-]*\)*( (AND|OR|WITH) \(*[A-Za-z0-9][A-Za-z0-9.+-]*\)*)*",
    "an SPDX expression such as BSD-3-Clause or MIT AND Apache-2.0",
)

DOCUMENT = Record(
    _spec,
    {
        "schema": Key(shape=_Format(SCHEMA), doc="This format."),
        "paper": Key(shape=PAPER, doc="The paper."),
        "version": Key(shape=_VERSION, doc="Of the artifact; the image's tag."),
        "license": Key(shape=_LICENSE, doc="SPDX expression of the refined code."),
        "repository": Key(shape=WEB_ADDRESS, doc="Where the artifact is maintained.", default=None),
        "source": Key(shape=SOURCE, doc="The original code."),
        "changes": Key(shape=ListOf(CHANGE), doc="Patches that make the refined code, in order.", default=()),
        "environment": Key(shape=ENVIRONMENT, doc="What the code runs in."),
        "tasks": Key(shape=ListOf(TASK, least=1), doc="The reported numbers."),
        "decisions": Key(shape=DECISIONS, doc="What was decided, and why.", default=Decisions()),
        "guide": Key(shape=NamedFile(_check_guide), doc="The reproduction guide, a Markdown file."),
    },
    check=_check_checkpoints,
    unsupported={"data": "data sets beside the source are"},
)
"""The shape of the whole file."""
