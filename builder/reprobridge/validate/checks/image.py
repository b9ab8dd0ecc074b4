"""Is the image well formed? Digests, configuration, layers and modes, from the bytes alone."""

from collections.abc import Iterator, Mapping
from typing import Any

from reprobridge.assemble.image import LAYER_LIMIT
from reprobridge.assemble.index import parents
from reprobridge.digest import digest_stream
from reprobridge.errors import ReproBridgeError
from reprobridge.oci.model import Descriptor, MediaType, Platform
from reprobridge.oci.tar import DIRECTORY_MODE, EntryKind
from reprobridge.plan.order import HARD_LIMIT
from reprobridge.validate.model import Finding, judged
from reprobridge.validate.shell import LAUNCHER, CleanShell
from reprobridge.validate.subject import CODE, ENVIRONMENT, Placed, Subject
from reprobridge.wording import counted

LABELS = (
    "org.opencontainers.image.title",
    "org.opencontainers.image.version",
    "org.opencontainers.image.licenses",
    "org.opencontainers.image.created",
    "io.reprobridge.paper",
    "io.reprobridge.artifact",
    "io.reprobridge.tasks",
)
"""Labels that every artifact's image has."""
SHARED_FOLDERS = ("tmp", "out")
"""Folders that every user may write into; mode 1777."""

_FOLDER, _FILE, _SYMLINK = EntryKind.DIRECTORY.value, EntryKind.FILE.value, EntryKind.SYMLINK.value


# digests


def check_digests(shell: CleanShell) -> Finding:
    """Recompute every digest, size and diff_id."""
    subject = shell.subject
    blobs = subject.parts.blobs()
    problems = [problem for blob in blobs for problem in _blob_problems(subject, blob)]
    if not problems:
        problems = list(_diff_id_problems(subject))
    size = sum(blob.size for blob in blobs)
    return judged(
        problems,
        f"{counted(len(blobs), 'blob')} of {size} bytes and {counted(len(subject.parts.layers), 'diff_id')} agree",
    )


def _blob_problems(subject: Subject, blob: Descriptor) -> Iterator[str]:
    try:
        with subject.parts.path(blob.digest).open("rb") as stream:
            found, size = digest_stream(stream)
    except (OSError, ReproBridgeError) as error:
        yield f"{blob.digest}: expected a blob, found none ({error})"
        return
    if found != blob.digest:
        yield f"{blob.digest}: its bytes have the digest {found}"
    if size != blob.size:
        yield f"{blob.digest}: expected {blob.size} bytes, found {size}"


def _diff_id_problems(subject: Subject) -> Iterator[str]:
    try:
        for number, (stated, scan) in enumerate(zip(subject.diff_ids, subject.scans, strict=True)):
            if scan.diff_id != stated:
                yield f"layer {number}: expected diff_id {stated}, found {scan.diff_id}"
    except ReproBridgeError as error:
        yield str(error)


# configuration


def check_config(shell: CleanShell) -> Finding:
    """Compare configuration, labels and annotations with the format and with the launcher's manifest."""
    subject = shell.subject
    config = subject.config.get("config")
    if not isinstance(config, Mapping):
        return judged(["the configuration has no object `config`"], "")
    if malformed := list(_malformed(config)):
        return judged(malformed, "")
    problems = [
        *_platform_problems(subject),
        *_process_problems(subject, config),
        *_label_problems(subject, config),
    ]
    return judged(problems, f"entrypoint {LAUNCHER}, {len(config.get('Labels') or {})} labels")


def _malformed(config: Mapping[str, Any]) -> Iterator[str]:
    """Fields that are not what the specification says, so that they can't be looked into."""
    for name, kind, expected in (("Labels", Mapping, "an object"), ("Env", list, "a list")):
        if config.get(name) and not isinstance(config[name], kind):
            yield f"{name}: expected {expected}, found {config[name]!r}"


def _platform_problems(subject: Subject) -> Iterator[str]:
    media = subject.manifest.get("mediaType")
    if media != MediaType.MANIFEST.value:
        yield f"manifest: expected mediaType {MediaType.MANIFEST.value}, found {media}"
    system, architecture = subject.config.get("os"), subject.config.get("architecture")
    if system != "linux" or not architecture:
        yield f"platform: expected linux and an architecture, found {Platform(str(system), str(architecture))}"
    history = subject.config.get("history")
    if not isinstance(history, list) or len(history) != len(subject.parts.layers):
        yield "history: expected one line for each layer"


def _process_problems(subject: Subject, config: Mapping[str, Any]) -> Iterator[str]:
    if config.get("Entrypoint") != [LAUNCHER]:
        yield f"Entrypoint: expected {LAUNCHER}, found {config.get('Entrypoint')}"
    for key in ("Cmd", "User", "Volumes"):
        if config.get(key):
            yield f"{key}: expected nothing, so that the launcher runs as any user, found {config[key]}"
    names = [str(pair).partition("=")[0] for pair in config.get("Env") or []]
    yield from (f"Env: {name} is set twice" for name in sorted(set(names)) if names.count(name) > 1)
    if "PATH" not in names:
        yield "Env: expected PATH"
    folder = str(config.get("WorkingDir") or "/").strip("/")
    if folder and (folder not in subject.root or subject.root[folder].entry.kind != _FOLDER):
        yield f"WorkingDir: expected a folder of the image, found /{folder}"


def _label_problems(subject: Subject, config: Mapping[str, Any]) -> Iterator[str]:
    labels = config.get("Labels") or {}
    yield from (f"labels: expected {name}" for name in LABELS if not labels.get(name))
    if labels != (subject.manifest.get("annotations") or {}):
        yield "annotations: expected the same as the labels"
    artifact = subject.artifact
    told = {
        "io.reprobridge.artifact": artifact.artifact.id,
        "io.reprobridge.paper": artifact.paper.id,
        "org.opencontainers.image.version": artifact.artifact.version,
        "io.reprobridge.tasks": ",".join(task.id for task in artifact.tasks),
    }
    for name, expected in told.items():
        if name in labels and labels[name] != expected:
            yield f"{name}: expected {expected} as in the launcher's manifest, found {labels[name]}"


# layers


def check_layers(shell: CleanShell) -> Finding:
    """Hold the layers against the budget and against each other."""
    subject = shell.subject
    layers = subject.parts.layers
    problems = [
        f"layer {number}: expected at most {LAYER_LIMIT} bytes, found {layer.size}"
        for number, layer in enumerate(layers)
        if layer.size > LAYER_LIMIT
    ]
    if len(layers) > HARD_LIMIT:
        problems.append(f"expected at most {HARD_LIMIT} layers, found {len(layers)}")
    problems += [
        f"layer {number}: expected {MediaType.LAYER.value}, found {layer.media_type}"
        for number, layer in enumerate(layers)
        if layer.media_type != MediaType.LAYER
    ]
    problems += _path_problems(subject)
    return judged(
        problems, f"{counted(len(layers), 'layer')} with {len(subject.root)} paths, none in conflict"
    )


def _path_problems(subject: Subject) -> Iterator[str]:
    seen: dict[str, Placed] = {}
    for number, scan in enumerate(subject.scans):
        for entry in scan.entries:
            placed = Placed(entry, number)
            earlier = seen.get(entry.path)
            if earlier is not None and _clash(earlier, placed):
                yield f"/{entry.path}: layers {earlier.layer} and {number} hold different things there"
            seen[entry.path] = placed
    for path, placed in seen.items():
        above = next(
            (folder for folder in parents(path) if folder in seen and seen[folder].entry.kind != _FOLDER), ""
        )
        if above:
            yield f"/{path}: layer {placed.layer} puts it below /{above}, which layer {seen[above].layer} makes no folder"


def _clash(low: Placed, high: Placed) -> bool:
    """Whether the higher entry changes what the lower one means."""
    if low.entry.kind == high.entry.kind == _FOLDER:
        # A folder that only holds something has the plain mode everywhere: it must not undo a special one.
        return high.entry.mode == DIRECTORY_MODE != low.entry.mode
    return low.entry[1:] != high.entry[1:]


# modes


def check_modes(shell: CleanShell) -> Finding:
    """Look for files that some user can't read; a sandbox of an ordinary user can't show that."""
    subject = shell.subject
    problems = []
    for folder in ("rra", ENVIRONMENT.partition("/")[0], "data"):
        own = {folder: subject.root[folder]} if folder in subject.root else {}
        for path, placed in {**own, **subject.below(folder)}.items():
            needed = _needed_mode(placed)
            if placed.entry.mode & needed != needed:
                problems.append(
                    f"/{path}: expected mode {needed:04o} for everybody, found {placed.entry.mode:04o}"
                )
    for folder in SHARED_FOLDERS:
        found = subject.root.get(folder)
        if found is None or (found.entry.kind, found.entry.mode) != (_FOLDER, 0o1777):
            state = f"mode {found.entry.mode:04o}" if found else "nothing"
            problems.append(f"/{folder}: expected a folder with mode 1777, found {state}")
    return judged(problems, f"every user can read /{CODE} and /{ENVIRONMENT} and write to /tmp and /out")


def _needed_mode(placed: Placed) -> int:
    if placed.entry.kind == _FOLDER:
        return 0o005
    if placed.entry.kind == _FILE:
        return 0o005 if placed.entry.mode & 0o100 else 0o004
    return 0
