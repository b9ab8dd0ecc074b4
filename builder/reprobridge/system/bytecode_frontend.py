"""Compiling Python sources to bytecode: runs alone, by the image's own interpreter, inside of a room.

Copied into the room as a file (`assemble/bytecode/room.py`), so it imports nothing of ours. Its first argument is a
JSON file with the job: the writable folder, and for each source the file that holds it, where it starts there and how
long it is (to the end of the file where that is null), and its place in the image.
All of it is compiled twice side by side, from both ends and with two hash seeds: what depends on any of it differs.
Each pass leaves in its own folder what it made, one behind the other, and in the order of the job the place and
length of each in there, or the name of the error that kept a source from being compiled. What is the machine's fault,
such as too little memory, ends the pass instead: it must not decide what an image holds.
What is made is what `py_compile` makes with unchecked hashes (PEP 552) and without optimisation.
"""

import importlib.util
import json
import marshal
import subprocess
import sys
from pathlib import Path

PASSES = ("forwards", "backwards")
"""Both passes, which are the names of their folders too; their hash seeds are 0 and 1."""
RESULT = "result.json"
"""What a pass says: the interpreter's tag, and the list of sources."""
BYTECODE = "bytecode"
"""What a pass made."""
FAULTS: tuple[type[Exception], ...] = (SyntaxError, ValueError, OverflowError, FileNotFoundError)
"""What is wrong with a source itself: templates, sources of other Pythons, links of Debian that lead nowhere."""
if sys.version_info < (3, 14):
    FAULTS += (
        RecursionError,
    )  # Its limit is a number in the interpreter; since 3.14 it is the room on the stack.
UNCHECKED = 1
"""Flags in the head of a file of bytecode: it holds its source's hash, which nobody compares (PEP 552)."""


def main(job: str) -> None:
    """Do both passes. Raises RuntimeError with the last word of one that failed."""
    word = [sys.executable, "-sSB", "-W", "ignore", __file__, job]
    started = [
        subprocess.Popen(
            [*word, name],
            env={"PYTHONHASHSEED": str(seed), "LC_ALL": "C.UTF-8"},
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        for seed, name in enumerate(PASSES)
    ]
    said = [one.communicate()[1].strip() for one in started]
    for name, one, words in zip(PASSES, started, said, strict=True):
        if one.returncode:
            raise RuntimeError(f"{name}: {words.splitlines()[-1] if words else f'status {one.returncode}'}")


def compile_all(job_path: str, name: str) -> None:
    """Do one pass. Raises RuntimeError at a source that cannot be compiled here, and what writing raises."""
    job = json.loads(Path(job_path).read_text(encoding="utf-8"))
    sources = list(enumerate(job["sources"]))
    made: list[object] = [None] * len(sources)
    folder = Path(job["work"], name)
    folder.mkdir()
    with (folder / BYTECODE).open("wb") as bytecode:
        for number, (file, start, length, path) in sources if name == PASSES[0] else reversed(sources):
            try:
                compiled = _compiled(_read(file, start, length), path)
            except FAULTS as error:
                made[number] = type(error).__name__
            except Exception as error:  # whatever it is, it may not be there on another machine
                raise RuntimeError(f"{path}: {error!r}") from error
            else:
                made[number] = (bytecode.tell(), len(compiled))
                bytecode.write(compiled)
    result = {"tag": sys.implementation.cache_tag, "made": made}
    (folder / RESULT).write_text(json.dumps(result), encoding="utf-8")


def _read(file: str, start: int, length: int | None) -> bytes:
    with Path(file).open("rb") as stream:
        stream.seek(start)
        return stream.read(length)


def _compiled(source: bytes, path: str) -> bytes:
    """What `importlib` makes of a module's source, as it keeps it."""
    code = compile(source, path, "exec", dont_inherit=True, optimize=0)
    head = importlib.util.MAGIC_NUMBER + UNCHECKED.to_bytes(4, "little") + importlib.util.source_hash(source)
    return head + marshal.dumps(code)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        compile_all(sys.argv[1], sys.argv[2])
    else:
        main(sys.argv[1])
