"""README and guides as something to execute: the fenced blocks of a page and what is said about each.

A page is one shell session, from top to bottom, in an empty folder. `console` blocks hold commands (`$ …`) and what
they print, as in artifacts' guides; `sh` blocks hold commands alone. A comment right before a block says what is
special about it:

    <!-- needs: network -->            it asks an index or a mirror
    <!-- needs: docker -->             it runs only where there is an engine
    <!-- needs: registry -->           it asks a container registry, which the page calls `localhost:5000`
    <!-- not executed: WHY -->         nobody runs it; WHY is one of `REASONS`
    <!-- file: PATH -->                it is this file's content
    <!-- append: PATH -->              it is added to this file
    <!-- splice: PATH KEY -->          it replaces the entry KEY, of one line, of this YAML file
    <!-- setup: COMMANDS -->           no block: commands that the reader need not see, run first
"""

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from reprobridge.frozen import replace
from reprobridge.validate.guide.blocks import Step, steps_of
from support.source_tree import ROOT

REASONS = (
    "a job of CI runs it",
    "it installs the command that the other blocks use",
    "it needs a server of yours",
    "it needs an account of yours",
)
"""Why a block may be left out."""
NEEDS = ("network", "docker", "registry")
"""What a block may need."""
REGISTRY = "localhost:5000"
"""The registry's host in pages, which stands for any."""
FILES = ("file", "append", "splice")
"""Comments that make a block a file."""

_COMMENT = re.compile(r"<!-- ([a-z ]+): (.*?) -->")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block, or a setup comment."""

    line: int
    """Of its first line in the page."""
    language: str
    """First word of its info string; `setup` for a setup comment."""
    text: str
    """What is in it."""
    mark: str
    """Kind of the comment before it; empty without one."""
    said: str
    """What the comment says."""

    @property
    def is_executed(self) -> bool:
        """Whether the session does something with it."""
        return self.mark != "not executed" and (
            self.language in ("console", "sh", "setup") or self.mark in FILES
        )

    def steps(self) -> list[Step]:
        """What the session does for it."""
        if self.mark in FILES:
            return [Step(self.line, _write(self), "")]
        if self.language == "setup":
            return [Step(self.line, self.text, "...")]
        if self.language == "sh":
            return [Step(self.line, self.text, "...")]
        lines = "\n" * (self.line - 1)
        found = steps_of(f"{lines}```console\n{self.text}```\n")
        return [step for step in found if isinstance(step, Step)]


@dataclass(frozen=True, slots=True)
class Page:
    """A Markdown page for users."""

    path: Path
    """The file."""
    blocks: tuple[Block, ...]
    """In order."""

    @property
    def name(self) -> str:
        """Its path in the repository."""
        return self.path.relative_to(ROOT).as_posix()

    def needs(self, what: str) -> bool:
        """Whether some block needs this."""
        return any(block.mark == "needs" and block.said == what for block in self.blocks)

    def session(self, *, docker: bool, registry: str | None = None) -> list[Step]:
        """Everything that is executed, with or without the blocks that need an engine or a registry (its host)."""
        lacking = {"docker": not docker, "registry": registry is None}
        chosen = [block for block in self.blocks if block.is_executed and not lacking.get(block.said, False)]
        steps = [step for block in chosen for step in block.steps()]
        return steps if registry is None else [_at(step, registry) for step in steps]


def read_page(path: Path) -> Page:
    """Read a page. Raises ValueError for a comment of ours that nothing can be made of."""
    return Page(path, tuple(blocks_of(path.read_text())))


def pages() -> list[Page]:
    """README and all guides but decisions and generated pages of the format."""
    paths = [ROOT / "README.md", *sorted((ROOT / "guides").glob("*/*.md"))]
    return [read_page(path) for path in paths if path.parent.name != "decisions"]


def blocks_of(text: str) -> list[Block]:
    """The blocks of a Markdown text."""
    blocks, mark, said = [], "", ""
    for token in MarkdownIt("commonmark").parse(text):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "html_block":
            found = _COMMENT.fullmatch(token.content.strip())
            if found is None:
                raise ValueError(f"line {line}: a comment that is none of ours: {token.content.strip()}")
            mark, said = found[1], found[2]
            if mark == "setup":
                blocks.append(Block(line, "setup", said, "", ""))
                mark = said = ""
        elif token.type == "fence":
            language = (token.info.split() or [""])[0]
            blocks.append(Block(line, language, token.content, mark, said))
            mark = said = ""
        elif mark:
            raise ValueError(f"line {line}: the comment before says {mark!r}, and no block follows it")
    return blocks


def _at(step: Step, registry: str) -> Step:
    """The step with the registry that is there in the place of the page's."""
    here = {name: getattr(step, name).replace(REGISTRY, registry) for name in ("command", "expected")}
    return replace(step, **here)


def _write(block: Block) -> str:
    """Shell commands that make the file of a block."""
    path, _, key = block.said.partition(" ")
    quoted = f"<<'END OF BLOCK'\n{block.text}END OF BLOCK"
    match block.mark:
        case "file":
            return f"cat > {path} {quoted}"
        case "append":
            return f"cat >> {path} {quoted}"
        case _:
            return f"cat > spliced {quoted}\nsed -i -e '/^{key}:/{{r spliced' -e 'd}}' {path} && rm spliced"
