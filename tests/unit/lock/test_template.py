"""Templates and their shipped locks."""

from pathlib import Path

import pytest

from reprobridge.data_files import data_folder
from reprobridge.errors import LockError
from reprobridge.lock.debian.mirrors import SNAPSHOT
from reprobridge.lock.debian.signature import signed_text
from reprobridge.lock.template import load_template, read_template, template_names
from reprobridge.lock.template_lock import load_template_lock, parse_template_lock

NAMES = template_names()


def test_bookworm_and_trixie_are_shipped() -> None:
    assert {"debian12-py311", "debian13-py313"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_lock_answers_the_template(name: str) -> None:
    template, lock = load_template(name), load_template_lock(name)
    assert lock.template == name
    assert lock.wish == template.wish()
    assert set(lock.platforms) == set(template.architectures)


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_lock_is_canonical(name: str) -> None:
    data = (data_folder("lockfiles") / f"{name}.lock.json").read_bytes()
    assert parse_template_lock(data).to_bytes() == data


@pytest.mark.parametrize("name", NAMES)
def test_the_lock_has_what_a_base_needs(name: str) -> None:
    template = load_template(name)
    for platform, architecture in template.architectures.items():
        base = load_template_lock(name).base(platform)
        found = {deb.name for deb in base.debs}
        assert {*template.packages, "bash", "coreutils", "tar", "grep", "findutils", "libc6"} <= found
        assert f"python{template.python}-minimal" in found
        assert not found & {"apt", "perl", "usrmerge"}
        assert {deb.architecture for deb in base.debs} == {architecture, "all"}
        assert [deb.name for deb in base.debs] == sorted(found)
        glibc = next(deb.version for deb in base.debs if deb.name == "libc6")
        assert glibc.startswith(f"{template.glibc}-")


@pytest.mark.parametrize("name", NAMES)
def test_every_key_of_the_template_is_the_pinned_one(name: str) -> None:
    with pytest.raises(LockError, match="not signed by a key of the template"):
        signed_text(b"nothing signed", load_template(name).keyring, where="here")


def test_no_file_of_templates_names_a_host() -> None:
    for folder in ("lockfiles", "image-templates"):
        for path in sorted(data_folder(folder).glob("*.*")):
            assert "://" not in path.read_text().replace(SNAPSHOT, ""), path


def test_an_unknown_template_gets_a_suggestion() -> None:
    with pytest.raises(LockError, match="did you mean debian12-py311"):
        load_template("debian12-py31")


@pytest.mark.parametrize("text", ["schema: other", "[", "schema: reprobridge.template/1\ntitle: t", "- a"])
def test_a_file_that_is_no_template_is_an_error_with_its_place(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(LockError, match=r"broken\.yaml"):
        read_template(path)


def test_a_platform_without_section_says_which_there_are() -> None:
    with pytest.raises(LockError, match="linux/amd64"):
        load_template_lock("debian12-py311").base("linux/riscv64")


def test_a_template_that_was_never_locked_says_how_to_lock_it() -> None:
    with pytest.raises(LockError, match="reprobridge template lock"):
        load_template_lock("nothing")
