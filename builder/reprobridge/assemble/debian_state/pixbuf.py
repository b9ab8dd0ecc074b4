"""The list of gdk-pixbuf's loaders, without which it opens no image but PNG and JPEG."""

import re
from collections.abc import Mapping

from reprobridge.assemble.deb.facts import DebFacts
from reprobridge.assemble.deb.pixbuf import loader_paragraph
from reprobridge.assemble.debian_state.dpkg import control_field
from reprobridge.assemble.debian_state.tree import StateTree

_PACKAGE = "libgdk-pixbuf-2.0-0"
"""The package whose scripts would write the list."""
_FOLDER = re.compile(r"interest\S* /(usr/lib/[^/]+/gdk-pixbuf-2\.0/[^/]+)/loaders")
"""Where it waits for loaders; the list stands beside them."""
_HEAD = """\
# GdkPixbuf Image Loader Modules file
# Automatically generated file, do not edit
# Created by gdk-pixbuf-query-loaders from gdk-pixbuf-{version}
#
"""


def add_pixbuf_loaders(tree: StateTree, packages: Mapping[str, DebFacts]) -> None:
    """Write the list of all loaders, whosever they are, sorted as the program has it."""
    facts = packages.get(_PACKAGE)
    if facts is None:
        return
    upstream = re.split(r"[-+]", control_field(facts.control, "Version").rpartition(":")[2])[0]
    for folder in (match[1] for line in facts.triggers if (match := _FOLDER.fullmatch(line))):
        paragraphs = [loader_paragraph(f"/{path}") for path in tree.files_in(f"{folder}/loaders")]
        text = _HEAD.format(version=upstream) + "".join(filter(None, paragraphs)) + "\n"
        tree.put(f"{folder}/loaders.cache", text.encode())
