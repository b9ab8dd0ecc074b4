"""Which image a command means: an artifact's folder, an OCI layout, an image of the store or of a registry."""

from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.cli.doors import Doors
from reprobridge.digest import Digest
from reprobridge.errors import UsageError
from reprobridge.oci.layout import ImageParts, read_layout, read_parts

if TYPE_CHECKING:
    from reprobridge.registry.client import Registry
    from reprobridge.registry.reference import ImageReference
    from reprobridge.replicate.pull import Pulled

FORMS = (
    "an artifact's folder, oci:FOLDER[:TAG], NAME:TAG or NAME@DIGEST of the store, a digest, "
    "or REGISTRY/REPOSITORY[:TAG|@DIGEST]"
)
"""What may be named, for help texts and errors."""
_LISTED = "`reprobridge cache info` lists the store's images with their digests"


def names_image(word: str) -> bool:
    """Whether a word of the command line names an image rather than a task."""
    return ":" in word or "/" in word or word == "." or is_artifact(word)


def is_artifact(word: str) -> bool:
    """Whether a word of the command line is an artifact's folder."""
    return (Path(word) / "reprobridge.yaml").is_file()


def open_image(word: str, doors: Doors, *, whole: bool = True, insecure: bool = False) -> ImageParts:
    """The image that a word names; an artifact's folder is built first.

    An image of a registry is pulled into the store; with `whole=False` each of its blobs only when it is asked
    for, and layers of a folder's image may lie where they are known instead of here. `insecure`: its registry may
    be spoken to without encryption. Raises UsageError and what building and pulling raise.
    """
    if not word:
        raise UsageError("no image is named", expected=FORMS, found="an empty word")
    if word.startswith("oci:"):
        return read_layout(*layout_of(word))
    if Path(word).is_dir():
        return _built(Path(word), doors, elsewhere=not whole)
    name, _, digest = word.rpartition("@")
    if digest.startswith("sha256:") and (stored := _stored(name, _digest(digest, word), doors)):
        return stored
    name, _, tag = word.rpartition(":")
    manifest = doors.store.referenced(name, tag) if name and tag else None
    if manifest is not None and not doors.store.has(manifest):
        manifest = None
    if names_registry(word) and (manifest is None or not doors.offline):
        if whole:
            return pull(word, doors, insecure=insecure).image
        return _remote(*_registry(word, doors, insecure=insecure), doors)
    if manifest is None:
        raise _unknown(word, doors)
    return read_parts(name, tag, manifest, doors.store.path)


def _unknown(word: str, doors: Doors) -> UsageError:
    known = [f"{name}:{tag}" for name, tag, _ in doors.store.references()]
    return UsageError(
        "no such image",
        where=word,
        expected=FORMS,
        found=f"in the store: {', '.join(known) or 'no images'}",
        hint="build it with `reprobridge build DIR`",
    )


def names_registry(word: str) -> bool:
    """Whether the word's first part is a host, as docker tells: with a dot or a colon, or `localhost`."""
    first, slash, _ = word.partition("/")
    return (
        bool(slash)
        and first not in ("", ".", "..")
        and (first == "localhost" or "." in first or ":" in first)
    )


def layout_of(word: str) -> tuple[Path, str | None]:
    """Folder and tag of `oci:FOLDER[:TAG]`."""
    text = word.removeprefix("oci:")
    folder, colon, tag = text.rpartition(":")
    return (Path(folder), tag) if colon and not Path(text).is_dir() else (Path(text), None)


def _built(folder: Path, doors: Doors, *, elsewhere: bool) -> ImageParts:
    """Build the artifact, which costs a look when nothing has changed; `elsewhere`: known layers may lie there."""
    from reprobridge.assemble.build import BuildRequest, build_artifact
    from reprobridge.cli.build import DEFAULT_WORKERS
    from reprobridge.cli.progress import build_progress

    with build_progress(doors) as progress:
        request = BuildRequest(
            folder=folder,
            progress=progress,
            downloads=progress,
            workers=DEFAULT_WORKERS,
            elsewhere=elsewhere,
        )
        built = build_artifact(request, doors.for_locking())
    return read_parts(built.name, built.version, built.manifest, doors.store.path)


def _stored(name: str, manifest: Digest, doors: Doors) -> ImageParts | None:
    """The image of the store with this digest, if the store has all of it."""
    if not doors.store.has(manifest):
        if names_registry(name):
            return None
        raise UsageError(
            "the store does not have this image",
            where=str(manifest),
            expected=FORMS,
            found="nothing",
            hint=_LISTED,
        )
    parts = read_parts(name or "image", "", manifest, doors.store.path)
    whole = all(doors.store.holds(blob.digest, blob.size) for blob in parts.blobs())
    return parts if whole or not names_registry(name) else None


def pull(word: str, doors: Doors, *, insecure: bool = False) -> "Pulled":
    """Bring the registry's image that a word names into the store. Raises UsageError, RegistryError."""
    from reprobridge.cli.moving import moving
    from reprobridge.replicate.pull import missing_blobs, pull_image

    if not names_registry(word):
        raise UsageError(
            "no registry is named",
            where=word,
            expected="REGISTRY/REPOSITORY[:TAG|@DIGEST]",
            found="a file or folder of this machine" if Path(word).exists() else "a name without a host",
            hint="write the host too, for example docker.io/… for an image of Docker Hub",
        )
    registry, reference = _registry(word, doors, insecure=insecure)
    with doors.store.working():
        image = _remote(registry, reference, doors)
        total = sum(blob.size for blob in missing_blobs(image, doors.store))
        with moving(doors, f"pulling {reference}", total) as progress:
            pulled = pull_image(registry, reference.repository, image, doors.store, progress)
    if pulled.former:
        _tell_former(image.name, image.version, (pulled.former, image.manifest.digest), doors)
    return pulled


def _tell_former(name: str, tag: str, moved: tuple[Digest, Digest], doors: Doors) -> None:
    """Say that `name:tag` of the store has moved from one manifest to another, and where the first still is."""
    former, now = moved
    doors.log(
        f"note: {name}:{tag} is another image now ({former.hex[:12]} -> {now.hex[:12]}); "
        f"until `reprobridge cache prune` the former is {name}@{former}"
    )


def _remote(registry: "Registry", reference: "ImageReference", doors: Doors) -> ImageParts:
    from reprobridge.oci.model import Platform
    from reprobridge.replicate.pull import remote_image

    return remote_image(registry, reference, doors.store, Platform("linux", _architecture()))


def _registry(word: str, doors: Doors, *, insecure: bool) -> "tuple[Registry, ImageReference]":
    from reprobridge.registry.connect import connect
    from reprobridge.registry.reference import ImageReference

    reference = ImageReference.parse(word)
    return connect(reference.registry, doors.http, say=doors.log, insecure=insecure), reference


def _architecture() -> str:
    """This machine's processor, by Go's name."""
    import platform

    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def _digest(text: str, where: str) -> Digest:
    try:
        return Digest.parse(text)
    except ValueError as error:
        raise UsageError(
            "no digest", where=where, expected="sha256:<64 hex>", found=text, hint=_LISTED
        ) from error
