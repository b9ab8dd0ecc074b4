"""direct_url.json: where a package comes from that no index was asked for (PEP 610).

What pip would write, but for folders: they are named by where they lie beside reprobridge.yaml, which stands
below `/rra/spec` in the image, and never by a path of the machine that built them.
The specification refuses addresses with credentials, so there are none to take out.
"""

from urllib.parse import quote, urldefrag

from reprobridge.digest import Json, canonical_json
from reprobridge.lock.model import LockedBuild, LockedFile, LockedWheel

SPEC = "rra/spec"
"""Where the artifact's own folder stands in the image."""


def direct_url(wheel: LockedWheel, build: LockedBuild | None) -> str | None:
    """The file's text; None for what an index gave. `build` is how the wheel came to be, if it was built."""
    match build:
        case None if wheel.url is not None:
            return _text(wheel.url, None, {"archive_info": _archive(wheel.file)})
        case LockedBuild(kind="archive", file=LockedFile() as sdist):
            return _text(build.origin, build.subdirectory, {"archive_info": _archive(sdist)})
        case LockedBuild(kind="git", commit=commit):
            # The commit is what the requirement names: branches and tags are refused.
            info: Json = {"vcs": "git", "commit_id": commit, "requested_revision": commit}
            return _text(build.origin, build.subdirectory, {"vcs_info": info})
        case LockedBuild(kind="path", origin=origin):
            folder = SPEC if origin == "." else f"{SPEC}/{origin}"
            return _text(f"file:///{quote(folder)}", None, {"dir_info": {}})
    return None


def _archive(file: LockedFile) -> Json:
    return {"hash": f"sha256={file.sha256.hex}", "hashes": {"sha256": file.sha256.hex}}


def _text(url: str, subdirectory: str | None, info: dict[str, Json]) -> str:
    part: dict[str, Json] = {} if subdirectory is None else {"subdirectory": subdirectory}
    return canonical_json({"url": urldefrag(url).url, **part, **info}).decode()
