"""Is this image, on this machine, fit to run?  Each check gives a finding, with the exact remedy if it failed."""

import os

from reprobridge_launcher import cparts, hardware, inventory, outcome, workspace
from reprobridge_launcher.fields import FormatError
from reprobridge_launcher.layout import Layout
from reprobridge_launcher.manifest import Manifest, Task
from reprobridge_launcher.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Iterator, Literal

ENVIRONMENT = "/opt/env"
"""Folder of the tasks' environment in the image."""
NAMED = 5
"""Files that a finding names before it only counts."""


class Finding(Record):
    """What one check found."""

    id: "str"
    """Name of the check."""
    verdict: "Literal['passed', 'warning', 'failed']"
    """A warning doesn't keep tasks from running."""
    detail: "str"
    """What was found."""
    remedy: "str | None" = None
    """What to do about it."""
    code: "int" = 0
    """Exit code of a failure."""


def all_checks(layout: Layout, manifest: Manifest) -> "Iterator[Finding]":
    """Run every check, gravest first."""
    listed = _inventory(layout, manifest)
    if isinstance(listed, Finding):
        yield listed
    else:
        yield integrity("code", listed, layout.system, [layout.code])
        yield integrity("environment", listed, layout.system, _roots(listed, layout))
        yield from _completeness(listed, manifest, layout)
    for entry in manifest.data:
        yield data_set(layout, entry.id, entry.path, entry.sha256)
    yield from fitness(layout, manifest, manifest.tasks)
    yield temporary_folder()


def fitness(layout: Layout, manifest: Manifest, tasks: "tuple[Task, ...]") -> "Iterator[Finding]":
    """Check hardware and driver against what the tasks and the environment declare."""
    yield gpu(manifest, max([task.resources.gpus for task in tasks] or [0]))
    memory = max([task.resources.memory or 0 for task in tasks] or [0])
    yield _enough(
        "memory", memory, hardware.memory("MemAvailable"), "docker run --memory … or a larger machine"
    )
    disk = max([task.resources.disk or 0 for task in tasks] or [0])
    place = layout.out if os.path.isdir(layout.out) else layout.system or "/"
    status = os.statvfs(place)
    remedy = "mount a folder with more room: docker run -v FOLDER:{}".format(layout.out)
    yield _enough("disk", disk, status.f_bavail * status.f_frsize, remedy)


def _inventory(layout: Layout, manifest: Manifest) -> "list[inventory.Entry] | Finding":
    remedy = "pull or load the image again; an image without its inventory can't be trusted"
    if manifest.integrity is None:
        return _broken("inventory", "the manifest names no inventory", remedy)
    try:
        with open(layout.system + manifest.integrity, encoding="utf-8", errors="surrogateescape") as stream:
            return inventory.read(stream.read())
    except (OSError, FormatError) as error:
        return _broken("inventory", "{}: {}".format(manifest.integrity, error), remedy)


def _roots(listed: "list[inventory.Entry]", layout: Layout) -> "list[str]":
    """Folders of the inventory besides the code: those that hold an environment, such as /opt/env."""
    code = layout.code[len(layout.system) :] + "/"
    outside = [entry.path for entry in listed if not entry.path.startswith(code)]
    return sorted({layout.system + "/".join(path.split("/")[:3]) for path in [ENVIRONMENT + "/", *outside]})


def _completeness(listed: "list[inventory.Entry]", manifest: Manifest, layout: Layout) -> "Iterator[Finding]":
    """Refuse an inventory that leaves out what it is there for."""
    needed = [layout.code[len(layout.system) :] + "/"]
    if (manifest.environment.python or "").startswith(ENVIRONMENT + "/"):
        needed.append(ENVIRONMENT + "/")
    for folder in needed:
        if not any(entry.path.startswith(folder) for entry in listed):
            yield _broken("inventory", "it lists no file of " + folder, "build the image again")


def integrity(name: str, listed: "list[inventory.Entry]", system: str, roots: "list[str]") -> Finding:
    """Compare every file below the roots with the inventory: missing, changed, unexpected."""
    wrong = []
    seen = set()
    count = 0
    for entry in listed:
        path = system + entry.path
        if any(path.startswith(root + "/") for root in roots):
            count += 1
            seen.add(path)
            wrong += ["{} {}".format(problem, entry.path) for problem in _difference(entry, path)]
    for path in _present(roots):
        if path not in seen:
            wrong.append("unexpected " + path[len(system) :])
    if not wrong:
        return Finding(id=name, verdict="passed", detail="{} files are as built".format(count))
    shown = ", ".join(wrong[:NAMED]) + (", …" if len(wrong) > NAMED else "")
    detail = "{} of {} files differ: {}".format(len(wrong), count, shown)
    return _broken(name, detail, "start a new container of the image, without mounts over its folders")


def _difference(entry: inventory.Entry, path: str) -> "list[str]":
    if not os.path.lexists(path):
        return ["missing"]
    if os.path.islink(path):
        same = inventory.link_entry(entry.path, os.readlink(path)) == entry
        return [] if same else ["changed link"]
    mode = os.stat(path).st_mode
    if not os.path.isfile(path) or cparts.file_digest(path)[0] != entry.sha256:
        return ["changed"]
    return [] if inventory.file_entry(entry.path, mode, entry.sha256) == entry else ["changed mode of"]


def _present(roots: "list[str]") -> "Iterator[str]":
    for root in roots:
        for parent, folders, names in os.walk(root):
            links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
            for name in names + links:
                yield os.path.join(parent, name)


def data_set(layout: Layout, name: str, path: str, sha256: str) -> Finding:
    """Is a declared data set there, with the declared digest?"""
    full = os.path.join(layout.data, path)
    remedy = "docker run -v FILE:{}:ro, with the file of SHA-256 {}".format(full, sha256)
    if not os.path.isfile(full):
        detail = "{} is missing".format(full)
        return Finding(
            id="data " + name, verdict="failed", detail=detail, remedy=remedy, code=outcome.DATA_MISSING
        )
    found = cparts.file_digest(full)[0]
    if found != sha256:
        detail = "{} has SHA-256 {}, expected {}".format(full, found, sha256)
        return Finding(
            id="data " + name, verdict="failed", detail=detail, remedy=remedy, code=outcome.DATA_MISSING
        )
    return Finding(id="data " + name, verdict="passed", detail=full)


def gpu(manifest: Manifest, wanted: int) -> Finding:
    """Are there enough GPUs, and is the driver new enough for the environment's CUDA?"""
    needs = manifest.environment.gpu
    found = hardware.gpus()
    driver = hardware.driver()
    if wanted == 0:
        return Finding(id="gpu", verdict="passed", detail="no task needs one")
    if len(found) < wanted:
        detail = "a task needs {} NVIDIA GPUs, found {}".format(wanted, len(found))
        remedy = "docker run --gpus all … (needs the NVIDIA Container Toolkit on the host)"
        if driver is None:
            remedy = "run on a machine with an NVIDIA GPU and its driver, by docker run --gpus all …"
        return Finding(id="gpu", verdict="failed", detail=detail, remedy=remedy, code=outcome.UNFIT)
    least = needs and (needs.driver or hardware.DRIVER_OF_CUDA.get(needs.cuda.split(".")[0]))
    if needs and least and driver and hardware.version_key(driver) < hardware.version_key(least):
        detail = "CUDA {} needs driver {} or later, found {}".format(needs.cuda, least, driver)
        remedy = "install NVIDIA driver {} or later on the host".format(least)
        return Finding(id="gpu", verdict="failed", detail=detail, remedy=remedy, code=outcome.UNFIT)
    return Finding(id="gpu", verdict="passed", detail="{}; driver {}".format(", ".join(found), driver))


def temporary_folder() -> Finding:
    """Is there scratch that takes files and lets programs be executed?"""
    places = workspace.scratch_places()
    remedy = "docker run --tmpfs /tmp:exec,mode=1777 …"
    if not places:
        detail = "no writable scratch folder"
        return Finding(id="tmp", verdict="failed", detail=detail, remedy=remedy, code=outcome.UNFIT)
    if workspace.is_noexec(places[0]):
        detail = "{} is mounted noexec: tasks that compile code at run time fail".format(places[0])
        return Finding(id="tmp", verdict="warning", detail=detail, remedy=remedy)
    return Finding(id="tmp", verdict="passed", detail=places[0])


def _enough(name: str, wanted: int, found: int, remedy: str) -> Finding:
    detail = "{:.1f} GiB, tasks need {:.1f}".format(found / (1 << 30), wanted / (1 << 30))
    if found < wanted:
        return Finding(id=name, verdict="failed", detail=detail, remedy=remedy, code=outcome.UNFIT)
    return Finding(id=name, verdict="passed", detail=detail)


def _broken(name: str, detail: str, remedy: str) -> Finding:
    return Finding(id=name, verdict="failed", detail=detail, remedy=remedy, code=outcome.BROKEN)
