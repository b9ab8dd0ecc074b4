"""A new artifact to start from, made from the cookiecutter template in image-templates/artifact.

cookiecutter fills the template in without questions, hooks, network and the user's configuration; the folder
appears whole or not at all.
"""

import os
from pathlib import Path

from reprobridge.data_files import data_folder
from reprobridge.errors import UsageError
from reprobridge.spec.paper import ARTIFACT_NAME
from reprobridge.system.files import make_usual, publish_folder


def create_artifact(folder: Path, *, today: str) -> None:
    """Make a folder with an artifact that builds and validates as it is, named as the folder.

    `today` (such as 2026-01-31) dates its decision and its packages. Raises UsageError when the name is none or
    the folder exists or can't be made.
    """
    name = folder.name
    if not ARTIFACT_NAME.matches(name):
        raise UsageError(
            "an artifact can't have this name",
            expected=ARTIFACT_NAME.wanted,
            found=name or str(folder),
            hint=ARTIFACT_NAME.hint,
        )
    place = Path(
        os.path.realpath(folder.parent), name
    )  # without `a/..`, for which a folder `a` would be made
    if place.exists() or place.is_symlink():
        raise UsageError(
            "the new artifact's folder exists already",
            expected="a name that is free",
            found=str(folder),
            hint="choose another name, or move the folder away",
        )
    try:
        publish_folder(place, lambda unfinished: _fill_in(unfinished, name, today))
    except OSError as error:
        raise UsageError(
            "the new artifact's folder can't be made",
            where=str(folder),
            expected="a place that may be written, with room",
            found=error.strerror or str(error),
            hint=f"go to a folder of yours, or name one: `reprobridge init FOLDER/{name}`",
        ) from error


def _fill_in(folder: Path, name: str, today: str) -> None:
    from cookiecutter.generate import generate_files

    generate_files(
        repo_dir=data_folder("image-templates") / "artifact",
        context={"cookiecutter": {"name": name, "folder": folder.name, "date": today}},
        output_dir=folder.parent,
        overwrite_if_exists=True,  # the folder itself was just made, empty
        accept_hooks=False,
    )
    make_usual(folder)  # cookiecutter copies the modes of its template
