"""What the author hears of a layer's Debian packages."""

from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("package", "instead"),
    [
        ("locales", "locales-all"),
        ("octave", "addpath"),
        ("tex-common", "without text.usetex"),
        ("gsettings-desktop-schemas", "GSETTINGS_SCHEMA_DIR"),
    ],
)
def test_a_note_of_what_is_lacking_says_what_to_do_instead(
    package: str, instead: str, tmp_path: Path
) -> None:
    files: dict[str, DebFile | str] = {}
    control = {"postinst": "#!/bin/sh\ndo-it\n"}
    if package == "gsettings-desktop-schemas":
        files, control = {"usr/share/glib-2.0/schemas/org.x.gschema.xml": ""}, {}
    source = DebSource(package=package, files=files, control=control)
    (note,) = notes(tmp_path, build_deb(source))
    assert instead in note


def test_what_only_services_need_is_not_noted(tmp_path: Path) -> None:
    script = "#!/bin/sh\nadduser messagebus\nmkdir -p /var/lib/dbus\npam-auth-update --package\n"
    names = ("dbus", "dbus-daemon", "dbus-system-bus-common", "libpam-systemd", "systemd", "systemd-sysv")
    assert notes(tmp_path, *(deb(name, script=script) for name in names)) == []


def test_scripts_that_may_do_more_are_named_before_bits(tmp_path: Path) -> None:
    found = notes(tmp_path, deb("a", x=0o4755), deb("b", script="#!/bin/sh\nadduser b\n"))
    assert [note.partition(":")[0] for note in found] == ["Debian package b", "Debian package a"]
