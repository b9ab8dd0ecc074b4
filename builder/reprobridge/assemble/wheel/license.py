"""The license that a wheel declares, as an SPDX expression, as far as it says one.

A License-Expression (PEP 639) is one. The older fields count where they leave no choice: each statement allows
some licenses, and exactly one is allowed by all. `BSD License` alone allows several, so it names none; beside
`License: BSD-3-Clause` it agrees. Nothing is guessed: the words themselves stand in the bill of materials beside
what was read of them.
"""

import re
from collections.abc import Mapping

from reprobridge.assemble.wheel.facts import WheelFacts
from reprobridge.assemble.wheel.spdx_expression import spdx_expression
from reprobridge.frozen import frozen

_LONGEST = 200
"""Characters of a License field that are shown; some hold a whole license."""
_SILENT = ("License :: OSI Approved", "License :: DFSG approved")
"""Classifiers that name no license."""
_BSD = ("BSD-2-Clause", "BSD-3-Clause")
_CLASSIFIERS: Mapping[str, tuple[str, ...]] = {
    "Apache Software License": ("Apache-1.0", "Apache-1.1", "Apache-2.0"),
    "BSD License": (*_BSD, "BSD-4-Clause", "0BSD"),
    "Boost Software License 1.0 (BSL-1.0)": ("BSL-1.0",),
    "European Union Public Licence 1.1 (EUPL 1.1)": ("EUPL-1.1",),
    "European Union Public Licence 1.2 (EUPL 1.2)": ("EUPL-1.2",),
    "GNU Affero General Public License v3": ("AGPL-3.0-only", "AGPL-3.0-or-later"),
    "GNU Affero General Public License v3 or later (AGPLv3+)": ("AGPL-3.0-or-later",),
    "GNU General Public License v2 (GPLv2)": ("GPL-2.0-only", "GPL-2.0-or-later"),
    "GNU General Public License v2 or later (GPLv2+)": ("GPL-2.0-or-later",),
    "GNU General Public License v3 (GPLv3)": ("GPL-3.0-only", "GPL-3.0-or-later"),
    "GNU General Public License v3 or later (GPLv3+)": ("GPL-3.0-or-later",),
    "GNU Lesser General Public License v2 or later (LGPLv2+)": ("LGPL-2.0-or-later", "LGPL-2.1-or-later"),
    "GNU Lesser General Public License v3 (LGPLv3)": ("LGPL-3.0-only", "LGPL-3.0-or-later"),
    "GNU Lesser General Public License v3 or later (LGPLv3+)": ("LGPL-3.0-or-later",),
    "ISC License (ISCL)": ("ISC",),
    "MIT License": ("MIT",),
    "MIT No Attribution License (MIT-0)": ("MIT-0",),
    "Mozilla Public License 1.1 (MPL 1.1)": ("MPL-1.1",),
    "Mozilla Public License 2.0 (MPL 2.0)": ("MPL-2.0",),
    "Python Software Foundation License": ("PSF-2.0", "Python-2.0"),
    "The Unlicense (Unlicense)": ("Unlicense",),
    "Universal Permissive License (UPL)": ("UPL-1.0",),
    "Zero-Clause BSD (0BSD)": ("0BSD",),
}
"""Which licenses a classifier may mean. Packages for `v3 or later` have been filed under plain `v3`."""
_WORDS: Mapping[str, tuple[str, ...]] = {
    "2 clause bsd": ("BSD-2-Clause",),
    "3 clause bsd": ("BSD-3-Clause",),
    "apache": _CLASSIFIERS["Apache Software License"],
    "apache 2": ("Apache-2.0",),
    "apache 2.0": ("Apache-2.0",),
    "apache license": _CLASSIFIERS["Apache Software License"],
    "apache license 2.0": ("Apache-2.0",),
    "apache license version 2.0": ("Apache-2.0",),
    "apache software license": _CLASSIFIERS["Apache Software License"],
    "apache software license 2.0": ("Apache-2.0",),
    "bsd": _CLASSIFIERS["BSD License"],
    "bsd 2 clause": ("BSD-2-Clause",),
    "bsd 2 clause license": ("BSD-2-Clause",),
    "bsd 3 clause": ("BSD-3-Clause",),
    "bsd 3 clause license": ("BSD-3-Clause",),
    "bsd license": _CLASSIFIERS["BSD License"],
    "isc license": ("ISC",),
    "mit license": ("MIT",),
    "modified bsd": ("BSD-3-Clause",),
    "mozilla public license 2.0": ("MPL-2.0",),
    "mpl 2.0": ("MPL-2.0",),
    "new bsd": ("BSD-3-Clause",),
    "new bsd license": ("BSD-3-Clause",),
    "simplified bsd": ("BSD-2-Clause",),
    "the mit license": ("MIT",),
}
"""Which licenses the words of a License field may mean; in lower case, without hyphens, commas and brackets."""


@frozen
class DeclaredLicense:
    """What a package says of its license."""

    expression: str | None
    """In SPDX's words; None where it says none, or not one alone."""
    words: str
    """In its own, where they are others; else empty."""


def declared_license(facts: WheelFacts) -> DeclaredLicense:
    """What a wheel's METADATA declares."""
    if facts.license_expression is not None:
        expression = spdx_expression(facts.license_expression)
        words = "" if expression == facts.license_expression else facts.license_expression
        return DeclaredLicense(expression, words and f"License-Expression: {words}")
    classifiers = tuple(name for name in facts.classifiers if name not in _SILENT)
    text = (facts.license or "").strip()
    statements = [_meant(text)] if text else []
    statements += [_CLASSIFIERS.get(name.rpartition(" :: ")[2], ()) for name in classifiers]
    allowed = set(statements[0]).intersection(*statements[1:]) if statements else set()
    shown = [f"License: {_shown(text)}"] if text else []
    shown += [f"Classifier: {name}" for name in classifiers]
    return DeclaredLicense(allowed.pop() if len(allowed) == 1 else None, "; ".join(shown))


def _meant(text: str) -> tuple[str, ...]:
    """The licenses that a License field may mean; none where it cannot be read."""
    if expression := spdx_expression(text):
        return (expression,)
    return _WORDS.get(" ".join(re.sub(r"[-,()]", " ", text).lower().split()), ())


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rstrip()}…"
