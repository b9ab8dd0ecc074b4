"""Following scripts: what the shell's grammar means, and that no text makes it fail in another way than promised."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.shell.following import Call, follow
from reprobridge.shell.state import LONGEST, UNKNOWN


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


def test_the_text_below_a_command_is_none_but_for_what_is_expanded_in_it() -> None:
    script = "cat <<EOF; a <<-'E'\nb $(c)\n'\nEOF\n\td $(e)\n\tE\nf\n"
    assert words(script) == [("c",), ("cat",), ("a",), ("f",)]


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


BIG = "v=" + "a" * 1000 + "\nv=" + "$v" * 60 + "\n"
MANY = 'v="' + "a " * 8000 + '"\n'


@pytest.mark.parametrize(
    "script",
    [
        'set -- "$@" "$@"\n' * 40,
        "x=aaaaaaaaaaaaaaaa\n" + "x=$x$x\n" * 40,
        BIG + 'x="' + "$v" * 25_000 + '"\n',
        BIG + "x=$(" + "echo $v;" * 3000 + ")\n",
        MANY + ":" + " $v" * 5000 + "\n",
        MANY + "for i in $v; do x=$(: " + "b" * 40_000 + "); done\n",
        "".join(f"a{n}=\n" for n in range(5000)) + MANY + "for i in $v; do [ -x y ] && :; done\n",
        "v=" + "a" * 20_000 + "\ncase $v in " + "*a" * 3000 + "*b) x;; esac\n",
        "while true; do set -- a $1; x=$x$1; done\n",
        'while [ -n "$#" ]; do shift; x=b$x; done\nx=b; while [ $x ]; do x=b$x; done',
        "cat <<EOF\n" + "\n" * 20_000,
        "cat <<A\n" * 4000,
    ],
)
def test_a_script_that_takes_more_work_than_it_is_worth_is_refused(script: str) -> None:
    assert len(script) < LONGEST
    with pytest.raises(ValueError, match=r"too long|too many|characters|without"):
        follow(script, ("a", "b"), {})


def test_a_substitution_is_parsed_once_however_often_it_is_reached() -> None:
    script = "for i in " + "a " * 210 + "; do x=$(echo " + "b" * 2000 + "); done; run $x"
    assert words(script)[-1] == ("run", "b" * 2000)


@pytest.mark.parametrize(
    "script",
    [
        "if unk; then shift; fi; case $1 in two) evil;; esac",
        "if unk; then f() { evil; }; else f() { :; }; fi; f",
        "f() { evil; }; ( f() { :; } ); f",
        "x=$(if unk; then echo a; else echo b; fi); case $x in b) evil;; esac",
        "x=a; while unk; do case $x in b) evil;; esac; x=b; done",
        "x=a; for i in $(ls); do case $x in b) evil;; esac; x=b; done",
        "for i in /etc/*; do case $i in *.d) evil;; esac; done",
        "while [ $# -gt 0 ]; do case $1 in two) evil;; esac; shift; done",
        "trap evil EXIT",
        "trap 'trap evil EXIT' EXIT",
        "trap f 0; f() { evil; }; exit",
        "set -- a b c; shift 2; case $1 in c) evil;; esac",
        "set x y; case $1 in x) evil;; esac",
        "x=1; f() { local x=2; }; f; case $x in 1) evil;; esac",
        "export FOO; case $FOO in bar) evil;; esac",
        "x=1; x=2 run; case $x in 1) evil;; esac",
        "x=1; x=2 & case $x in 1) evil;; esac",
        "x=$(printf %s-%s a b); case $x in a-b) evil;; esac",
        "x=$(echo w >&2; echo a); case $x in a) evil;; esac",
        "x=$({ echo w >&2; } 2>&1); case $x in w) evil;; esac",
        "f() { x=1; if unk; then return; fi; x=2; }; f; case $x in 1) evil;; esac",
        "x=1; while true; do if unk; then break; fi; x=2; done; case $x in 2) evil;; esac",
        "command -p evil",
        ": ${X:=$(evil)}",
        'x="${Y:-`evil`}"',
        "x=`echo \\`evil\\``",
        "x=$(( $(evil) + 1 ))",
        "i=1; x=$((i = 2)); case $i in 2) evil;; esac",
        'true > "$(evil)"',
        "cat <<EOF\n$(evil)\nEOF\n",
        "case $1 in [^x]ne) evil;; esac",
        "x='*'; case abc in \"$x\") :;; abc) evil;; esac",
        "# a comment \\\nevil",
        "x=$(echo a # it's\n); evil",
        "a || b | evil",
    ],
)
def test_no_command_that_could_run_is_missed(script: str) -> None:
    assert ("evil",) in words(script, "one", "two")


@pytest.mark.parametrize("script", ["exit; a", "f() { return; a; }; f", "for x in b c; do break; a; done"])
def test_what_comes_behind_an_end_is_not_reached(script: str) -> None:
    assert words(script) == []


def test_files_are_written_however_it_is_spelled() -> None:
    script = "echo x>/a; x >& /b; { c; } 2>>/c; x 2>&1 >&2 </d"
    assert [call.writes for call in follow(script, (), {}) if call.writes] == [("/a",), ("/b",), ("/c",)]


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
    "trap ",
    "break ",
    "return ",
    "local ",
    "shift ",
    "set ",
    "while ",
    "$((",
    ">&",
    "& ",
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
