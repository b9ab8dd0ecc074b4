"""License expressions of SPDX, read by a table of our own.

Whether a text is an expression reaches image bytes, so it may not depend on which release of a library knows
which licenses: the identifiers are those of one version of the SPDX License List (image-templates/
spdx-licenses.json, from spdx.org/licenses), deprecated ones included, as PEP 639 has it.
References to licenses outside of the list (`LicenseRef-…`) are no expression here: an SPDX document would have to
hold their texts.
Source: SPDX 2.3, annex D.
"""

import functools
import json
import re
from collections.abc import Mapping

from reprobridge.data_files import data_folder
from reprobridge.frozen import frozen


@frozen
class _Identifiers:
    """How the list spells identifiers, by lower-case spelling."""

    licenses: Mapping[str, str]
    exceptions: Mapping[str, str]


def spdx_expression(text: str) -> str | None:
    """The expression as the list spells it; None when it is none."""
    known, words = _identifiers(), []
    depth, last = 0, "("
    for word in re.findall(r"[()]|[^\s()]+", text):
        lower, upper = word.lower(), word.upper()
        if last == "WITH":
            found, last = known.exceptions.get(lower), "exception"
        elif last in ("(", "AND", "OR"):
            found, last = (word, "(") if word == "(" else (_license(lower, known.licenses), "license")
        elif upper in ("AND", "OR") or (upper == "WITH" and last == "license"):
            found, last = upper, upper
        else:
            found, last = word if word == ")" else None, ")"
        depth += (word == "(") - (word == ")")
        if found is None or depth < 0:
            return None
        words.append(found)
    if depth or last in ("(", "AND", "OR", "WITH"):
        return None
    return " ".join(words).replace("( ", "(").replace(" )", ")")


def _license(lower: str, licenses: Mapping[str, str]) -> str | None:
    """An identifier, perhaps with a `+` for later versions."""
    if lower in licenses:
        return licenses[lower]
    simple = licenses.get(lower.removesuffix("+"))
    return f"{simple}+" if simple and lower.endswith("+") else None


@functools.cache
def _identifiers() -> _Identifiers:
    data = json.loads((data_folder("image-templates") / "spdx-licenses.json").read_bytes())
    licenses, exceptions = ({name.lower(): name for name in data[key]} for key in ("licenses", "exceptions"))
    return _Identifiers(licenses, exceptions)
