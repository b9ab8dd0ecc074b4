"""Words that depend on a number, for everything that people read."""


def counted(number: int, noun: str) -> str:
    """`1 task`, `2 tasks`: for nouns whose plural adds an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
