"""Is this image, on this machine, fit to run?  Each check gives a finding, with the exact remedy if it failed."""

import os

from reprobridge_launcher import cparts, fitness, hardware, inventory, outcome, setting, workspace
from reprobridge_launcher.fields import FormatError
from reprobridge_launcher.finding import Finding
from reprobridge_launcher.layout import Layout
from reprobridge_launcher.manifest import Data, Manifest

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Iterator

ENVIRONMENT = "/opt/env"
"""Folder of the tasks' environment in the image."""
NAMED = 5
"""Files that a finding names before it only counts."""


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
        yield data_set(layout, entry)
    machine = hardware.read(uses_gpus=fitness.uses_gpus(manifest.tasks))
    yield from fitness.findings(manifest, manifest.tasks, fitness.offer(machine, layout.out))
    yield temporary_folder()


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


def data_set(layout: Layout, entry: Data) -> Finding:
    """Is a declared data set there, with the declared digest?"""
    name = "data " + entry.id
    try:
        found = setting.data_file(layout, entry)
    except outcome.StopError as stop:
        return Finding(id=name, verdict="failed", detail=str(stop), remedy=stop.hint, code=stop.code)
    return Finding(id=name, verdict="passed", detail=os.path.join(layout.data, found.path))


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


def _broken(name: str, detail: str, remedy: str) -> Finding:
    return Finding(id=name, verdict="failed", detail=detail, remedy=remedy, code=outcome.BROKEN)
