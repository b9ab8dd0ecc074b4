"""Characters that look like others: what a message shows can't tell them from those that were meant."""


def odd_character(text: str) -> str | None:
    """Which character of a text is none of ASCII's, the first of them; None where all are."""
    if text.isascii():
        return None
    number, odd = next((number, one) for number, one in enumerate(text, 1) if not one.isascii())
    return f"its character {number} is {code_point(odd)}"


def code_point(character: str) -> str:
    """The character by number and name."""
    from unicodedata import name

    return f"U+{ord(character):04X} ({name(character, 'which has no name')})"


def with_odd_character(hint: str | None, text: str) -> str | None:
    """A hint on a text that may only have ASCII, led by the character that it may not have."""
    return "; ".join(filter(None, (odd_character(text), hint))) or None
