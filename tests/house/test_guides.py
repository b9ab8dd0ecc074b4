"""Guides are true where that can be read off the source: reference pages, fragments, links within pages."""

import re
from functools import cache
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from reprobridge import errors
from reprobridge.cli.reference import LAUNCHER_VARIABLES, TASK_VARIABLES, VARIABLES, reference_text
from reprobridge.lock import model as lock_model
from reprobridge.spec.schema import json_schema
from support.guides import FILES, NEEDS, REASONS, Block, Page, blocks_of, pages
from support.source_tree import ROOT, modules

PAGES = pages()
SHOWN = {"text", "yaml", "yml", "python", "markdown", "json", "console"}
"""Languages of blocks that are not executed, without a reason of their own; `console` within artifacts' guides.

`yaml` blocks are fragments of reprobridge.yaml, `yml` blocks workflows."""


def ids(value: object) -> str:
    return value.name if isinstance(value, Page) else str(value)


# blocks


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_block_is_executed_or_says_why_not(page: Page) -> None:
    for block in page.blocks:
        where = f"{page.name}:{block.line}"
        match block.mark:
            case "":
                assert block.is_executed or block.language in SHOWN, where
            case "not executed":
                assert block.said in REASONS, where
            case "needs":
                assert block.said in NEEDS, where
                assert block.language in ("console", "sh"), where
            case _:
                assert block.mark in FILES, where


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_console_and_sh_blocks_hold_commands(page: Page) -> None:
    empty = [block.line for block in page.blocks if block.language in ("console", "sh") and not block.steps()]
    assert empty == []


def test_every_reason_is_used() -> None:
    used = {block.said for page in PAGES for block in page.blocks if block.mark == "not executed"}
    assert used == set(REASONS)


@pytest.mark.parametrize("text", ["<!-- whatever -->\n", "<!-- needs: docker -->\n\ntext\n"])
def test_a_comment_that_means_nothing_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"line [13]:"):
        blocks_of(text)


# fragments of reprobridge.yaml


@cache
def schema() -> dict[str, Any]:
    return json_schema()


def fragments() -> list[tuple[Page, Block]]:
    return [(page, block) for page in PAGES for block in page.blocks if block.language == "yaml"]


@pytest.mark.parametrize(
    ("page", "block"), fragments(), ids=lambda value: getattr(value, "name", str(getattr(value, "line", "")))
)
def test_a_fragment_of_a_spec_is_of_the_format(page: Page, block: Block) -> None:
    shown = yaml.load(block.text, Loader=yaml.BaseLoader)
    found = [problem for key, value in shown.items() for problem in problems(key, value)]
    assert found == [], f"{page.name}:{block.line}"


def problems(key: str, value: object) -> list[str]:
    """What the JSON Schema says against the value of a key of the top level or of a task."""
    definition = schema()
    places = [definition["properties"], task_properties(definition)]
    shapes = [place[key] for place in places if key in place]
    if not shapes:
        return [f"{key} is no key of the format"]
    validator = Draft202012Validator({**definition_parts(definition), **shapes[0]})
    return [error.message for error in validator.iter_errors(value)]


def task_properties(definition: dict[str, Any]) -> dict[str, Any]:
    items = resolved(definition, definition["properties"]["tasks"])["items"]
    return dict(resolved(definition, items)["properties"])


def resolved(definition: dict[str, Any], shape: dict[str, Any]) -> dict[str, Any]:
    reference = shape.get("$ref")
    return definition["$defs"][reference.rpartition("/")[2]] if reference else shape


def definition_parts(definition: dict[str, Any]) -> dict[str, Any]:
    return {"$defs": definition["$defs"]} if "$defs" in definition else {}


def test_a_fragment_with_a_wrong_key_is_noticed() -> None:
    assert problems("extracts", {})
    assert problems("extract", {"file": "stdout", "regexp": "x"})


# links


def anchors(text: str) -> set[str]:
    """The anchors that Markdown renderers give to headings."""
    heads = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_every_anchor_that_is_linked_to_exists(page: Page) -> None:
    text = page.path.read_text()
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text):
        if "://" in target:
            continue
        linked = (page.path.parent / target).read_text() if target else text
        assert anchor in anchors(linked), f"{target}#{anchor}"


def test_every_guide_is_linked_from_the_readme() -> None:
    text = (ROOT / "README.md").read_text()
    missing = [page.name for page in PAGES if page.name.startswith("guides/") and page.name not in text]
    assert missing == []


# reference pages


def test_the_page_of_the_command_line_is_the_generated_one() -> None:
    assert (ROOT / "guides/reference/cli.md").read_text() == reference_text()


def test_every_variable_of_ours_is_in_the_reference() -> None:
    listed = " ".join(key for table in (VARIABLES, LAUNCHER_VARIABLES, TASK_VARIABLES) for key in table)
    source = [module.path.read_text() for module in modules("builder") if "cli/reference" not in module.place]
    assert our_variables(listed) == our_variables("\n".join(source))


def our_variables(text: str) -> set[str]:
    """Names of environment variables that are ours alone."""
    return set(re.findall(r"\b(?:REPROBRIDGE|RRA)_[A-Z_]+[A-Z]\b", text))


def test_every_exit_code_is_in_the_reference() -> None:
    page = (ROOT / "guides/reference/exit-codes.md").read_text().partition("## Of an image")[0]
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", page, flags=re.MULTILINE)}
    raised = {error.exit_code for error in errors.ReproBridgeError.__subclasses__()}
    assert listed == raised | {0, 1, 70, 130}


def test_every_key_of_a_lock_is_in_its_reference() -> None:
    page = (ROOT / "guides/reference/lock.md").read_text()
    values = [value for value in vars(lock_model).values() if isinstance(value, type)]
    classes = [value for value in values if value.__module__ == lock_model.__name__]
    keys = {key for one in classes for key in one.__annotations__}
    assert "wheels" in keys
    assert {key for key in keys if f"`{key}`" not in page} == set()
