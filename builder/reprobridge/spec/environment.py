"""The section `environment`: what the code runs in."""

from typing import Literal

from reprobridge.spec.model import Environment, PythonWish
from reprobridge.spec.nodes import Node, Scalar
from reprobridge.spec.paths import NamedFile, PlainPath
from reprobridge.spec.reading import Reading
from reprobridge.spec.requirements import check_requirements
from reprobridge.spec.scalars import TEXT, VERBATIM, WEB_ADDRESS, Date, Flag, Word
from reprobridge.spec.shapes import Invalid, Key, ListOf, MapOf, Record, Schema, Shape

PLATFORMS = ("linux/amd64",)
"""What this release builds for."""

_DEBIAN = Word(
    r"[a-z0-9][a-z0-9+.-]+",
    "the name of a Debian package",
    hint="the name alone: the lock chooses the version, and the architecture is the platform's",
)
_DISTRIBUTION = Word(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", "the name of a Python package")

_MODULE = Word(
    r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*",
    "the name of a module such as torch_xla or google.cloud",
)


class TemplateName(Shape[str]):
    """The name of a base system."""

    wanted = "the name of a template"

    def read(self, node: Node, reading: Reading) -> str | Literal[Invalid.INVALID]:
        """The name, if this release has such a template."""
        if isinstance(node, Scalar) and node.text in reading.templates:
            return node.text
        guess = reading.guess(node.text, reading.templates) if isinstance(node, Scalar) else None
        known = ", ".join(reading.templates)
        return self.refuse(node, reading, f"did you mean {guess}?" if guess else f"templates are {known}")

    def schema(self) -> Schema:
        """A string; which templates there are changes between releases."""
        return {"type": "string"}


_PLATFORM = Word(
    "|".join(PLATFORMS), " or ".join(PLATFORMS), hint="other platforms are not supported by this release"
)

PYTHON = Record(
    PythonWish,
    {
        "requirements": Key(
            shape=NamedFile(check_requirements),
            doc="File with one requirement a line (PEP 508), without options.",
            default=None,
        ),
        "constraints": Key(
            shape=NamedFile(check_requirements),
            doc="File with version constraints for packages that others ask for.",
            default=None,
        ),
        "exclude_newer": Key(
            shape=Date(moment=True), doc="Releases uploaded after it do not exist.", default=None
        ),
        "indexes": Key(
            shape=ListOf(WEB_ADDRESS, distinct=True),
            doc="Package indexes that are searched before the user's own.",
            default=(),
        ),
        "owners": Key(
            shape=MapOf(PlainPath(), _DISTRIBUTION),
            doc="Path below site-packages -> package whose file wins where two ship different ones; "
            "`build` tells of a line that settles nothing.",
            default={},
        ),
        "not_imported": Key(
            shape=MapOf(_MODULE, TEXT),
            doc="Module that can't be imported in a clean shell, although its package brings it -> why.",
            default={},
        ),
        "bytecode": Key(
            shape=Flag(),
            doc="Whether the image holds bytecode of the interpreter's modules and all packages: it starts sooner.",
            default=False,
        ),
    },
)
"""The shape of `environment.python`."""

ENVIRONMENT = Record(
    Environment,
    {
        "template": Key(shape=TemplateName(), doc="Base system, from image-templates/."),
        "python": Key(
            shape=PYTHON, doc="Python packages that the code needs.", default=PythonWish(requirements=None)
        ),
        "apt": Key(
            shape=ListOf(_DEBIAN, distinct=True),
            doc="Debian packages beyond the template's.",
            default=(),
        ),
        "variables": Key(
            shape=MapOf(Word(r"[A-Za-z_][A-Za-z0-9_]*", "the name of a variable"), VERBATIM),
            doc="Environment variables of every task.",
            default={},
        ),
        "platforms": Key(
            shape=ListOf(_PLATFORM, least=1, distinct=True),
            doc="What the artifact is built for.",
            default=PLATFORMS,
        ),
    },
    unsupported={
        "base": "base images from registries are",
        "conda": "conda environments are",
        "nix": "nix environments are",
    },
)
"""The shape of `environment`."""
