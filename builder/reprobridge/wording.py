"""Words for everything that people read: those that depend on a number, and on what was wrong."""


def counted(number: int, noun: str) -> str:
    """`1 task`, `2 tasks`: for nouns whose plural adds an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def complaint(error: Exception) -> str:
    """What was wrong with a document, by the exception that reading it raised."""
    match error:
        case KeyError():
            return f"no {error}"
        case OSError(strerror=str(said)):
            return said
        case RecursionError():
            return "endless nesting"
        case _:
            return str(error)
