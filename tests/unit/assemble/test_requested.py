"""The marks of what a paper asked for: each in the folder that its package really has."""

from pathlib import Path

from reprobridge.assemble.workshop import Workshop
from reprobridge.frozen import replace
from reprobridge.lock.model import LockedFile
from reprobridge.plan.model import RequestedRecipe, WheelRecipe
from reprobridge.store.store import Store
from support.wheels import Wheel, simple_wheel

SITE = "opt/env/lib/python3.11/site-packages"


def recipe(workshop: Workshop, wheel: Wheel, name: str) -> WheelRecipe:
    """A wheel under a file name, converted."""
    file = LockedFile(name, workshop.store.add(wheel.data), len(wheel.data))
    made = WheelRecipe(wheel=file, python="3.11")
    workshop.make_fragment(made)
    return made


def test_a_mark_lies_in_the_folder_of_the_wheel_however_its_file_name_is_spelt(store_folder: Path) -> None:
    workshop = Workshop(Store(store_folder))
    foo = recipe(workshop, simple_wheel("foo-bar"), "Foo_Bar-1.0-py3-none-any.whl")
    six = recipe(workshop, simple_wheel("six"), "six-1.0-py3-none-any.whl")
    marks = RequestedRecipe(wheels=(six, foo))
    workshop.make_fragment(marks)
    rows = [(row.path, row.mode, row.size) for row in workshop.index(marks)]
    folders = ("foo_bar-1.0.dist-info", "six-1.0.dist-info")
    assert rows == [(f"{SITE}/{folder}/REQUESTED", 0o644, 0) for folder in folders]
    assert all(any(row.path == f"{SITE}/{folder}/RECORD" for one in (foo, six) for row in workshop.index(one))
               for folder in folders)  # fmt: skip


def test_who_asked_changes_the_marks_and_no_package(store_folder: Path) -> None:
    workshop = Workshop(Store(store_folder))
    six = recipe(workshop, simple_wheel("six"), "six-1.0-py3-none-any.whl")
    nobody = RequestedRecipe(wheels=())
    workshop.make_fragment(nobody)
    assert workshop.index(nobody) == []
    assert nobody.key() != RequestedRecipe(wheels=(six,)).key()
    assert RequestedRecipe(wheels=(replace(six, omit=("x",)),)).key() != RequestedRecipe(wheels=(six,)).key()
