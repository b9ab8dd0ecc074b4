"""Evidence: what a run leaves behind, in /out/<task>/<run id>/.

    evidence.json             the record below, schema `reprobridge.evidence/1`
    stdout.log stderr.log     the streams of the command, byte for byte
    outputs/                  what the command wrote to $RRA_OUT, and result files that it wrote beside its code

A task that takes several commands (seeds, repeats) has the last three for each of them in a folder of its own:
`part-1`, `part-2`, ...

Evidence is only ever added: each run makes a folder that didn't exist.  The record is written twice: when the run
begins, with the state `running`, and when it has ended, by an atomic exchange.  So a run whose launcher was
killed leaves a record that says `running`, without an end: it never counts.
Times are seconds since 1970 (UTC).
"""

import errno
import os
import time

from reprobridge_launcher import cparts, fields
from reprobridge_launcher.extraction import Match
from reprobridge_launcher.hardware import Hardware
from reprobridge_launcher.manifest import Distribution, Experiment
from reprobridge_launcher.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Literal

    from reprobridge_launcher.interval import Policy

    FailureClass = Literal["execution_blocked", "resource_or_access", "extraction_error", "infrastructure"]
    """Failures of a run, as measurement distinguishes them."""

SCHEMA = "reprobridge.evidence/1"
"""Value of `schema`."""
NAME = "evidence.json"
"""Name of the record's file."""


class File(Record):
    """One file of the evidence."""

    path: "str"
    """Below the run's folder."""
    sha256: "str"
    """64 hexadecimal digits."""
    size: "int"
    """Bytes."""


class ArtifactRef(Record):
    """Which artifact ran."""

    paper: "str"
    """Id of the paper."""
    id: "str"
    """Digest of spec and lock."""
    version: "str"
    """Image tag."""
    image: "str | None"
    """Digest of the image, as whoever started the container told by RRA_IMAGE_DIGEST."""


class Code(Record):
    """Which code ran."""

    commit: "str | None"
    """Of the source."""
    tree: "str"
    """Digest of the tree that was executed."""
    expected: "str"
    """Digest of the tree as the manifest states it."""
    changes: "tuple[str, ...]"
    """Ids of the registered changes in it."""


class Setting(Record):
    """The environment that ran."""

    python: "str | None"
    """Path of the interpreter."""
    distributions: "tuple[Distribution, ...]"
    """What lies in the interpreter's own site-packages at the start of the run, by its own metadata."""
    locks: "tuple[tuple[str, str], ...]"
    """Path and digest of each."""
    variables: "tuple[tuple[str, str], ...]"
    """Every variable of the first command; there are no others."""
    network: "Literal['none', 'available']"
    """Was there any network interface besides the loopback?"""


class Config(Record):
    """What the task fixes beyond its commands, so that a record can be read without its image."""

    experiment: "Experiment | None"
    """Data set, split and variant; None where the artifact names none."""
    scope: "Literal['full_pipeline', 'evaluation_only']"
    """What is reproduced."""
    checkpoints: "tuple[str, ...]"
    """Trained models that the task may read."""
    statistic: "Literal['value', 'mean', 'median', 'best', 'last']"
    """How the parts' values become one."""
    seeds: "tuple[int, ...]"
    """All seeds of an observation; empty: the task takes none."""
    repeats: "int"
    """Commands for each seed."""


class Part(Record):
    """One command of the observation."""

    folder: "str"
    """Below the run's folder; `.` for the only part."""
    seed: "int | None"
    """None where the task has no seeds."""
    repeat: "int"
    """Counts from 1."""
    argv: "tuple[str, ...]"
    """Program and arguments."""
    cwd: "str"
    """The working copy."""
    start: "float"
    """When the command was started."""
    end: "float"
    """When its process group had ended."""
    timeout: "float | None"
    """Limit in seconds."""
    exit_code: "int | None"
    """None where a signal ended it or it never started."""
    signal: "int | None"
    """Signal that ended it."""
    timed_out: "bool"
    """Was it stopped since its time was over?"""
    interrupted: "int | None"
    """Signal that reached the launcher and stopped the command."""
    left_behind: "bool"
    """Background processes had to be stopped after the command's end."""
    cpu_seconds: "float"
    """User and system time."""
    peak_memory: "int"
    """Bytes."""
    problem: "str | None"
    """Why it couldn't be started or recorded."""
    value: "float | None"
    """In the task's unit, unrounded."""
    matches: "tuple[Match, ...]"
    """Where the value stands; files are named from the part's folder."""
    no_value: "str | None"
    """Why there is no value."""


class Comparison(Record):
    """The value beside the published one and the interval; without references only the first is known."""

    published: "float | None"
    """As in the paper; None: the paper gives none."""
    verdict: "Literal['compatible', 'incompatible', 'invalid'] | None" = None
    """None: there are no references to compare with."""
    low: "float | None" = None
    """Lower end of the interval, inclusive."""
    high: "float | None" = None
    """Upper end of the interval, inclusive."""
    n: "int | None" = None
    """Observations behind the interval."""
    policy: "Policy | None" = None
    """How the interval was derived from them, so that it can be derived again."""
    kind: "str | None" = None
    """`prediction`, or `floor_only` where fewer than two observations give no prediction interval."""
    relative_half_width: "float | None" = None
    """Half-width / |mean| of the interval."""
    low_power: "bool" = False
    """Half-width over 10 % of |mean|: wrong procedures pass easily."""
    cut: "bool" = False
    """Was the interval cut at the quantity's bounds?"""
    degenerate: "bool" = False
    """Is the interval the single point 0?"""
    rounding_only: "bool" = False
    """Would only the value rounded as published be compatible?"""
    published_in_interval: "bool | None" = None
    """Does the published value itself lie in the interval?  None: one of the two is missing.

    Where it does not, `compatible` says that the value is that of the references, and nothing of the paper.
    """


class Failure(Record):
    """Why there is no value."""

    class_: "Literal['execution_blocked', 'resource_or_access', 'extraction_error', 'infrastructure']"
    """The key is `class`."""
    message: "str"
    """What happened."""
    lines: "tuple[str, ...]"
    """First lines of the log that look like an error."""


class Evidence(Record):
    """Everything about one run of one task."""

    state: "Literal['running', 'finished', 'interrupted']"
    """`running` in a record at rest: the launcher was killed before the run's end."""
    witness: "Literal['launcher', 'runner']"
    """Who wrote it: the launcher runs as the same user as the task, so the task could forge its records."""
    run: "str"
    """Id of the run, which names its folder."""
    nonce: "str | None"
    """What whoever started the container put into RRA_NONCE."""
    mode: "Literal['scored', 'smoke']"
    """A smoke run never counts."""
    task: "str"
    """Id of the task."""
    task_digest: "str"
    """Of the task's frozen spec."""
    config: "Config | None" = None
    """What the task fixes; None in records of releases that did not say it."""
    artifact: "ArtifactRef"
    """Which artifact ran."""
    code: "Code"
    """Which code ran."""
    setting: "Setting"
    """In which environment."""
    hardware: "Hardware"
    """On which machine."""
    unfit: "tuple[str, ...]" = ()
    """What the machine lacks by the task's word, where it was run there all the same (`--anyway`)."""
    deviations: "tuple[str, ...]"
    """How the run differs from the observation that the task defines; with any, nothing is compared."""
    start: "float"
    """When the run began."""
    end: "float | None"
    """None while it runs."""
    parts: "tuple[Part, ...]"
    """Its commands, in their order."""
    inputs: "tuple[File, ...]"
    """Declared data sets by path below /data, with digest and size of the files as they lay there."""
    files: "tuple[File, ...]"
    """Every file of the run but this record."""
    value: "float | None"
    """None where a part gave none."""
    unit: "str"
    """Of the value."""
    comparison: "Comparison | None"
    """None without a value, in smoke runs and with deviations."""
    failure: "Failure | None"
    """None where there is a value."""


def parse(value: object) -> Evidence:
    """Read a record from its JSON value; FormatError says what is wrong and where."""
    return fields.read(Evidence, fields.without_schema(value, SCHEMA), "", CLASSES)


def _policy(value: object, place: str) -> "Policy":
    """Read the policy of an interval; a run needs its module only when it has ended."""
    from reprobridge_launcher.interval import Policy

    return fields.read(Policy, value, place, {})


def load(folder: str) -> Evidence:
    """Read the record of a run's folder."""
    return parse(fields.document(os.path.join(folder, NAME)))


def form(evidence: Evidence) -> "dict[str, object]":
    """JSON value of a record, the inverse of `parse`."""
    return dict({"schema": SCHEMA}, **fields.form(evidence))


def new_run(base: str, task: str, mode: str) -> "tuple[str, str]":
    """Make the folder of a new run; returns the run's id and the folder."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    run = "{}{}-{}".format("smoke-" if mode == "smoke" else "", stamp, os.urandom(3).hex())
    folder = os.path.join(base, task, run)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    os.mkdir(folder)
    return run, folder


def write(evidence: Evidence, folder: str) -> None:
    """Put a record in place, in one step also over an earlier one of the same run; `keep` makes it durable."""
    path = os.path.join(folder, NAME)
    new = path + ".new"
    if os.path.lexists(new):  # a task may have put anything there, such as a pipe that nobody reads
        os.unlink(new)
    try:
        with open(new, "xb") as stream:
            stream.write(cparts.json_text(form(evidence)).encode("ascii") + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        os.rename(new, path)
    except OSError:
        if os.path.isfile(new):
            os.unlink(new)
        raise


def keep(evidence: Evidence, folder: str) -> None:
    """Put a finished record in place, and bring it to the disk with the names of all folders that lead to it."""
    write(evidence, folder)
    for _level in ("run", "task", "out"):
        sync_folder(folder)
        folder = os.path.dirname(folder)


def files(folder: str) -> "tuple[File, ...]":
    """Every regular file below a run's folder but the record itself, brought to the disk, sorted by path."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            if os.path.islink(path) or not os.path.isfile(path) or path == os.path.join(folder, NAME):
                continue
            sync(path)
            digest, size = cparts.file_digest(path)
            found.append(File(path=os.path.relpath(path, folder), sha256=digest, size=size))
        sync_folder(parent)
    return tuple(found)


def sync_folder(path: str) -> None:
    """Bring the names in a folder to the disk, where its file system and mode let us say so."""
    try:
        sync(path)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EINVAL, errno.ENOTSUP):
            raise


def sync(path: str) -> None:
    """Bring a file or folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


CLASSES = {
    name: made
    for name, made in list(globals().items())
    if isinstance(made, type) and issubclass(made, Record)
}  # type: fields.Readers
"""Records of this format by the names that annotations use."""
CLASSES["Policy"] = _policy
