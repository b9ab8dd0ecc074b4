"""Paths that differ in case alone: two in the image, one where it is unpacked on macOS or Windows."""

from collections.abc import Iterable, Sequence

from reprobridge.wording import counted


def same_but_for_case(paths: Iterable[str]) -> dict[str, list[str]]:
    """All spellings of each path by what they have in common."""
    spellings: dict[str, list[str]] = {}
    for path in paths:
        spellings.setdefault(path.casefold(), []).append(path)
    return spellings


def told(groups: Sequence[Sequence[str]]) -> str:
    """One line on groups of several spellings each, of which the first is named."""
    shown = sorted(" and ".join(f"/{path}" for path in sorted(group)) for group in groups)
    more = f", and {counted(len(shown) - 1, 'path')} more" if len(shown) > 1 else ""
    return f"{shown[0]} are one path where case doesn't count (macOS, Windows){more}"
