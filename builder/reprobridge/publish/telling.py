"""What a user is told about a publication: before (`--dry-run`) and after, as text and as JSON."""

from collections.abc import Iterator

from reprobridge.digest import Json
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor
from reprobridge.publish.model import Beside, Difference, Publication
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
    task = publication.passed.artifact.tasks[0]
    options = "--rm --network none" + (" --gpus all" if task.resources.gpus else "")
    return f"docker run {options} {target}:{publication.tags.version} run {task.id}"


# before


@frozen(kw_only=True)
class Plan:
    """What publishing would do."""

    publication: Publication
    """What shall stand there."""
    lacking: Difference
    """What of it is lacking."""
    absent: tuple[Descriptor, ...]
    """Blobs of the image that the target does not hold."""
    beside: Beside
    """What is lacking besides the image."""
    target: str
    """For people."""

    @property
    def present(self) -> int:
        """Blobs of the image that the target holds."""
        return len(self.lacking.proven) + len(self.lacking.blobs) - len(self.absent)


def plan_text(plan: Plan) -> str:
    """What would move."""
    return "".join(f"{line}\n" for line in _plan_lines(plan))


def _plan_lines(plan: Plan) -> Iterator[str]:
    lacking, beside = plan.lacking, plan.beside
    yield reference(plan.publication, plan.target)
    if lacking.nothing and not beside.tags:
        yield "is published already: nothing would move"
        return
    size = size_text(sum(blob.size for blob in plan.absent))
    yield f"would move {counted(len(plan.absent), 'blob')} ({size}); {plan.present} there already"
    for blob in plan.absent:
        yield f"  {blob.digest}  {size_text(blob.size)}"
    for one in lacking.attachments:
        yield f"would attach {one.title}"
    if beside.known:
        size = size_text(sum(blob.size for blob in beside.blobs))
        said = f"{counted(len(beside.blobs), 'blob')}, {size}"
        yield f"would make {counted(beside.known, 'layer')} known in the repository ({said})"
    if tags := (*lacking.tags, *beside.tags):
        yield f"would tag {', '.join(tags)}"


def plan_json(plan: Plan) -> Json:
    """The same for machines."""
    return {
        "schema": PLAN_SCHEMA,
        "reference": reference(plan.publication, plan.target),
        "digest": str(plan.publication.digest),
        "move": [blob.to_json() for blob in plan.absent],
        "bytes": sum(blob.size for blob in plan.absent),
        "present": plan.present,
        "attach": [one.title for one in plan.lacking.attachments],
        "tag": list(plan.lacking.tags),
        "beside": {
            "known_layers": plan.beside.known,
            "move": [blob.to_json() for blob in plan.beside.blobs],
            "tag": list(plan.beside.tags),
        },
    }


# afterwards


def done_text(publication: Publication, lacking: Difference, moved: Moved, target: str) -> str:
    """What moved, and what a reader types now."""
    text = "is published already: nothing moved" if lacking.nothing else _moved_text(lacking, moved)
    is_registry = not target.startswith("oci:")
    return f"{text}\n{run_line(publication, target)}" if is_registry else text


def _moved_text(lacking: Difference, moved: Moved) -> str:
    parts = [f"{counted(moved.uploaded, 'blob')} pushed ({size_text(moved.bytes)})"]
    parts += [f"{moved.mounted} mounted"] if moved.mounted else []
    parts += [f"{moved.present} there already"] if moved.present else []
    attached = ", ".join(one.title for one in lacking.attachments)
    parts += [f"attached: {attached}"] if attached else []
    parts += [f"tagged {', '.join(lacking.tags)}"] if lacking.tags else []
    return "; ".join(parts)


def done_json(publication: Publication, lacking: Difference, moved: Moved, target: str) -> Json:
    """The same for machines: what was attached and tagged now."""
    return {
        "schema": SCHEMA,
        "reference": reference(publication, target),
        "digest": str(publication.digest),
        "tagged": list(lacking.tags),
        "attached": [one.title for one in lacking.attachments],
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
