"""Which base systems there are: the names that `environment.template` may have."""

from pathlib import Path

from reprobridge.data_files import data_folder

_MARK = b"schema: reprobridge.template/"


def template_names(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the templates in a folder (those shipped with this release), sorted: their files' stems."""
    paths = (folder or data_folder("image-templates")).glob("*.yaml")
    return tuple(sorted(path.stem for path in paths if _MARK in path.read_bytes()))
