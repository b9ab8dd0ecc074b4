"""Names of Python packages, of which one package may have many spellings: `Foo.Bar`, `foo_bar`, `foo-bar`.

The launcher, which imports nothing of ours, has the same in `setting.py`.
"""

import re


def normalized(name: str) -> str:
    """The one spelling that names are compared in, and that locks have (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
