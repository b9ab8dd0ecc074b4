"""Calling a project's build backend (PEP 517): runs alone, by the image's interpreter, inside of a build room.

Copied into the room as a file (`lock/sdist/room.py`), so it imports nothing of ours. Its one argument is a JSON
file with the job: where the source's tar and the writable folder are, which hook to call of which backend.
The answer is `result.json` in that folder and, for a wheel, the wheel beside it. It ends with another status
than 0 when the hook fails, whose traceback stands on standard error then.
"""

import importlib
import json
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

RESULT = "result.json"
"""Name of the answer: what the hook returned."""
REQUIRES = "get_requires_for_build_wheel"
"""The hook that says what else building needs; a backend may lack it (PEP 517)."""
BUILD = "build_wheel"
"""The hook that builds."""


def main(job_path: str) -> None:
    """Do one job."""
    job = json.loads(Path(job_path).read_text(encoding="utf-8"))
    os.umask(0o022)
    work = Path(job["work"])
    project = work / "source" / (job["subdirectory"] or "")
    _unpack(job["source"], work / "source")
    os.chdir(project)
    # What stood there is the folder of this file, which is nothing of the project's.
    sys.path[0:1] = [str(project / path) for path in job["backend_path"]]
    answer = _call(_load(job["backend"]), job["hook"], work)
    (work / RESULT).write_text(json.dumps(answer), encoding="utf-8")


def _unpack(source: str, folder: Path) -> None:
    with tarfile.open(source, encoding="utf-8", errors="surrogateescape") as archive:
        if hasattr(tarfile, "tar_filter"):
            archive.extractall(folder, filter="tar")
        else:
            archive.extractall(folder)  # noqa: S202  a canonical tree, whose paths were checked when it was kept
    # A tree has no folders of its own, so those made on the way have the time of now.
    time = int(os.environ["SOURCE_DATE_EPOCH"])
    for parent, _, _ in os.walk(folder):
        os.utime(parent, (time, time))


def _load(backend: str) -> Any:
    """The backend object: `module` or `module:attribute.attribute`."""
    module, _, attributes = backend.partition(":")
    found: Any = importlib.import_module(module)
    for attribute in filter(None, attributes.split(".")):
        found = getattr(found, attribute)
    return found


def _call(backend: Any, hook: str, work: Path) -> Any:
    if hook == REQUIRES:
        return list(backend.get_requires_for_build_wheel({})) if hasattr(backend, REQUIRES) else []
    folder = work / "wheel"
    folder.mkdir()
    name = backend.build_wheel(str(folder), {})
    (folder / name).replace(work / name)
    return name


if __name__ == "__main__":
    main(sys.argv[1])
