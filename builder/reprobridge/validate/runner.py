"""`reprobridge run`: a task in the clean shell, and a second witness of what it did.

The launcher inside runs as the same user as the task, so the task could forge its record. The runner takes
both streams and all files itself, after everything in the sandbox has ended, extracts the value again from
these bytes, and writes a record of its own beside the launcher's, with `witness: runner`:

    OUT/<task>/<run>/evidence.json      the launcher's record
    OUT/<task>/<run>/runner.json        the runner's, same schema (reprobridge.evidence/1)
    OUT/<task>/<run>/runner-stdout.log  what came out of the sandbox; so runner-stderr.log

Where this cannot be written, it is kept in the store, below `evidence`.
A record that counts is kept in the store too (`scored.py`), where `publish` looks for it.
What only the inside can know (hardware, installed packages, exit status of each command) is the launcher's
word in both. What differs between the two is a deviation of the runner's record.
"""

import contextlib
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from reprobridge.errors import StoreError, ValidateError
from reprobridge.frozen import frozen, replace
from reprobridge.sandbox.model import Shell
from reprobridge.system import files
from reprobridge.system.durable import bring_to_disk, write_durably
from reprobridge.system.processes import Completed
from reprobridge.system.trees import take_tree
from reprobridge.validate.scored import RECORD, keep_scored, record_bytes
from reprobridge.validate.shell import LAUNCHER, CleanShell, image_environment, working_directory
from reprobridge.validate.subject import Subject
from reprobridge_launcher import evidence, extraction, judgement, layout, outcome, plan
from reprobridge_launcher.fields import FormatError
from reprobridge_launcher.manifest import Task
from reprobridge_launcher.record import replaced

STREAMS = ("stdout", "stderr")
"""Both streams, by the names of their logs."""

_COMPARED = 1 << 20
_SAID = 1 << 16  # a message of the launcher is shorter
_BEFORE: dict[str, tuple[bytes, ...]] = {"stdout": (), "stderr": (b"warning: ", b"hint: ", b"note: ")}
"""How the lines begin that the launcher says before the first command: of a machine that lacks something, mostly."""
_OWN_LINES = 64  # it says fewer
_KEPT = "evidence"  # the store's folder for what cannot be written to where it should


@frozen(kw_only=True)
class RunRequest:
    """One task to run."""

    task: Task
    """The task."""
    options: plan.Request
    """What differs from the task's own observation."""
    out: Path
    """Folder of all evidence."""
    user: int
    """Uid and gid inside."""
    show: tuple[Callable[[bytes], object], Callable[[bytes], object]]
    """Takes standard output and standard error while the task runs."""


@frozen(kw_only=True)
class RunResult:
    """How a run went."""

    exit_code: int
    """One of the launcher's documented exit codes, by the runner's record."""
    record: evidence.Evidence | None
    """The runner's record (without room for one, the launcher's); None when the launcher left none that fits."""
    folder: Path
    """Where the evidence lies."""
    problem: str = ""
    """Why there is no record."""
    unwritten: ValidateError | None = None
    """Why the evidence does not lie where it should; then it lies in the store."""


@frozen(kw_only=True)
class _Remains:
    """What is there when a run is over."""

    results: Path
    """The folder that stood at /out."""
    nonce: str
    """What the launcher was told, to know its record again."""
    logs: tuple[tuple[Path, BinaryIO], ...]
    """What came out of the sandbox, by stream."""


def run_task(shell: CleanShell, request: RunRequest) -> RunResult:
    """Run a task; its evidence is in the request's folder afterwards, also when we are interrupted.

    When it can't be written there it is in the store, and the result says so; an interrupted run raises ValidateError.
    """
    scratch_place = shell.subject.store.root / "scratch"
    nonce = secrets.token_hex(16)
    with (
        files.shared_folder(shell.subject.store.root / _KEPT) as results,
        files.unfinished(scratch_place) as stdout,
        files.unfinished(scratch_place) as stderr,
    ):
        inside = _inside(shell.subject, request, results, nonce, (stdout[1], stderr[1]))
        remains = _Remains(results=results, nonce=nonce, logs=(stdout, stderr))
        ended: Completed | None = None
        try:
            ended = shell.sandbox.run(shell.subject.layers, inside)
        finally:
            # Also without an end, when we are interrupted: then the record says so, and nobody asks for the result.
            result = _brought(shell.subject, request, remains, ended)
            if ended is None and result.unwritten is not None:
                raise result.unwritten
        return result


def _brought(
    subject: Subject, request: RunRequest, remains: "_Remains", ended: Completed | None
) -> RunResult:
    """Everything that a run left, brought into the evidence; what can't be written there stays in the store."""
    places = [request.out / run.relative_to(remains.results) for run in remains.results.glob("*/*")]
    new = [place for place in places if not place.exists()]
    try:
        return _taken(subject, request, remains, ended, request.out)
    except OSError as error:
        for folder in new:
            files.remove_folder(folder)
        kept, result = _kept(subject, request, remains, ended)
        unwritten = ValidateError(
            "the evidence cannot be written",
            where=str(request.out),
            expected="a folder that may be written, with room",
            found=error.strerror or str(error),
            hint=f"what was measured is kept in {kept}; before the next run make room, or name another folder: --out DIR",
        )
        return replace(result, unwritten=unwritten)


def _kept(
    subject: Subject, request: RunRequest, remains: "_Remains", ended: Completed | None
) -> tuple[Path, RunResult]:
    """Everything that a run left, in the store: with the runner's record, or as it is when there is no room."""
    kept = subject.store.root / _KEPT / remains.nonce
    try:
        return kept, _taken(subject, request, remains, ended, kept)
    except (OSError, StoreError):
        found = _launchers_record(remains, request)
        files.remove_folder(kept)
        files.move_folder(remains.results, kept)
        with contextlib.suppress(OSError):  # there was no room; what the launcher wrote is on the disk
            bring_to_disk(kept, within=kept.parent)
        record, problem = (None, found) if isinstance(found, str) else (found[0], "")
        return kept, RunResult(exit_code=outcome.FAILED, record=record, folder=kept, problem=problem)


def _taken(
    subject: Subject, request: RunRequest, remains: "_Remains", ended: Completed | None, out: Path
) -> RunResult:
    """Everything that a run left, in the folder `out` with the runner's record. Raises OSError."""
    left = take_tree(remains.results, out)
    for run in remains.results.glob("*/*"):
        bring_to_disk(out / run.relative_to(remains.results), within=out.parent)
    found = _launchers_record(remains, request)
    code = outcome.FAILED if ended is None else ended.returncode
    if isinstance(found, str):
        how = "was interrupted" if ended is None else f"ended with {code}: {_last_words(remains, ended)}"
        return RunResult(
            exit_code=code or outcome.FAILED,
            record=None,
            folder=out / request.task.id,
            problem=f"{found}; the launcher {how}",
        )
    record, name = found
    folder = out / request.task.id / name
    for stream, (path, written) in zip(STREAMS, remains.logs, strict=True):
        written.flush()
        files.link_or_copy(path, folder / f"runner-{stream}.log", mode=files.USUAL)
    record = _witnessed(subject, request, record, folder, left)
    write_durably(folder / RECORD, record_bytes(record), mode=files.USUAL)
    keep_scored(subject.store, subject.artifact, record)
    measured = outcome.MEASURED if record.value is not None else code or outcome.NOT_EXTRACTED
    return RunResult(exit_code=measured, record=record, folder=folder)


def _last_words(remains: _Remains, ended: Completed) -> str:
    """What the launcher said at its end, with its hint; else the last line of standard error."""
    path, written = remains.logs[1]
    written.flush()
    with path.open("rb") as stream:
        stream.seek(max(path.stat().st_size - _SAID, 0))
        _, told, words = f"\n{stream.read().decode(errors='backslashreplace')}".rpartition("\nrra: ")
    return "; ".join(words.splitlines()) if told else ended.failure


def _inside(
    subject: Subject, request: RunRequest, results: Path, nonce: str, logs: tuple[BinaryIO, BinaryIO]
) -> Shell:
    """The launcher's command; the streams go to our logs and to whoever watches."""
    told = {"RRA_NONCE": nonce, "RRA_IMAGE_DIGEST": str(subject.digest)}
    return Shell(
        argv=(LAUNCHER, "run", request.task.id, *_words(request.options)),
        environment={**image_environment(subject), **told},
        cwd=working_directory(subject),
        uid=request.user,
        gid=request.user,
        writable={"/out": results},
        on_stdout=_both(logs[0].write, request.show[0]),
        on_stderr=_both(logs[1].write, request.show[1]),
    )


def _words(options: plan.Request) -> Iterator[str]:
    if options.seed is not None:
        yield f"--seed={options.seed}"
    if options.repeat is not None:
        yield f"--repeat={options.repeat}"
    if options.anyway:
        yield "--anyway"


def _both(one: Callable[[bytes], object], other: Callable[[bytes], object]) -> Callable[[bytes], None]:
    def take(block: bytes) -> None:
        one(block)
        other(block)

    return take


def _launchers_record(remains: _Remains, request: RunRequest) -> tuple[evidence.Evidence, str] | str:
    """The record of this run and its folder's name, or why there is none."""
    found = sorted(path.parent for path in (remains.results / request.task.id).glob(f"*/{evidence.NAME}"))
    if len(found) != 1:
        return f"{len(found)} records of one run were left" if found else "nothing was recorded"
    try:
        record = evidence.load(str(found[0]))
    except (FormatError, OSError) as error:
        return f"the launcher's record is broken: {error}"
    if (record.nonce, record.task, record.mode) != (remains.nonce, request.task.id, "scored"):
        return "the record in the results is of another run"
    return record, found[0].name


def _witnessed(
    subject: Subject, request: RunRequest, record: evidence.Evidence, folder: Path, left: list[str]
) -> evidence.Evidence:
    """The record as the bytes that we took show it."""
    task = request.task
    parts = tuple(_extracted(task, part, folder) for part in record.parts)
    values = [part.value for part in parts if part.value is not None]
    complete = len(values) == len(plan.steps(task, request.options))
    value = plan.combined(task, values) if complete else None
    differences = [
        *_differences(record, value, folder),
        *(f"not taken, since no file: {path}" for path in left),
    ]
    deviations = tuple(
        dict.fromkeys((*plan.deviations(task, request.options), *record.deviations, *differences))
    )
    state = "finished" if record.state == "finished" else "interrupted"
    return replaced(
        record,
        state=state,
        witness="runner",
        artifact=replaced(record.artifact, image=str(subject.digest)),
        parts=parts,
        value=value,
        deviations=deviations,
        comparison=None if value is None or deviations else _comparison(subject, task, value),
        failure=None if value is not None else record.failure or _failure(state, parts),
        files=evidence.files(str(folder)),
    )


def _failure(state: str, parts: tuple[evidence.Part, ...]) -> evidence.Failure:
    """Why there is no value, where the launcher's record has no word on it."""
    if state == "interrupted":
        return evidence.Failure(class_="infrastructure", message="stopped before the run's end", lines=())
    why = next((part.no_value for part in parts if part.no_value), "commands are missing")
    return evidence.Failure(class_="extraction_error", message=str(why), lines=())


def _extracted(task: Task, part: evidence.Part, folder: Path) -> evidence.Part:
    """The part with its value read again; a command that failed has none."""
    if part.exit_code != 0 or part.timed_out or part.problem or part.interrupted is not None:
        return replaced(part, value=None, matches=(), no_value="the command didn't succeed")
    found = extraction.extract(task.extract, str(folder / part.folder))
    if isinstance(found, extraction.Extracted):
        return replaced(part, value=found.value, matches=found.matches, no_value=None)
    return replaced(part, value=None, matches=(), no_value=found.reason)


def _differences(record: evidence.Evidence, value: float | None, folder: Path) -> Iterator[str]:
    """In what the launcher's word and the bytes differ."""
    if value != record.value:
        yield f"the launcher recorded the value {record.value}, the runner extracted {value}"
    for stream in STREAMS:
        logs = [folder / part.folder / f"{stream}.log" for part in record.parts]
        if not _holds(folder / f"runner-{stream}.log", logs, _BEFORE[stream]):
            yield f"{stream}.log is not what came out of the sandbox"


def _holds(whole: Path, pieces: list[Path], own: tuple[bytes, ...]) -> bool:
    """Whether a log is lines that begin as the launcher's own do, these logs one after the other, and any words.

    A task's log may begin with such lines too, so after each of them the logs may begin.
    """
    with whole.open("rb") as stream:
        for _ in range(_OWN_LINES):
            place = stream.tell()
            if all(_continues(stream, piece) for piece in pieces):
                return True
            stream.seek(place)
            line = stream.readline(_SAID)
            if not (line.startswith(own) and line.endswith(b"\n")):
                return False
    return False


def _continues(stream: BinaryIO, piece: Path) -> bool:
    """Whether a stream goes on with this log; it stands behind it then."""
    if not piece.is_file():
        return False
    with piece.open("rb") as part:
        while block := part.read(_COMPARED):
            if stream.read(len(block)) != block:
                return False
    return True


def _comparison(subject: Subject, task: Task, value: float) -> evidence.Comparison:
    """The launcher's own comparison, with the references of the image."""
    with files.scratch_folder(subject.store.root / "scratch") as root:
        image = layout.of_root(str(root))
        references = subject.read("rra/references.json")
        if references is not None:
            files.write_file(Path(image.references), references)
        return judgement.comparison(image, task, value)
