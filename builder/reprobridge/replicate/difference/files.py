"""Comparing two layers path by path, from their scans: no file's bytes are held."""

from collections.abc import Iterator

from reprobridge.assemble.index import IndexEntry
from reprobridge.oci.tar import EntryKind
from reprobridge.replicate.difference.model import (
    Aspect,
    AspectChange,
    FileChanged,
    FileDifference,
    FileOnly,
    Files,
    Side,
    Unlike,
)
from reprobridge.validate.scan import LayerScan


def compare_scans(before: LayerScan, after: LayerScan) -> Files:
    """What differs inside of two layers whose compressed bytes differ."""
    if before.diff_id == after.diff_id:
        return Files((), Unlike.COMPRESSION)
    found = tuple(_differences(before, after))
    if found:
        return Files(found, None)
    order = [entry.path for entry in before.entries] != [entry.path for entry in after.entries]
    return Files((), Unlike.ORDER if order else Unlike.HEADERS)


def _differences(before: LayerScan, after: LayerScan) -> Iterator[FileDifference]:
    old = {entry.path: entry for entry in before.entries}
    new = {entry.path: entry for entry in after.entries}
    for path in sorted({*old, *new}):
        if path not in new:
            yield FileOnly(path, Side.BEFORE)
        elif path not in old:
            yield FileOnly(path, Side.AFTER)
        elif aspects := tuple(_aspects(old[path], new[path])):
            yield FileChanged(path, aspects)


def _aspects(before: IndexEntry, after: IndexEntry) -> Iterator[AspectChange]:
    """A path whose kind differs is another thing: its content and target are not compared."""
    content = Aspect.CONTENT if before.kind == EntryKind.FILE.value else Aspect.TARGET
    pairs = {Aspect.KIND: (_kind(before), _kind(after))}
    if before.kind == after.kind:
        pairs[content] = (before.content, after.content)
    pairs[Aspect.MODE] = (f"{before.mode:04o}", f"{after.mode:04o}")
    pairs[Aspect.OWNER] = (f"{before.uid}:{before.gid}", f"{after.uid}:{after.gid}")
    for aspect, (old, new) in pairs.items():
        if old != new:
            yield AspectChange(aspect, old, new)


def _kind(entry: IndexEntry) -> str:
    return EntryKind(entry.kind).name.lower()
