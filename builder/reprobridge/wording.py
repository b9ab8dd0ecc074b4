"""Words for everything that people read: those that depend on a number, and on what was wrong."""

import re

_LOGIN = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)([^\s/?#'\"]*)@")


def counted(number: int, noun: str) -> str:
    """`1 task`, `2 tasks`: for nouns whose plural adds an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def without_passwords(text: str) -> str:
    """A text in which what stands before the @ of an address is masked; the user of an ssh address is no secret."""
    return _LOGIN.sub(lambda found: found[0] if _is_name(found) else f"{found[1]}***@", text)


def has_login(text: str) -> bool:
    """Whether an address in the text holds a password or a token, which must not be published."""
    return without_passwords(text) != text


def _is_name(login: "re.Match[str]") -> bool:
    return "ssh" in login[1].lower() and ":" not in login[2]


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
