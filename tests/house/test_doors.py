"""Only system/ reaches processes, sockets and file writes, and only the command line prints."""

import ast

import pytest

from support.doors import opened_doors, printed
from support.source_tree import modules


def test_only_system_opens_processes_and_sockets_and_writes_files() -> None:
    found = [
        f"{module.place}:{line}: {what}"
        for module in modules("builder/reprobridge")
        if not module.place.startswith("builder/reprobridge/system/")
        for line, what in opened_doors(module.tree)
    ]
    assert found == []


def test_only_the_command_line_prints_and_exits() -> None:
    allowed = ("builder/reprobridge/cli/", "builder/reprobridge/__main__.py")
    found = [
        f"{module.place}:{line}: {what}"
        for module in modules("builder/reprobridge")
        if not module.place.startswith(allowed)
        for line, what in printed(module.tree)
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess",
        "from urllib.request import urlopen",
        "from urllib import request",
        "import httpx as h",
        "def f():\n    import socket",
        "open('x', 'w')",
        "open('x', mode='ab')",
        "open('x', mode)",
        "path.open('r+')",
        "path.write_text('x')",
        "path.replace(other)",
        "os.replace(a, b)",
        "os.open('x', flags)",
        "os.open('x', os.O_RDWR | os.O_NOFOLLOW)",
        "shutil.rmtree('x')",
        "tarfile.open('x.tar', 'w')",
        "tarfile.open('x.tar', mode='w:gz')",
    ],
)
def test_an_opened_door_is_found(source: str) -> None:
    assert list(opened_doors(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "if TYPE_CHECKING:\n    import httpx",
        "from urllib.parse import urlsplit",
        "open('x')",
        "open('x', 'rb')",
        "path.open()",
        "text.replace('a', 'b')",
        "replace(value, name=1)",
        "shutil.which('x')",
        "os.open('x', os.O_RDONLY | os.O_NOFOLLOW)",
        "os.open(os.devnull, os.O_WRONLY)",
        "store.open(digest)",
        "archive.open('data.tar')",
        "igzip.open(path, 'rb')",
        "os.environ.get('x')",
        "tarfile.open(fileobj=stream, mode='w')",
        "write_file(path, data)",
    ],
)
def test_reading_is_no_opened_door(source: str) -> None:
    assert list(opened_doors(ast.parse(source))) == []


@pytest.mark.parametrize("source", ["print(1)", "sys.stdout.write('x')", "raise SystemExit(2)", "sys.exit()"])
def test_a_print_or_exit_is_found(source: str) -> None:
    assert list(printed(ast.parse(source)))
