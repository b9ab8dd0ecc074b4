"""What a user is told about a publication: before (`--dry-run`) and after, as text and as JSON."""

from collections.abc import Iterator, Sequence

from reprobridge.digest import Json
from reprobridge.oci.model import Descriptor
from reprobridge.publish.publication import Difference, Publication
from reprobridge.registry.transfer import Moved
from reprobridge.wording import counted

PLAN_SCHEMA = "reprobridge.publication-plan/1"
"""Value of `schema` in what `--dry-run --json` prints."""
SCHEMA = "reprobridge.publication/1"
"""Value of `schema` in what `publish --json` prints."""


def reference(publication: Publication, target: str) -> str:
    """The image at its target, by version and digest."""
    return f"{target}:{publication.tags.version}@{publication.digest}"


def run_line(publication: Publication, target: str) -> str:
    """What a reader types to run the first task."""
    task = publication.passed.artifact.tasks[0].id
    return f"docker run --rm {target}:{publication.tags.version} run {task}"


# before


def plan_text(
    publication: Publication, lacking: Difference, absent: Sequence[Descriptor], target: str
) -> str:
    """What would move; `absent`: blobs that the target does not hold."""
    return "".join(f"{line}\n" for line in _plan_lines(publication, lacking, absent, target))


def _plan_lines(
    publication: Publication, lacking: Difference, absent: Sequence[Descriptor], target: str
) -> Iterator[str]:
    yield reference(publication, target)
    if lacking.nothing:
        yield "is published already: nothing would move"
        return
    size = sum(blob.size for blob in absent)
    there = _present(lacking, absent)
    yield f"would move {counted(len(absent), 'blob')} ({size_text(size)}); {there} there already"
    for blob in absent:
        yield f"  {blob.digest}  {size_text(blob.size)}"
    for one in lacking.attachments:
        yield f"would attach {one.title}"
    if lacking.tags:
        yield f"would tag {', '.join(lacking.tags)}"


def plan_json(
    publication: Publication, lacking: Difference, absent: Sequence[Descriptor], target: str
) -> Json:
    """The same for machines."""
    return {
        "schema": PLAN_SCHEMA,
        "reference": reference(publication, target),
        "digest": str(publication.digest),
        "move": [blob.to_json() for blob in absent],
        "bytes": sum(blob.size for blob in absent),
        "present": _present(lacking, absent),
        "attach": [one.title for one in lacking.attachments],
        "tag": list(lacking.tags),
    }


def _present(lacking: Difference, absent: Sequence[Descriptor]) -> int:
    return len(lacking.proven) + len(lacking.blobs) - len(absent)


# afterwards


def done_text(publication: Publication, lacking: Difference, moved: Moved, target: str) -> str:
    """What moved, and what a reader types now."""
    text = "is published already: nothing moved" if lacking.nothing else _moved_text(publication, moved)
    is_registry = not target.startswith("oci:")
    return f"{text}\n{run_line(publication, target)}" if is_registry else text


def _moved_text(publication: Publication, moved: Moved) -> str:
    parts = [f"{counted(moved.uploaded, 'blob')} pushed ({size_text(moved.bytes)})"]
    parts += [f"{moved.mounted} mounted"] if moved.mounted else []
    parts += [f"{moved.present} there already"] if moved.present else []
    attached = [f"attached: {', '.join(one.title for one in publication.attachments)}"]
    tagged = f"tagged {', '.join(publication.tags.all())}"
    return "; ".join([*parts, *(attached if publication.attachments else []), tagged])


def done_json(publication: Publication, moved: Moved, target: str) -> Json:
    """The same for machines."""
    return {
        "schema": SCHEMA,
        "reference": reference(publication, target),
        "digest": str(publication.digest),
        "tags": list(publication.tags.all()),
        "attached": [one.title for one in publication.attachments],
        "bytes": moved.bytes,
        "uploaded": moved.uploaded,
        "mounted": moved.mounted,
        "present": moved.present,
        "run": run_line(publication, target),
    }


def size_text(size: int) -> str:
    """Bytes for people, in powers of ten as registries count them."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"
