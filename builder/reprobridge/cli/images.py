"""Which image a command means: an artifact's folder, an OCI layout, or an image of the store."""

from pathlib import Path

from reprobridge.cli.doors import Doors
from reprobridge.digest import Digest
from reprobridge.errors import UsageError
from reprobridge.oci.layout import ImageParts, read_layout, read_parts

FORMS = "an artifact's folder, oci:FOLDER[:TAG], NAME:TAG or NAME@DIGEST of the store, or a digest"
"""What may be named, for help texts and errors."""


def names_image(word: str) -> bool:
    """Whether a word of the command line names an image rather than a task."""
    return ":" in word or "/" in word or word == "." or (Path(word) / "reprobridge.yaml").is_file()


def open_image(word: str, doors: Doors) -> ImageParts:
    """The image that a word names; an artifact's folder is built first. Raises UsageError and what building raises."""
    if word.startswith("oci:"):
        return _layout(word.removeprefix("oci:"))
    if Path(word).is_dir():
        return _built(Path(word), doors)
    name, _, digest = word.rpartition("@")
    if digest.startswith("sha256:"):
        return _stored(name or "image", "", _digest(digest, word), doors)
    name, _, tag = word.rpartition(":")
    manifest = doors.store.referenced(name, tag) if name and tag else None
    if manifest is None:
        known = [f"{name}:{tag}" for name, tag, _ in doors.store.references()]
        raise UsageError(
            "no such image",
            where=word,
            expected=FORMS,
            found=f"in the store: {', '.join(known) or 'no images'}",
            hint="build it with `reprobridge build DIR`",
        )
    return _stored(name, tag, manifest, doors)


def _layout(text: str) -> ImageParts:
    folder, colon, tag = text.rpartition(":")
    if colon and not Path(text).is_dir():
        return read_layout(Path(folder), tag)
    return read_layout(Path(text))


def _built(folder: Path, doors: Doors) -> ImageParts:
    """Build the artifact, which costs a look when nothing has changed."""
    from reprobridge.assemble.build import BuildRequest, build_artifact
    from reprobridge.cli.build import DEFAULT_WORKERS
    from reprobridge.cli.progress import build_progress

    with build_progress(doors) as progress:
        request = BuildRequest(folder=folder, progress=progress, downloads=progress, workers=DEFAULT_WORKERS)
        built = build_artifact(request, doors.for_locking())
    return read_parts(built.name, built.version, built.manifest, doors.store.path)


def _stored(name: str, tag: str, manifest: Digest, doors: Doors) -> ImageParts:
    if not doors.store.has(manifest):
        raise UsageError(
            "the store does not have this image", where=str(manifest), expected=FORMS, found="nothing"
        )
    return read_parts(name, tag, manifest, doors.store.path)


def _digest(text: str, where: str) -> Digest:
    try:
        return Digest.parse(text)
    except ValueError as error:
        raise UsageError("no digest", where=where, expected="sha256:<64 hex>", found=text) from error
