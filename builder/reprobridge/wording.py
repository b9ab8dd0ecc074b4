"""Words for everything that people read: those that depend on a number, and on what was wrong."""

import re
from collections.abc import Sequence

SECRET_ENDINGS = (
    *("token", "password", "passwd", "passphrase", "secret", "signature", "credential", "credentials", "jwt"),
    *("apikey", "accesskey", "accesskeyid", "secretkey", "privatekey"),
)
"""Ends of names of parameters of an address whose values let somebody in: `private_token`, `X-Amz-Signature`."""
SECRET_NAMES = ("sig", "auth", "authorization", "pwd")
"""Whole names of such parameters."""

_LONGEST_WORD = 40
_NEARNESS = 0.55
"""Of difflib, from which on a word counts as mistyped: `lisence` for `license` comes to 0.57."""

_LOGIN = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}://)([^\s/?#'\"]*)@")
_PARAMETER = r"([?&;#])([^\s?&;#='\"]{1,60})=([^\s&;#'\"]+)"  # a text: compiled where an address has one


def counted(number: int, noun: str) -> str:
    """`1 task`, `2 tasks`: for nouns whose plural adds an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def nearest(word: str, known: Sequence[str]) -> str | None:
    """The known word that was probably meant, if one was; a long word, which a hostile file may have, is none."""
    if len(word) > _LONGEST_WORD:
        return None
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, known, n=1, cutoff=_NEARNESS)), None)


def without_passwords(text: str) -> str:
    """A text in which secrets of addresses are masked.

    These are what stands before the @, but for the user of an ssh address, and the values of parameters with the
    names above.
    """
    text = _LOGIN.sub(lambda found: found[0] if _is_name(found) else f"{found[1]}***@", text)
    if "=" not in text:
        return text
    return re.sub(_PARAMETER, _without_secret, text)


def has_login(text: str) -> bool:
    """Whether an address in the text holds a password or a token, which must not be published."""
    return without_passwords(text) != text


def _without_secret(parameter: "re.Match[str]") -> str:
    """The parameter, masked where its name says so; case and what joins a name's words do not count."""
    name = "".join(filter(str.isalpha, parameter[2])).lower()
    secret = name in SECRET_NAMES or name.endswith(SECRET_ENDINGS)
    return f"{parameter[1]}{parameter[2]}=***" if secret else parameter[0]


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
