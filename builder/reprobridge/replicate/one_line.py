"""Text that came with an image, for a terminal."""


def one_line(text: str) -> str:
    """The text in one line, in which whatever a terminal would obey is escaped."""
    line = " ".join(text.split())
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in line)
