"""`reprobridge template`."""

from pathlib import Path

import pytest

from reprobridge.cli.main import main


def test_templates_are_listed_with_their_titles(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["template", "list"]) == 0
    assert "debian12-py311\tDebian 12 (bookworm), Python 3.11\n" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["list", "lock"])
def test_an_unknown_template_is_a_wrong_word(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["template", verb, "debian12-py31"]) == 2
    said = capsys.readouterr().err
    assert "did you mean debian12-py311?" in said
    assert "environment.template" not in said
    assert main(["template", verb, "nope"]) == 2
    assert "found: nope" in capsys.readouterr().err


def test_locking_without_network_says_so_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--offline", "--store", str(tmp_path / "store"), "--into", str(tmp_path)]
    assert main(["template", "lock", "debian12-py311", *options]) == 4
    assert "offline" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.json"))
