"""Validation reports in the store, by the image that they are about."""

from reprobridge.digest import Digest
from reprobridge.store.store import Store
from reprobridge.validate.model import Report

RESULT = "validation"
"""Kind of the store's results that hold reports, by the digest of the image's manifest."""


def keep_report(store: Store, report: Report) -> None:
    """Keep the report; a later one about the same image replaces it."""
    store.remember(RESULT, report.image, report.to_json())


def kept_report(store: Store, image: Digest) -> Report | None:
    """The last report about exactly this image, or None; what can't be read counts as none."""
    value = store.result(RESULT, image)
    try:
        return None if value is None else Report.from_json(value)
    except (ValueError, TypeError, KeyError, OverflowError):
        return None
