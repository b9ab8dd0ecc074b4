"""What every sandbox takes and gives: layers, a shell, and how its command ended.

A sandbox makes a root from layers, read-only, and runs one command in it: in the environment that the shell
names and no other, without network unless asked, with /dev/null to read, as a user without rights.
Nothing of the host is visible but the folders that the shell binds.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from reprobridge.digest import Digest
from reprobridge.frozen import field, frozen
from reprobridge.system.processes import Completed

STRANGER = 65534
"""Default user and group: nobody, who owns nothing in an image."""
KEPT = 16 << 20
"""Bytes of each stream that are kept when no sink takes it; the rest is dropped and said so."""
FIRST = 64 << 10
"""Bytes of each stream that are kept when a sink takes it too."""
NOT_FOUND = 127
"""Exit status when the image lacks the program, as in a shell."""


@frozen
class Layer:
    """One layer of a root."""

    diff_id: Digest
    """Of its tar stream; checked when it is unpacked."""
    digest: Digest
    """Of its compressed bytes."""
    blob: Path
    """Where these bytes lie: a gzip-compressed tar."""


@frozen(kw_only=True)
class Shell:
    """A command and everything that it can see."""

    argv: tuple[str, ...]
    """Program (an absolute path, or a name on the environment's PATH) and arguments."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The whole environment."""
    cwd: str = "/"
    """Where it starts, in the image."""
    uid: int = STRANGER
    """User."""
    gid: int = STRANGER
    """Group."""
    tmpfs: tuple[str, ...] = ("/tmp", "/out")  # noqa: S108  places in the image, not on this machine
    """Empty writable folders in memory, mode 1777."""
    readonly: Mapping[str, Path] = field(default_factory=dict)
    """Place in the image -> host folder or file that stands there, read-only: declared data."""
    writable: Mapping[str, Path] = field(default_factory=dict)
    """Place in the image -> host folder for results. The command is a stranger to the host as well, so the
    folder must let anybody write (`system.files.shared_folder`)."""
    network: bool = False
    """Whether it may reach the network."""
    timeout: float | None = None
    """Seconds after which everything in the sandbox is killed."""
    on_stdout: Callable[[bytes], object] | None = None
    """Takes standard output as it comes; kept up to `KEPT` bytes when None."""
    on_stderr: Callable[[bytes], object] | None = None
    """Takes standard error likewise."""


@frozen
class Unusable:
    """Why a sandbox does not work on this machine."""

    reason: str
    """What is missing or forbidden."""
    hint: str
    """What the user, or whoever administers the machine, can do."""


class Sandbox(Protocol):
    """A way to run commands in an image's root."""

    @property
    def kind(self) -> str:
        """Its name for users: `bubblewrap`, `docker`, `podman`."""

    def probe(self, *, wanted: bool) -> Unusable | None:
        """None when it works here; tries it rather than looking at versions.

        `wanted`: the user has named it, so that what can only be told by starting a command is left to `run`.
        """

    def run(self, layers: Sequence[Layer], shell: Shell) -> Completed:
        """Run the command to its end. A failing command is a value; SandboxError means it never ran."""


class Kept:
    """A sink that keeps the first bytes of a stream and counts the others."""

    def __init__(self, limit: int = KEPT) -> None:
        self._limit = limit
        self._data = bytearray()
        self.dropped = 0
        """Bytes beyond the limit."""

    def __call__(self, block: bytes) -> None:
        """Take the next bytes."""
        room = self._limit - len(self._data)
        self._data += block[:room]
        self.dropped += max(0, len(block) - room)

    def bytes(self) -> bytes:
        """What was kept; a last line says how much is missing."""
        note = b"\n[... %d more bytes]\n" % self.dropped if self.dropped else b""
        return bytes(self._data) + note


class Streams:
    """The sinks of one run: the shell's own ones get everything; the first bytes are kept in any case."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._stdout = Kept(FIRST if shell.on_stdout else KEPT)
        self._stderr = Kept(FIRST if shell.on_stderr else KEPT)

    def on_stdout(self, block: bytes) -> None:
        """Take a piece of standard output."""
        self._stdout(block)
        if self._shell.on_stdout:
            self._shell.on_stdout(block)

    def on_stderr(self, block: bytes) -> None:
        """Take a piece of standard error."""
        self._stderr(block)
        if self._shell.on_stderr:
            self._shell.on_stderr(block)

    def completed(self, ended: Completed) -> Completed:
        """How the shell's command ended, with what was kept of its streams."""
        return Completed(
            argv=self._shell.argv,
            returncode=ended.returncode,
            stdout=self._stdout.bytes(),
            stderr=self._stderr.bytes(),
            timed_out=ended.timed_out,
        )
