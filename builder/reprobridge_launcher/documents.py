"""Documents that lie in the image as they are."""

import os

from reprobridge_launcher.layout import Layout
from reprobridge_launcher.outcome import BROKEN, MEASURED, StopError


def show(layout: Layout, name: str) -> int:
    """Copy a document to standard output, byte for byte."""
    path = os.path.join(layout.root, name)
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise StopError(BROKEN, "can't read {}: {}".format(path, error.strerror)) from None
    while data:
        data = data[os.write(1, data) :]
    return MEASURED
