"""Where a built image goes besides the store: `oci:`, `oci-archive:`, `docker-archive:`, `docker:`, `podman:`."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.assemble.model import BuiltImage
from reprobridge.cli.doors import Doors
from reprobridge.cli.values import WRITTEN_OUT, is_unread
from reprobridge.errors import AssembleError, StoreError, UsageError
from reprobridge.frozen import frozen, replace
from reprobridge.system.files import delete, obstacle

# What writes layouts and archives is imported where one is asked for: most builds stay in the store.
if TYPE_CHECKING:
    from reprobridge.oci.layout import ImageParts
    from reprobridge.spec.model import Spec
    from reprobridge.store.store import Store

KINDS = ("store", "oci", "oci-archive", "docker-archive", "docker", "podman")
"""What may stand before the colon."""
ENGINES = ("docker", "podman")
"""Kinds that need no path."""
KINDS_WITH_PATH = ("oci", "oci-archive", "docker-archive")
"""Kinds that need one."""
_LOADED = b"Loaded image"
"""What engines say of an image that they took."""


@frozen
class Output:
    """A parsed --output."""

    kind: str
    """One of `KINDS`."""
    path: Path
    """Folder or file; unused for the store and engines."""

    @property
    def file(self) -> Path | None:
        """The one file that is written, if it is one."""
        return self.path if self.kind in ("oci-archive", "docker-archive") else None


def parse_output(text: str) -> Output:
    """Read an --output. Raises UsageError."""
    kind, colon, rest = text.partition(":")
    needs_path = kind in KINDS_WITH_PATH
    if (
        kind not in KINDS
        or (needs_path and not rest)
        or (not needs_path and rest)
        or (needs_path and not colon)
    ):
        raise UsageError(
            "the output cannot be understood",
            where="--output",
            expected="store, oci:FOLDER, oci-archive:FILE, docker-archive:FILE, docker: or podman:",
            found=text,
            hint="for example --output oci:my-image",
        )
    if is_unread(rest):
        raise UsageError("the output's place is not told", where="--output", expected=WRITTEN_OUT, found=text)
    return Output(kind, Path(rest))


def require_writable(output: Output) -> None:
    """Refuse, before anything is fetched or built for it, an output that can't be written there.

    Raises AssembleError; ArtifactError for a broken layout.
    """
    path = output.path.absolute()
    match output.kind:
        case "oci":
            from reprobridge.oci.layout import read_entries

            with _looking_at(path):
                read_entries(path)
            require_folder(path)
        case "oci-archive" | "docker-archive":
            require_place(path)


def require_folder(path: Path) -> None:
    """Refuse, before work begins, a folder that can't be made or written into. Raises AssembleError."""
    path = path.absolute()
    with _looking_at(path):
        _require_folder(path, next(place for place in (path, *path.parents) if place.exists()))


def require_place(path: Path) -> None:
    """Refuse, before work begins, a place where no file can be written. Raises AssembleError."""
    path = path.absolute()
    with _looking_at(path):
        if found := obstacle(path):
            raise _unwritable(path, found=found, hint="name a new file, or one to replace")
        _require_folder(path, path.parent)


def require_apart(output: Output, file: Path) -> None:
    """Refuse a file that would be written over the image, or into its layout. Raises UsageError."""
    if output.kind not in KINDS_WITH_PATH:
        return
    place = Path(os.path.realpath(output.path))
    if Path(os.path.realpath(file)).is_relative_to(place):
        raise UsageError(
            "two outputs have the same place",
            where=str(file),
            expected="a file beside the image",
            found=f"{output.kind}:{output.path}",
            hint="name another file with --digest-file",
        )


def require_beside_artifact(file: Path, option: str, folder: Path, store: "Store") -> None:
    """Refuse, before work begins, a file that would take the place of one that the artifact is made of.

    Raises UsageError; SpecError where the artifact's specification can't be read.
    """
    from reprobridge.lock.file import FILE_NAME as LOCK
    from reprobridge.spec.named import FILE_NAME as SPEC

    real, top = Path(os.path.realpath(file)), Path(os.path.realpath(folder))
    if real in (top / SPEC, top / LOCK):
        raise _part_of_artifact(file, option, f"the artifact's {real.name}")
    if (
        not real.is_relative_to(top) or not real.exists()
    ):  # all that a specification names lies below its folder
        return
    from reprobridge.spec.parse import read_spec

    spec = read_spec(folder, memory=store)
    for name in spec.files:
        if real == Path(os.path.realpath(top / name)):
            raise _part_of_artifact(file, option, f"{name}, which {SPEC} names")
    for folder_name in _source_folders(spec):
        source = Path(os.path.realpath(top / folder_name))
        if source != top and real.is_relative_to(source):
            raise _part_of_artifact(
                file, option, f"a file of {folder_name}, which the artifact is built from"
            )


def _source_folders(spec: "Spec") -> Iterator[str]:
    """The folders, relative to the artifact's, of the paper's code and of packages that are built."""
    from reprobridge.spec.model import FolderSource
    from reprobridge.spec.requirement_lines import read_requirement, requirement_lines
    from reprobridge.spec.requirement_source import SourceWish

    if isinstance(spec.source, FolderSource):
        yield str(spec.source.path)
    if name := spec.environment.python.requirements:
        for line in requirement_lines(spec.files[name].decode("utf-8-sig")):
            wish = read_requirement(str(name), line.text)
            if isinstance(wish, SourceWish) and wish.kind == "path":
                yield wish.origin


def _part_of_artifact(file: Path, option: str, found: str) -> UsageError:
    return UsageError(
        "the output would take the place of a file that the artifact is made of",
        where=str(file),
        expected="a new file, or an earlier output to replace",
        found=found,
        hint=f"name another file with {option}",
    )


@contextlib.contextmanager
def _looking_at(path: Path) -> Iterator[None]:
    """What the system says about a place, as our error."""
    try:
        yield
    except OSError as error:
        hint = "name a path that you may enter"
        raise _unwritable(path, found=error.strerror or str(error), hint=hint) from error


def _require_folder(path: Path, folder: Path) -> None:
    if not folder.exists():
        raise _unwritable(path, found=f"no folder {folder}", hint=f"make it: `mkdir -p {folder}`")
    if not folder.is_dir():
        raise _unwritable(path, found=f"{folder} is no folder", hint="name a path in a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        hint = "name a path in a folder of yours"
        raise _unwritable(path, found=f"{folder} may not be written", hint=hint)


def _unwritable(path: Path, found: str, hint: str) -> AssembleError:
    return AssembleError(
        "the output cannot be written",
        where=str(path),
        expected="a path in a folder that may be written",
        found=found,
        hint=hint,
    )


def write_output(output: Output, built: BuiltImage, doors: Doors) -> None:
    """Write the image of the store to where it shall go. Raises AssembleError, StoreError for a damaged blob."""
    if output.kind == "store":
        return
    from reprobridge.oci.layout import DamagedBlobError

    try:
        _write(output, built, doors)
    except DamagedBlobError as error:
        path = doors.store.path(error.blob.digest)
        delete(path)
        raise StoreError(
            "a damaged object was removed from the store; run again",
            where=str(path),
            expected=error.expected,
            found=error.found,
        ) from error


def _write(output: Output, built: BuiltImage, doors: Doors) -> None:
    from reprobridge.oci.archive import write_archive
    from reprobridge.oci.layout import read_parts, write_layout

    parts = read_parts(built.name, built.version, built.manifest, doors.store.path)
    image = replace(parts, fresh=built.fresh)
    match output.kind:
        case "oci":
            write_layout(output.path, image)
        case "oci-archive":
            write_archive(output.path, image, docker=False)
        case "docker-archive":
            write_archive(output.path, image, docker=True)
        case _:
            _load(output.kind, image, doors)
            return
    doors.log(f"wrote {output.path}")


def _load(engine: str, image: "ImageParts", doors: Doors) -> None:
    """Pour the archive into the engine's `load`, without a file in between."""
    import threading

    from reprobridge.system.processes import Command

    reading, writing = os.pipe()
    troubles: list[Exception] = []
    thread = threading.Thread(target=_pour, args=(image, writing, troubles))
    with os.fdopen(reading, "rb") as stream:
        thread.start()
        done = doors.processes.run(Command(argv=(engine, "load"), stdin=stream))
    thread.join()
    if troubles:
        raise troubles[0]
    if done.returncode or _LOADED not in done.stdout:
        raise AssembleError(
            f"{engine} did not take the image",
            expected=f"{_LOADED.decode()}…",
            found=done.failure
            if done.returncode
            else done.stdout.decode(errors="replace").strip() or "nothing",
            hint=f"does `{engine} info` work?",
        )
    doors.log(done.stdout.decode(errors="replace").strip())


def _pour(image: "ImageParts", descriptor: int, troubles: list[Exception]) -> None:
    from reprobridge.oci.archive import pour_archive

    with os.fdopen(descriptor, "wb") as stream:
        write: Callable[[bytes], object] = stream.write
        try:
            pour_archive(image, write, docker=True)
        except BrokenPipeError:
            return
        except Exception as error:  # noqa: BLE001 - raised again by who waits for this thread
            troubles.append(error)
