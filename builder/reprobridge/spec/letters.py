"""Characters that look like others: what a message shows can't tell them from those that were meant."""


def odd_character(text: str) -> str | None:
    """Which character of a text is none of ASCII's, the first of them; None where all are."""
    if text.isascii():
        return None
    from unicodedata import name

    number, odd = next((number, one) for number, one in enumerate(text, 1) if not one.isascii())
    return f"its character {number} is U+{ord(odd):04X} ({name(odd, 'which has no name')})"


def with_odd_character(hint: str | None, text: str) -> str | None:
    """A hint on a text that may only have ASCII, led by the character that it may not have."""
    return "; ".join(filter(None, (odd_character(text), hint))) or None
