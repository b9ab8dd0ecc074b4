"""Converter of bytecode: what was compiled (`room.py`) as files beside their sources.

Compiling needs a sandbox and is done for all packages of an image at once, before anything is converted; its result
for one recipe is a blob: one line of JSON, a `Compiled`, and behind it the files' bytes in the same order.
The facts are what was left out, and why.
"""

import json
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from reprobridge.assemble.converter import Inputs
from reprobridge.assemble.fragment import FragmentWriter
from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.frozen import frozen, replace
from reprobridge.oci.tar import EntryKind, TarEntry
from reprobridge.plan.bytecode import bytecode_path
from reprobridge.plan.model import BytecodeRecipe
from reprobridge.store.store import Store

RESULT = "compiled"
"""Kind of the store's results that name the blob of a recipe, by `compiled_key`."""
UNSTABLE = "two compilations differ"
"""Why a file is left out that could be compiled."""


@frozen(kw_only=True)
class Compiled:
    """What came out of compiling the sources of one recipe."""

    files: tuple[tuple[str, int], ...]
    """Image path and length of each file of bytecode, sorted by the paths' bytes."""
    left_out: Mapping[str, str]
    """Sources without bytecode, by image path: the interpreter's error, or `UNSTABLE`."""

    def to_line(self) -> bytes:
        """The first line of the blob."""
        files: Json = [list(row) for row in self.files]
        return canonical_json({"files": files, "left_out": dict(self.left_out)}) + b"\n"

    @classmethod
    def read(cls, stream: BinaryIO) -> "Compiled":
        """From the start of a blob; the stream stands before the first file's bytes then."""
        value = json.loads(stream.readline())
        return cls(files=tuple((path, size) for path, size in value["files"]), left_out=value["left_out"])


def convert(recipe: BytecodeRecipe, inputs: Inputs, writer: FragmentWriter) -> bytes:
    """Write the files that no other package owns, and whose sources none does; the facts say which have none."""
    lost = {path for part in recipe.of for path in part.omit}
    # The winner's source may have no bytecode, and the interpreter would take the loser's for it.
    omitted = {*recipe.omit, *(bytecode_path(path, recipe.python) for path in lost)}
    with inputs.compiled(recipe).open("rb") as stream:
        compiled = Compiled.read(stream)
        for path, size in compiled.files:
            if path in omitted:
                stream.seek(size, 1)
            else:
                writer.stream(TarEntry(path, EntryKind.FILE, 0o644, size), stream)
    left_out = {path: why for path, why in compiled.left_out.items() if path.removeprefix("/") not in lost}
    return canonical_json({"left_out": left_out})


def unstable(facts: bytes) -> Iterator[str]:
    """The sources whose bytecode is left out since it depends on how it is made, sorted."""
    left_out = json.loads(facts)["left_out"]
    return (path for path in sorted(left_out) if left_out[path] == UNSTABLE)


# the store


def undivided(recipe: BytecodeRecipe) -> BytecodeRecipe:
    """The recipe as it is compiled: all of its packages, whoever owns a path in the end."""
    return replace(recipe, of=tuple(replace(part, omit=()) for part in recipe.of), omit=())


def compiled_key(recipe: BytecodeRecipe) -> Digest:
    """Key of what is compiled for a recipe: who owns a path makes no difference to it."""
    return undivided(recipe).key()


def find_compiled(recipe: BytecodeRecipe, store: Store) -> Digest | None:
    """The blob of what was compiled for a recipe, if it is here."""
    match store.result(RESULT, compiled_key(recipe)):
        case {"blob": str(text)} if store.has(blob := Digest.parse(text)):
            return blob
    return None
