"""Wrong words are told as all our errors are: what was expected, what was found, and what to do."""

import sys
from collections.abc import Sequence

import pytest

from reprobridge.cli.main import main
from reprobridge.cli.values import WRITTEN_OUT


def refused(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of the error."""
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    assert stop.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err.splitlines()


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["build", "--outptu", "oci:x"], "--output"),
        (["build", "--outptu=oci:x"], "--output"),
        (["run", "paper", "task", "--sead", "3"], "--seed"),
        (["run", "-seed", "3"], "--seed"),
        (["publish", "--keylesss"], "--keyless"),
        (["verify", "--offlnie"], "--offline"),
        (["--versoin"], "--version"),
        (["--offlin", "build"], "--offline"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistyped_option_is_guessed(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first, expected, found, hint = refused(words, capsys)
    assert first == "reprobridge: no such option"
    assert expected.startswith("  expected: one of ")
    assert meant in expected
    assert found.startswith("  found: -")
    assert hint.startswith(f"  hint: did you mean {meant}? see `reprobridge")


def test_what_is_near_no_option_leads_to_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(["build", "--zzzzzz"], capsys)[-1] == "  hint: see `reprobridge build --help`"


def test_an_option_may_be_shortened_while_one_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    lines = refused(["build", "--re"], capsys)
    assert lines[1:3] == ["  expected: one of --relock, --recompute", "  found: --re"]
    with pytest.raises(SystemExit) as stop:
        main(["build", "--hel"])
    assert stop.value.code == 0


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("run x --seed three", "--seed: the value cannot be understood|a whole number of at least 0|three"),
        ("run x --seed -1", "--seed: the value cannot be understood|a whole number of at least 0|-1"),
        ("run x --repeat 0", "--repeat: the value cannot be understood|a whole number of at least 1|0"),
        (
            "build --workers=",
            "--workers: the value cannot be understood|a whole number of at least 1|an empty word",
        ),
        (
            "build --recompute -1",
            "--recompute: the value cannot be understood|a whole number of at least 1|-1",
        ),
        (
            "cache prune --older-than soon",
            "--older-than: the value cannot be understood|a number of at least 0|soon",
        ),
        (
            "lock --export toml",
            "--export: the value cannot be understood|one of pylock.toml, requirements.txt|toml",
        ),
        ("cache show", "no such word|one of info, prune|show"),
        ("cache", "a word is missing|one of info, prune|nothing"),
        ("template", "a word is missing|one of list, lock|nothing"),
        (
            "build x --sandbox foo",
            "--sandbox: the value cannot be understood|one of bubblewrap, podman, docker|foo",
        ),
        ("build --store=", "--store: the value cannot be understood|a path|an empty word"),
        ("cache info --store=~/s", f"--store: the value cannot be understood|{WRITTEN_OUT}|~/s"),
        ("run x --out=~", f"--out: the value cannot be understood|{WRITTEN_OUT}|~"),
        ("init", "a word is missing|NAME|nothing"),
        ("run x --seed", "--seed: the option lacks its value|N|nothing"),
    ],
)
def test_a_wrong_value_says_what_would_be_right(
    words: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    what, expected, found = error.split("|")
    command = words.split(maxsplit=1)[0]
    assert refused(words.split(), capsys) == [
        f"reprobridge: {what}",
        f"  expected: {expected}",
        f"  found: {found}",
        f"  hint: see `reprobridge {command} --help`",
    ]


@pytest.mark.parametrize(
    ("words", "what", "found"),
    [
        ("build a b c", "a word too many", "b c"),
        ("build --json=3", "--json: the option takes no value", "'3'"),
    ],
)
def test_what_nobody_asks_for_is_named(
    words: str, what: str, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(words.split(), capsys)[:2] == [f"reprobridge: {what}", f"  found: {found}"]


def test_a_word_behind_two_dashes_is_no_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(["build", "--workers", "x", "--", "--outptu"], capsys)[0].startswith(
        "reprobridge: --workers"
    )


def test_what_is_wrong_is_looked_for_only_when_something_is(capsys: pytest.CaptureFixture[str]) -> None:
    sys.modules.pop("reprobridge.cli.wrong_words", None)
    main(["schema"])
    assert capsys.readouterr().out
    assert "reprobridge.cli.wrong_words" not in sys.modules


def test_an_empty_word_is_not_the_artifact_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(["build", ""], capsys)[1:3] == ["  expected: a path", "  found: an empty word"]
