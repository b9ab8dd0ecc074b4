"""Tools that only look, unless they are asked for more: what a call in a maintainer script writes or runs.

An unknown part of an argument is taken for a text that ends nothing (`s/a/$x/` only replaces), and an unknown
argument for none that asks for more, but for a script of sed or awk that is unknown from its start.
"""

import re
from collections.abc import Sequence

_ADDRESS = r"(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?|\\(?P<a>[^\w\s])(?:(?!(?P=a)).)*(?P=a))"
_REPLACE = r"[sy](?P<d>[^\s\\\w])(?:(?!(?P=d))[^\\\[]|\\.|\[\^?\]?(?:(?!(?P=d))[^\]])*\])*(?P=d)(?:(?!(?P=d))[^\\]|\\.)*(?P=d)[gpIiMm0-9]*"
_SED = re.compile(
    rf"[\s;{{}}]*(?:{_ADDRESS}(?:,[+~]?{_ADDRESS.replace('<a>', '<b>').replace('=a', '=b')})?\s*!?\s*)?"
    rf"(?:{_REPLACE}|[dDgGhHlnNpPqQxz=]\d*|[aicrR][^\n]*|[btT:]\s*\w*|#[^\n]*|(?=[{{}}]))[\s;{{}}]*",
    re.DOTALL,
)
"""One command of sed(1) that neither writes a file nor runs a program."""
_AWK = re.compile(r"system|getline|\||>|@|^-[fi]|^\0")
_FIND = frozenset(
    (
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-delete",
        "-fprint",
        "-fprint0",
        "-fprintf",
        "-fls",
        "-files0-from",
    )
)
_LONGEST = 1000
"""Most characters of a sed script that is read."""


def tool_effect(tool: str, options: Sequence[str]) -> str | None:
    """What `sed`, `awk`, `find`, `sort` or `uniq` may do besides printing, in words for a note."""
    match tool:
        case "sed":
            if any(re.match(r"-[a-zA-Z]*i|--in-place", option) for option in options):
                return "sed -i"
            return None if all(map(_only_edits, _sed_scripts(options))) else "sed"
        case "awk":
            return "awk" if any(map(_AWK.search, options)) else None
        case "find":
            return "find -exec" if not _FIND.isdisjoint(options) else None
        case "sort":
            writes = (re.match(r"-[a-zA-Z]*o|--o|--comp", option) for option in options)
            return "sort -o" if any(writes) else None
        case _:
            return "uniq" if len([option for option in options if not option.startswith("-")]) > 1 else None


def _sed_scripts(options: Sequence[str]) -> list[str]:
    """The arguments that are commands; "w", which writes, stands for those that are in a file."""
    scripts: list[str] = []
    plain: list[str] = []
    rest = iter(options)
    for option in rest:
        if re.fullmatch(r"-[a-zA-Z]*e|--expression", option):
            scripts.append(next(rest, ""))
        elif match := re.match(r"--expression=|-[nErsuz]*e", option):
            scripts.append(option[match.end() :])
        elif re.match(r"-[a-zA-Z]*f|--file", option):
            scripts.append("w")
        elif not option.startswith("-"):
            plain.append(option)
    return scripts or plain[:1]


def _only_edits(script: str) -> bool:
    at = 0
    if len(script) > _LONGEST:
        return False
    while at < len(script):
        match = _SED.match(script, at)
        if match is None or match.end() == at:
            return False
        at = match.end()
    return True
