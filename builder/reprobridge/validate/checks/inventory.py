"""Are the files of code and environment those that the image's inventory lists?"""

from collections.abc import Iterator

from reprobridge.oci.tar import EntryKind
from reprobridge.validate.model import Finding, judged
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import CODE, ENVIRONMENT, Subject
from reprobridge.wording import counted
from reprobridge_launcher import inventory
from reprobridge_launcher.fields import FormatError

SHOWN = 20
"""Most differences that the evidence names."""


def check_inventory(shell: CleanShell) -> Finding:
    """Compare both ways: missing, changed and unexpected files; and the code with the manifest's tree."""
    subject = shell.subject
    place = subject.artifact.integrity
    data = subject.read(place.strip("/")) if place else None
    if data is None:
        return judged(
            [f"expected an inventory at {place or 'a place that the manifest names'}, found none"], ""
        )
    try:
        listed = {entry.path: entry for entry in inventory.read(data.decode("utf-8", "surrogateescape"))}
    except FormatError as error:
        return judged([f"{place}: {error}"], "")
    present = {entry.path: entry for entry in _present(subject)}
    problems = [*_differences(listed, present), *_tree_problems(subject, present)]
    more = [f"and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
    return judged([*problems[:SHOWN], *more], f"{counted(len(listed), 'file')} as listed in {place}")


def _present(subject: Subject) -> Iterator[inventory.Entry]:
    for folder in (CODE, ENVIRONMENT):
        for path, placed in subject.below(folder).items():
            entry = placed.entry
            match EntryKind(entry.kind):
                case EntryKind.FILE:
                    yield inventory.file_entry(f"/{path}", entry.mode, entry.content)
                case EntryKind.SYMLINK:
                    yield inventory.link_entry(f"/{path}", entry.content)
                case EntryKind.HARDLINK:
                    target = subject.root[entry.content].entry
                    yield inventory.file_entry(f"/{path}", target.mode, target.content)
                case EntryKind.DIRECTORY:
                    continue


def _differences(listed: dict[str, inventory.Entry], present: dict[str, inventory.Entry]) -> Iterator[str]:
    for path in sorted(listed.keys() | present.keys()):
        expected, found = listed.get(path), present.get(path)
        if found is None:
            yield f"{path}: listed, but not there"
        elif expected is None:
            yield f"{path}: there, but not listed"
        elif expected != found:
            yield f"{path}: listed as {expected.mode} {expected.sha256[:12]}, found {found.mode} {found.sha256[:12]}"


def _tree_problems(subject: Subject, present: dict[str, inventory.Entry]) -> Iterator[str]:
    root = f"/{CODE}"
    code = [entry for path, entry in present.items() if path.startswith(f"{root}/")]
    found, stated = inventory.tree_digest(code, root), subject.artifact.source.tree
    if found != stated:
        yield f"{root}: the manifest states the tree {stated[:12]}, found {found[:12]}"
