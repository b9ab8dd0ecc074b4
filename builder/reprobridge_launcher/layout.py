"""Where things lie.  In an image the root is /rra; tests pass another folder, and everything moves with it."""

import os

from reprobridge_launcher.record import Record


class Layout(Record):
    """Paths that follow from the root folder."""

    root: "str"
    """/rra"""
    system: "str"
    """Folder that holds the root: empty for /, so that `system + path` is a path of the image."""
    code: "str"
    """Refined code, read-only."""
    manifest: "str"
    """The manifest file."""
    references: "str"
    """The references file; may be absent."""
    out: "str"
    """/out: folder of the evidence."""
    data: "str"
    """/data: folder of the data sets."""


def of_root(root: str) -> Layout:
    """Layout of an image whose /rra is `root`."""
    root = os.path.abspath(root)
    system = os.path.dirname(root).rstrip("/")
    return Layout(
        root=root,
        system=system,
        code=root + "/code",
        manifest=root + "/manifest.json",
        references=root + "/references.json",
        out=system + "/out",
        data=system + "/data",
    )
