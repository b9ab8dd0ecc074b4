"""The section `paper`: what the artifact reproduces."""

from reprobridge.spec.model import Paper
from reprobridge.spec.scalars import TEXT, WEB_ADDRESS, Whole, Word
from reprobridge.spec.shapes import Key, ListOf, Record

ARTIFACT_NAME = Word(
    r"(?!.{65})[a-z0-9]+(-[a-z0-9]+)*",
    "a name of lower-case letters and digits, joined by single -",
    hint="it becomes the image's name, for example wine-classifiers",
)
"""The form of an artifact's name."""

PAPER = Record(
    Paper,
    {
        "id": Key(shape=ARTIFACT_NAME, doc="Name of the image."),
        "title": Key(shape=TEXT, doc="The paper's title."),
        "authors": Key(shape=ListOf(TEXT, least=1), doc="Its authors, in the paper's order."),
        "year": Key(shape=Whole(1600, 2999), doc="Year of publication."),
        "venue": Key(shape=TEXT, doc="Where it appeared.", default=None),
        "doi": Key(
            shape=Word(r"10\.[0-9]{4,9}/\S+", "a DOI such as 10.5281/zenodo.1208723"),
            doc="Digital object identifier.",
            default=None,
        ),
        "url": Key(shape=WEB_ADDRESS, doc="Where it can be read.", default=None),
    },
)
"""The shape of `paper`."""
