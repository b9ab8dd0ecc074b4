"""No file names a package registry's host or a path of somebody's machine."""

import re

import pytest

from support.source_tree import own_texts

# In pieces, since this file is read like all others.
HOSTS = re.compile(
    r"\b(test\.)?py"
    r"pi\.org|python"
    r"hosted\.org|\b(deb|ftp|ftp\.\w\w|security|archive)\.(debian|ubuntu)\.(org|com)"
    r"|registry\.npm"
    r"js\.org|crates\."
    r"io|golang\.org/|conda\.ana"
    r"conda\.org|cache\.nix"
    r"os\.org"
)
"""Where files come from is the user's configuration. Debian's snapshot service is a default of the code."""

MACHINE_PATHS = re.compile(r"/root/\.|/home/\w+/|/Users/\w+/|/(work|farm)/\w")


def places(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{place}:{number}: {found.group()}"
        for place, text in own_texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if (found := pattern.search(line)) is not None
    ]


def test_no_file_names_a_package_registrys_host() -> None:
    assert places(HOSTS) == []


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    assert [
        place for place in places(MACHINE_PATHS) if not place.startswith("tests/house/test_names.py")
    ] == []


@pytest.mark.parametrize("parts", [("py", "pi"), ("files.python", "hosted"), ("deb.", "debian")], ids=str)
def test_a_host_is_found(parts: tuple[str, str]) -> None:
    assert HOSTS.search(f"https://{''.join(parts)}.org/x")


def test_debians_snapshot_service_may_be_named() -> None:
    assert HOSTS.search("https://snapshot.debian.org/archive") is None
