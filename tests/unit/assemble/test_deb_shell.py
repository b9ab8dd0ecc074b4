"""Following scripts: what the shell's grammar means, and that no text makes it fail in another way than promised."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.assemble.deb_shell import Call, follow
from reprobridge.assemble.deb_shell_words import UNKNOWN


def words(script: str, *arguments: str) -> list[tuple[str, ...]]:
    """Words of each command."""
    return [call.words for call in follow(script, arguments, {}) if call.words]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("x=a; run $x \"$x b\" '$x'", ("run", "a", "a b", "$x")),
        ("x='a b'; run $x \"$x\"", ("run", "a", "b", "a b")),
        ('x=; run $x "$x" c', ("run", "", "c")),
        ("run a\\\n  b", ("run", "a", "b")),
        ("run a\\ b", ("run", "a b")),
        ('run "a\\"b" "it\'s \\$x"', ("run", 'a"b', "it's $x")),
        ("run $never ${x%y}", ("run", UNKNOWN, UNKNOWN)),
        ("run $1 $3 $#", ("run", "one", "2")),
        ('run "$@"', ("run", "one", "two")),
        ("shift; run $1", ("run", "two")),
        ("set -- x; run $1", ("run", "x")),
        ("set -e; run $1", ("run", "one")),
        ("x=$(echo a; echo b); run $x", ("run", "a", "b")),
        ("x=`printf '%s' a`; run $x", ("run", "a")),
        ("run $((1 + 1))", ("run", UNKNOWN)),
        ("[ one = $1 ] && run yes", ("run", "yes")),
        ("[ one != $1 ] || run yes", ("run", "yes")),
        ("[ ! -n '' ] && run yes", ("run", "yes")),
        ("if false; then :; elif true; then run yes; else run no; fi", ("run", "yes")),
        ("! false && run yes", ("run", "yes")),
        ("case $1 in t*) run no;; o?e|x) run yes;; *) run no;; esac", ("run", "yes")),
        ("case $1 in (one) run yes;; esac", ("run", "yes")),
        ("f() { run $1; }; f inner", ("run", "inner")),
        ("f()\n{\n  local x=$1\n  run $x\n}\nf inner", ("run", "inner")),
        ("run a 2>/dev/null >&2 </dev/null", ("run", "a")),
        ("run a;run2 & # a comment", ("run", "a")),
    ],
)
def test_words_are_what_a_shell_would_pass(script: str, expected: tuple[str, ...]) -> None:
    assert words(script, "one", "two")[0] == expected


def test_only_what_can_be_reached_is_reported() -> None:
    assert words("true || a; false && b; if [ x = y ]; then c; fi; f() { d; }; e") == [("e",)]


def test_both_branches_of_what_only_a_machine_knows_are_reported() -> None:
    assert words("if [ -e /x ]; then a; else b; fi; c || d; e && f") == [(name,) for name in "abcdef"]


def test_files_that_are_written_are_reported() -> None:
    script = "a > /x 2>> /y; { b; } >| /z"
    assert [call for call in follow(script, (), {}) if call.writes] == [
        Call((), ("/x", "/y")),
        Call((), ("/z",)),
    ]


def test_a_file_that_certainly_exists_decides_a_test() -> None:
    script = "if [ -e /x ]; then a; else b; fi"
    assert [call.words for call in follow(script, (), {}, {"/x"})] == [("a",)]


def test_the_text_below_a_command_is_none() -> None:
    assert words("cat <<EOF\na $(b)\nEOF\nc <<-'E'\n\td\n\tE\n") == [("cat",), ("c",)]


@pytest.mark.parametrize(
    "script",
    [
        *(
            "if a; then b",
            "for",
            "case x in a) b",
            "a )",
            "(a",
            "echo 'open",
            'echo "$(a',
            "echo `a",
            "fi ; }; ) x",
        ),
        "f() { f; }; f",
        "for a in 1 2 3 4 5 6 7 8 9; do " * 6 + "x;" + "done;" * 6,
        "(" * 5000,
        "$(" * 5000,
        "! " * 5000 + "a",
        "a && " * 20_000 + "a",
    ],
)
def test_what_cannot_be_followed_is_refused(script: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        follow(script, (), {})


def test_a_text_that_grows_without_end_stays_small() -> None:
    script = "x=aaaaaaaaaaaaaaaa\n" + "x=$x$x\n" * 5000 + "run $x\n"
    assert sum(map(len, words(script)[0])) < 1_000_000


PIECES = [
    "if ",
    "then ",
    "fi ",
    "case ",
    "in ",
    "esac ",
    "for x in ",
    "do ",
    "done ",
    "{ ",
    "} ",
    "f() ",
    "&& ",
    "| ",
]
MORE = [
    "a ",
    "$x ",
    "'",
    '"',
    "`",
    "$(",
    "${",
    ")",
    ";",
    ";;",
    "\n",
    "<<E\n",
    "E\n",
    "> ",
    "x=",
    "\\",
    "[ ",
    "] ",
    "#",
]


@given(st.lists(st.sampled_from([*PIECES, *MORE])).map("".join))
def test_any_text_is_followed_or_refused(script: str) -> None:
    try:
        calls = follow(script, ("configure", ""), {})
    except (ValueError, RecursionError):
        return
    assert all(isinstance(call, Call) for call in calls)
