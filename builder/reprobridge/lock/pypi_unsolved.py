"""Requirements that have no answer: what uv says of it, with the lines that ask for it and what to do.

uv ends at the first thing that cannot be met, and tells it as a proof. Which line of which file that is, is ours to
say: the packages of which the proof speaks are looked up in the files.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from reprobridge.frozen import frozen
from reprobridge.spec.package_name import normalized

if TYPE_CHECKING:
    from reprobridge.lock.pypi_uv import Question

_SHOWN = 6
_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_ABOUT = re.compile(r" for url \(.*?\)")
_CUT_OFF = ("`exclude-newer`", "no publish time")
"""What uv says where releases are left out by their date, or since their index gives none."""
_NOT_OURS = re.compile(r"\s*Consider using `exclude-newer-package`.*", re.DOTALL)
_CUT_OFF_HINT = (
    "`exclude_newer` leaves out releases that were uploaded later, and all of an index that does not say when: choose a "
    "later date, or leave it out and pin versions in `constraints`"
)
_FORBIDDEN = "could not be queried"
"""What uv advises where an index wants a login; some of them do for each package that they do not have."""
_LOGIN_HINT = "give the index its login, in ~/.netrc or your settings of uv; with a right one, look at the package's name"
_NO_ANSWER = "No solution found when resolving dependencies"


@frozen(kw_only=True)
class Said:
    """What uv wrote to its standard error, taken apart."""

    reasons: tuple[str, ...]
    """What went wrong, then its causes, each in one line."""
    hints: tuple[str, ...]
    """What uv advises."""

    @property
    def found(self) -> str:
        """The proof that there is no answer; else what failed, and its last cause, which is the most exact one."""
        first, *causes = self.reasons
        if first == _NO_ANSWER and causes:
            return " ".join(causes)
        return ": ".join(_ABOUT.sub("", reason) for reason in dict.fromkeys((first, *causes[-1:])))


def heard(message: str) -> Said:
    """Read a message of uv."""
    reasons, *hints = re.split(r"\n\s*hint: ", message)
    return Said(
        reasons=tuple(
            _one_line(reason) for reason in re.split(r"\n\s*cause: ", reasons.removeprefix("error: "))
        ),
        hints=tuple(map(_one_line, hints)),
    )


@frozen(kw_only=True)
class _Kind:
    """One way in which requirements have no answer."""

    sign: str
    """Words of uv's by which it is known, as a pattern."""
    expected: str
    """What would have been right; `{target}` is the image's Python."""
    hint: str
    """What to do."""


_KINDS = (
    _Kind(
        sign="was not found in the package registry",
        expected="the name of a package that an index has",
        hint="spell it as its page does; an index of your own stands in `environment.python.indexes`, or in your settings "
        "of uv or pip",
    ),
    _Kind(
        sign="no wheels with a matching|no usable wheels",
        expected="a package with a wheel for {target}",
        hint="choose a version that has one, or a template with another Python (`reprobridge template list`)",
    ),
    _Kind(
        sign=r"^(?!.* depends? on )(?:.*[Tt]here (?:is|are) no versions? of|.*only .* (?:is|are) available)",
        expected="a version that an index has",
        hint="choose another one: the package's page at the index lists them",
    ),
    _Kind(
        sign="Failed to download",
        expected="the address of a wheel that is there",
        hint="correct the address, or name a release instead",
    ),
    _Kind(
        sign="you require",
        expected="requirements that can be met together",
        hint="change a version in one of these lines, or drop one",
    ),
)
_OTHER = _Kind(sign="", expected="requirements that can be met together, with wheels for the target", hint="")


def explained(said: Said, question: "Question", *, offline: bool) -> Mapping[str, str | None]:
    """Where, expected, found and hint of an error (`errors.ReproBridgeError`)."""
    kind = next((one for one in _KINDS if re.search(one.sign, said.found)), _OTHER)
    return {
        "where": _places(said.found, question) or "environment.python",
        "expected": kind.expected.format(target=question.target.title),
        "found": said.found,
        "hint": _advice(said, kind, offline=offline),
    }


def _advice(said: Said, kind: _Kind, *, offline: bool) -> str | None:
    """What uv advises, as far as it is something that its user may do here, and what we do."""
    ours = kind.hint
    if any(words in " ".join((*said.reasons, *said.hints)) for words in _CUT_OFF):
        ours = _CUT_OFF_HINT + ("; with --offline only indexes of this machine are asked" if offline else "")
    elif any(_FORBIDDEN in hint for hint in said.hints):
        ours = _LOGIN_HINT
    theirs = (_NOT_OURS.sub("", hint) for hint in said.hints)
    return (
        " ".join(hint if hint.endswith(".") else f"{hint};" for hint in (*theirs, ours) if hint).rstrip(";")
        or None
    )


def _places(found: str, question: "Question") -> str:
    """The lines that ask for packages of which uv speaks: those that take part in its proof."""
    named = {normalized(word) for word in _WORD.findall(found)}
    places = [place for name, lines in question.places.items() if name in named for place in lines]
    return "; ".join([*places[:_SHOWN], *(["…"] if len(places) > _SHOWN else [])])


def _one_line(text: str) -> str:
    return " ".join(text.split())
