"""What the author wrote, as it stands in the image: for the few keys that validation alone needs."""

from typing import Any

from reprobridge.errors import ArtifactError
from reprobridge.validate.subject import Subject

SPEC = "rra/spec/reprobridge.yaml"
"""The specification in the image."""


def written(subject: Subject, *keys: str) -> Any:
    """What stands below these keys of the specification, every scalar as text; None where nothing does.

    It is not parsed as specifications are: the image may be of a release that knew other keys. Raises ArtifactError
    where the image has none that can be read.
    """
    import yaml

    data = subject.read(SPEC)
    if data is None:
        raise _unreadable("none")
    try:
        # The base loader makes text of every scalar, as the specification wants it.
        found = yaml.load(data, yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _unreadable(" ".join(str(error).split())) from error
    for key in keys:
        if found is None:
            return None
        if not isinstance(found, dict):
            raise _unreadable(f"{type(found).__name__} around {key}")
        found = found.get(key)
    return found


def _unreadable(found: str) -> ArtifactError:
    return ArtifactError(f"/{SPEC}: expected the specification as YAML, found {found}")
