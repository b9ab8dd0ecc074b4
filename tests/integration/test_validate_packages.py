"""What validation makes of packages: whose their files are, and which modules need not be importable."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from reprobridge.sandbox.bubblewrap import BubblewrapSandbox
from reprobridge.sandbox.model import Sandbox
from reprobridge.store.store import Store
from reprobridge.system.processes import RealProcesses
from reprobridge.validate.model import CheckId, Finding, Verdict
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import open_subject
from reprobridge.validate.validation import CHECKS
from support.artifact_image import SITE, SPEC, ArtifactImage, package

KEY = (
    "-----BEGIN " + "OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
)
UNCHECKED = "abcd\1\0\0\0hashhash"
"""How bytecode begins that holds for good (PEP 552)."""
LEFT_BY_A_PROGRAM = "abcd" + "\0" * 12
"""How bytecode begins that holds until its source is newer."""


@pytest.fixture(scope="module")
def store(module_folder: Path) -> Store:
    """One store for all, so that the base layer is unpacked once."""
    return Store(module_folder / "store")


@pytest.fixture(scope="module")
def sandbox(store: Store) -> Sandbox:
    return BubblewrapSandbox(store, RealProcesses(), as_root=os.geteuid() == 0)


def ship(image: ArtifactImage, name: str, modules: dict[str, str]) -> None:
    """Install a distribution with these files."""
    image.environment |= package(name, "1.0", modules=modules)
    image.distributions[name] = "1.0"


def found(check: CheckId, image: ArtifactImage, store: Store, sandbox: Sandbox) -> Finding:
    return CHECKS[check](CleanShell(open_subject(image.build(store), store), sandbox))


def test_what_a_published_distribution_ships_is_no_secret_of_the_author(
    store: Store, sandbox: Sandbox
) -> None:
    image = ArtifactImage()
    ship(image, "beta", {"beta/__init__.py": "", "beta/test.key": KEY, "beta/__pycache__/x.pyc": ""})
    for check in (CheckId.SECRETS, CheckId.CACHES):
        assert found(check, image, store, sandbox).verdict is Verdict.PASSED
    image.environment[f"{SITE}/beta/mine.key"] = KEY
    assert found(CheckId.SECRETS, image, store, sandbox).verdict is Verdict.FAILED


@pytest.mark.parametrize(
    ("origin", "published"),
    [
        ({"url": "file:///solver", "dir_info": {}}, False),
        ({"url": "https://example.org/solver.git", "vcs_info": {"vcs": "git", "commit_id": "0"}}, False),
        ({"url": "https://example.org/solver-1.0-py3-none-any.whl", "archive_info": {}}, True),
        ([], False),
    ],
    ids=["folder", "repository", "wheel", "broken"],
)
def test_what_was_built_of_the_authors_own_is_looked_at(
    origin: Any, published: bool, store: Store, sandbox: Sandbox
) -> None:
    image = ArtifactImage()
    told = {"beta-1.0.dist-info/direct_url.json": json.dumps(origin)}
    ship(image, "beta", {"beta/__init__.py": "", "beta/test.key": KEY, **told})
    assert (found(CheckId.SECRETS, image, store, sandbox).verdict is Verdict.PASSED) is published


def test_a_module_that_needs_what_no_clean_shell_has_may_be_excepted_with_a_reason(
    store: Store, sandbox: Sandbox
) -> None:
    excepted = "{not_imported: {broken: needs a TPU, space: needs two}}"
    image = ArtifactImage(spec=f"{SPEC}environment: {{python: {excepted}}}\n")
    for name, place in (("broken", "broken"), ("inner", "space/inner")):
        ship(image, name, {f"{place}/__init__.py": "import nowhere\n"})
    finding = found(CheckId.IMPORTS, image, store, sandbox)
    assert finding.verdict is Verdict.PASSED, finding
    assert "not broken: needs a TPU; not space: needs two" in "\n".join(finding.evidence)


@pytest.mark.parametrize("origin", [None, {"url": "file:///beta", "dir_info": {}}], ids=["index", "folder"])
def test_bytecode_that_the_build_made_of_a_distributions_modules_is_no_cache(
    origin: Any, store: Store, sandbox: Sandbox
) -> None:
    for path, head, made_by_the_build in (
        ("beta/__pycache__/__init__.cpython-311.pyc", UNCHECKED, True),
        ("beta/__pycache__/__init__.cpython-311.pyc", LEFT_BY_A_PROGRAM, False),
        ("gamma/__pycache__/__init__.cpython-311.pyc", UNCHECKED, False),
        ("beta/__pycache__/notes.txt", UNCHECKED, False),
    ):
        image = ArtifactImage()
        told = {"beta-1.0.dist-info/direct_url.json": json.dumps(origin)} if origin else {}
        ship(image, "beta", {"beta/__init__.py": "", **told})
        image.environment[f"{SITE}/{path}"] = head
        verdict = found(CheckId.CACHES, image, store, sandbox).verdict
        assert (verdict is Verdict.PASSED) is made_by_the_build, path
