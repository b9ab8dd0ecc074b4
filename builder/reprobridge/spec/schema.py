"""The JSON Schema (2020-12) of reprobridge.yaml for editors, made from the parser's own table.

It says what JSON Schema can say of a file: rules between parts (ids, files that exist) are the parser's alone.
"""

import json

from reprobridge.spec.document import DOCUMENT
from reprobridge.spec.model import SCHEMA
from reprobridge.spec.shapes import Schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The dialect that the schema is written in."""


def json_schema() -> Schema:
    """The schema as JSON values."""
    head: Schema = {
        "$schema": DIALECT,
        "$id": f"urn:{SCHEMA.replace('.', ':').replace('/', ':')}",
        "title": f"reprobridge.yaml ({SCHEMA})",
    }
    return head | DOCUMENT.schema()


def schema_text() -> str:
    """The schema as the file guides/reference/reprobridge.schema.json holds it."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
