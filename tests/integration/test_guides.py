"""README and guides do what they show: each page is executed, top to bottom, as its reader would."""

import json
import os
import secrets
import shlex
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reprobridge.frozen import replace
from reprobridge.system.processes import Completed
from reprobridge.validate.checks.guide import step_problems
from reprobridge.validate.guide.session import outcomes, script
from support.command import reprobridge, succeed
from support.docker_registry import serve_registry
from support.engine import Engine
from support.guides import Page, blocks_of, pages
from support.source_tree import ROOT

pytestmark = [pytest.mark.slow]

EXECUTED = [page for page in pages() if page.session(docker=False)]


def parameters(*, docker: bool) -> list[object]:
    """One for each page, marked with what it needs."""
    chosen = [page for page in EXECUTED if page.needs("docker")] if docker else EXECUTED
    return [
        pytest.param(page, id=page.name, marks=[pytest.mark.network] if page.needs("network") else [])
        for page in chosen
    ]


@pytest.fixture(scope="module")
def shared_store(module_folder: Path) -> Path:
    """A store for all pages, so that the base system is made once."""
    return module_folder / "store"


@pytest.fixture
def reader(tmp_path: Path, shared_store: Path, vendored: Path) -> dict[str, str]:
    """The environment of a reader's shell: the command on PATH, a store, files at hand, nothing else of ours."""
    programs = tmp_path / "programs"
    programs.mkdir()
    command = programs / "reprobridge"
    source = shlex.quote(str(ROOT / "builder"))
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH={source} exec {shlex.quote(sys.executable)} -m reprobridge "$@"\n'
    )
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REPROBRIDGE_")}
    return kept | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "REPROBRIDGE_STORE": str(shared_store),
        "REPROBRIDGE_VENDOR": str(vendored),
        "LC_ALL": "C.UTF-8",
    }


@pytest.fixture
def registry(page: Page, tmp_path: Path) -> Iterator[str | None]:
    """The host of a registry, for a page that needs one."""
    if not page.needs("registry"):
        yield None
        return
    with serve_registry(tmp_path / "registry") as running:
        yield running.host


@dataclass(frozen=True, slots=True)
class Reader:
    """Who follows a page."""

    environment: dict[str, str]
    """Of the shell."""
    docker: bool = False
    """Whether there is an engine."""
    registry: str | None = None
    """Host of a registry."""


def execute(page: Page, folder: Path, reader: Reader) -> list[str]:
    """Run a page's session in an empty folder; gives what differs from what it shows."""
    steps = page.session(docker=reader.docker, registry=reader.registry)
    mark = f"mark-{secrets.token_hex(8)}"
    folder.mkdir()
    # What a reader sees is both streams; stderr keeps the marks.
    text = script(steps, mark).replace(" </dev/null\n", " </dev/null 2>&1\n")
    done = subprocess.run(
        ["/bin/sh", "-c", text],
        cwd=folder,
        env=reader.environment,
        capture_output=True,
        check=False,
        timeout=1800,
    )
    ended = Completed(argv=("sh",), returncode=done.returncode, stdout=done.stdout, stderr=done.stderr)
    found = [replace(outcome, stderr=outcome.stdout) for outcome in outcomes(ended, mark)]
    return [f"{page.name}: {problem}" for problem in step_problems(steps, found, ended)]


@pytest.mark.parametrize("page", parameters(docker=False))
def test_a_page_does_what_it_shows(
    page: Page, tmp_path: Path, reader: dict[str, str], registry: str | None
) -> None:
    assert execute(page, tmp_path / "session", Reader(reader, registry=registry)) == []


@pytest.mark.parametrize("page", parameters(docker=True))
def test_a_page_does_what_it_shows_with_an_engine(
    page: Page, tmp_path: Path, reader: dict[str, str], docker_engine: Engine, registry: str | None
) -> None:
    environment = reader | ({"DOCKER_HOST": docker_engine.host} if docker_engine.host else {})
    assert execute(page, tmp_path / "session", Reader(environment, docker=True, registry=registry)) == []


def test_a_page_that_shows_something_else_is_noticed(tmp_path: Path) -> None:
    wrong = "```console\n$ echo yes\nno\n$ false\n```\n"
    page = Page(ROOT / "wrong.md", tuple(blocks_of(wrong)))
    assert len(execute(page, tmp_path / "session", Reader(dict(os.environ)))) == 2


@pytest.mark.usefixtures("vendored")
def test_the_image_holds_the_paths_that_its_reference_lists(tmp_path: Path) -> None:
    artifact, layout = tmp_path / "artifact", tmp_path / "layout"
    for words in (("init", artifact), ("lock", artifact), ("build", artifact, "--output", f"oci:{layout}")):
        succeed(reprobridge(*words, store=tmp_path / "store"))
    listed = listed_paths((ROOT / "guides/reference/image.md").read_text())
    found = set(paths_of(layout))
    assert [path for path in listed if path.strip("/") not in found] == []
    ours = {path for path in found if path.startswith("rra/")}
    covered = {path for path in ours for one in listed if f"{path}/".startswith(f"{one.strip('/')}/")}
    folders = {"/".join(path.split("/")[:count]) for path in covered for count in range(1, 3)}
    assert ours - covered - folders == set()


def listed_paths(text: str) -> list[str]:
    """Paths of the first table of the page."""
    table = text.partition("## Paths")[2].partition("\n## ")[0]
    return [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]


def paths_of(layout: Path) -> list[str]:
    """Every path of an image in an OCI layout."""

    def blob(digest: str) -> Path:
        return layout / "blobs" / digest.replace(":", "/")

    manifest = json.loads(
        blob(json.loads((layout / "index.json").read_text())["manifests"][0]["digest"]).read_bytes()
    )
    names = []
    for layer in manifest["layers"]:
        with tarfile.open(blob(layer["digest"])) as tar:
            names += tar.getnames()
    return names
