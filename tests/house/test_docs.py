"""What README and guides say can be followed: links lead somewhere, commands exist."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from support.guides import pages
from support.source_tree import ROOT, own_files

OTHER_PROGRAMS = {".", "apt-get", "cd", "docker", "export", "git", "podman"}
"""Programs of others, and words of the shell, that a block for the reader to type may use."""


def documents() -> list[Path]:
    """Every Markdown file of ours; those of artifacts and templates are checked by validating them."""
    folders = ("examples", "tests", "image-templates")
    paths = [path for path in own_files() if path.suffix == ".md"]
    return [path for path in paths if path.relative_to(ROOT).parts[0] not in folders]


def links(text: str) -> Iterator[str]:
    """Targets of links and images."""
    for block in MarkdownIt("commonmark").parse(text):
        for token in block.children or []:
            target = token.attrGet("href") or token.attrGet("src")
            if target is not None:
                yield str(target)


def commands(text: str) -> Iterator[list[str]]:
    """Words of each command in `console` blocks (after `$ `) and `sh` blocks."""
    for token in MarkdownIt("commonmark").parse(text):
        lines = token.content.replace("\\\n", " ").splitlines()
        if token.type == "fence" and token.info == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        elif token.type != "fence" or token.info not in ("sh", "bash"):
            continue
        for line in lines:
            words = shlex.split(line, comments=True)
            if words:
                yield words


def unexecuted(document: Path) -> str:
    """A document without the blocks that tests/integration/test_guides.py executes."""
    blocks = {page.path: page.blocks for page in pages()}.get(document)
    if blocks is None:
        return document.read_text()
    left = [block for block in blocks if not block.is_executed]
    return "".join(f"```{block.language}\n{block.text}```\n" for block in left)


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


def is_known(words: list[str]) -> bool:
    """Whether a command names a target of the Makefile, a command of ours or a known program."""
    match words:
        case ["make", *arguments]:
            targets = {argument for argument in arguments if "=" not in argument}
            return targets <= make_targets()
        case ["reprobridge", command, *_]:
            help_of = [sys.executable, "-m", "reprobridge", command, "--help"]
            return (
                subprocess.run(help_of, cwd=ROOT / "builder", capture_output=True, check=False).returncode
                == 0
            )
        case [program, *_]:
            return program in OTHER_PROGRAMS
    return False


def test_there_are_documents_with_commands() -> None:
    assert ROOT / "README.md" in documents()
    assert ["make", "test"] in list(commands((ROOT / "README.md").read_text()))


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_to_a_file(document: Path) -> None:
    relative = [link for link in links(document.read_text()) if not re.match(r"[a-z]+:|#", link)]
    broken = [link for link in relative if not (document.parent / link.partition("#")[0]).exists()]
    assert broken == []


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_exists(document: Path) -> None:
    unknown = [shlex.join(words) for words in commands(unexecuted(document)) if not is_known(words)]
    assert unknown == []


def test_a_command_that_does_not_exist_is_noticed() -> None:
    text = "```console\n$ make nothing\nmake: error\n```\n```sh\nreprobridge nothing  # why\n```\n```yaml\nx: 1\n```\n"
    found = list(commands(text))
    assert found == [["make", "nothing"], ["reprobridge", "nothing"]]
    assert not any(is_known(words) for words in found)


def test_every_make_target_is_phony_and_explained() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert phony is not None
    assert make_targets() == set(phony.group(1).split())
