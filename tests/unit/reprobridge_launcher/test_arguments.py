"""Command lines are sorted into options, operands and the rest."""

import pytest

from reprobridge_launcher.arguments import none_left, parse
from reprobridge_launcher.outcome import StopError

FLAGS = ("--json", "--all")
VALUED = ("--seed", "--out")


def test_options_operands_and_the_rest_are_told_apart() -> None:
    given = parse(["a", "--seed", "3", "b", "--out=x=y", "--json", "--", "--all", "-z"], FLAGS, VALUED)
    assert given.options == {"--seed": "3", "--out": "x=y", "--json": ""}
    assert (given.operands, given.extra) == (("a", "b"), ("--all", "-z"))
    assert given.whole("--seed", 0) == 3
    assert given.whole("--repeat", 1) is None


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--jso"], "unknown option --jso", "did you mean --json?"),
        (["-q"], "unknown option -q", "options: --json, --all, --seed, --out"),
        (["--json=1"], "unknown option --json=1", "--json"),
        (["--seed"], "--seed needs a value", ""),
    ],
)
def test_what_is_wrong_is_said_with_a_hint(words: list[str], message: str, hint: str) -> None:
    with pytest.raises(StopError, match=message) as caught:
        parse(words, FLAGS, VALUED)
    assert hint in caught.value.hint
    assert caught.value.code == 2


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "", "0", "²"])
def test_a_number_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(StopError, match="expected a whole number of at least 1"):
        parse(["--seed=" + text], FLAGS, VALUED).whole("--seed", 1)


def test_words_that_nobody_takes_are_refused() -> None:
    none_left(parse(["a"], (), ()), 1)
    with pytest.raises(StopError, match="unexpected b"):
        none_left(parse(["a", "b"], (), ()), 1)
    with pytest.raises(StopError, match="unexpected c"):
        none_left(parse(["a", "--", "c"], (), ()), 1)
