"""What the author hears of a layer's Debian packages."""

from pathlib import Path

from reprobridge.assemble.notes import notes_of
from reprobridge.assemble.workshop import Workshop
from reprobridge.plan.model import DebianStateRecipe, LayerPlan
from reprobridge.store.store import Store
from support.debian_root import convert_debs, deb_recipe
from support.debs import Deb, DebFile, DebSource, build_deb


def notes(folder: Path, *debs: Deb) -> list[str]:
    """The notes of a layer with the state of these packages."""
    store = Store(folder / "store")
    convert_debs(store, debs)
    recipes = tuple(sorted((deb_recipe(store, deb) for deb in debs), key=lambda recipe: recipe.package))
    state = DebianStateRecipe(debs=recipes, architecture="amd64")
    return list(notes_of(LayerPlan(title="state", parts=(state,)), Workshop(store)))


def deb(package: str, *, script: str = "", **modes: int) -> Deb:
    """A package with programs of these modes."""
    files: dict[str, DebFile | str] = {f"usr/bin/{name}": DebFile(mode=mode) for name, mode in modes.items()}
    return build_deb(DebSource(package=package, files=files, control={"postinst": script} if script else {}))


def test_programs_that_lost_their_bits_are_named_by_package(tmp_path: Path) -> None:
    mount = deb("mount", umount=0o4755, mount=0o4755, findmnt=0o755)
    dropped = "are dropped: an artifact runs as one unprivileged user"
    assert notes(tmp_path, deb("sudo", sudo=0o4755), mount) == [
        f"Debian package mount: set-uid bits of /usr/bin/mount, /usr/bin/umount {dropped}",
        f"Debian package sudo: set-uid bits of /usr/bin/sudo {dropped}",
    ]


def test_which_bits_were_dropped_is_said(tmp_path: Path) -> None:
    (first, second) = notes(tmp_path, deb("ssh", agent=0o2755, keysign=0o4755), deb("wall", wall=0o2755))
    assert "set-uid and set-gid bits of /usr/bin/agent, /usr/bin/keysign are dropped" in first
    assert "wall: set-gid bits of /usr/bin/wall are dropped" in second


def test_programs_that_every_base_system_has_are_not_named(tmp_path: Path) -> None:
    assert notes(tmp_path, deb("util-linux", su=0o4755)) == []


def test_scripts_that_may_do_more_are_named_before_bits(tmp_path: Path) -> None:
    found = notes(tmp_path, deb("a", x=0o4755), deb("b", script="#!/bin/sh\nadduser b\n"))
    assert [note.partition(":")[0] for note in found] == ["Debian package b", "Debian package a"]
