"""The errors of every stage: one root class, one subclass a stage.

Each says where it happened, what was expected, what was found, and, where we know, what to do.
Only `cli/main.py` prints them and exits; the class carries the documented exit code.
A failed *check* is a value (`Problem`, a finding, a report), never an exception.
"""

from collections.abc import Sequence
from typing import ClassVar

from reprobridge.frozen import frozen
from reprobridge.wording import counted


@frozen
class Problem:
    """One thing that is wrong with something a user wrote, at a place that they can find."""

    where: str
    """Place in the user's terms: a file, a spec path such as `tasks[2].extract.regex`."""
    expected: str
    """What would have been right."""
    found: str
    """What stood there instead."""
    hint: str | None = None
    """What to do about it, when we know."""
    line: int | None = None
    """Line of the file in which the place stands, from 1, when there is one."""

    def __str__(self) -> str:
        where = self.where if self.line is None else f"{self.where} (line {self.line})"
        text = f"{where}: expected {self.expected}, found {self.found}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class ReproBridgeError(Exception):
    """Root of all errors that a user may see; anything else that rises is a bug."""

    exit_code: ClassVar[int] = 1
    """Exit status of the command line (guides/reference/exit-codes.md)."""

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        expected: str | None = None,
        found: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        """What went wrong, in one sentence."""
        self.where, self.expected, self.found, self.hint = where, expected, found, hint

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.message}" if self.where else self.message]
        lines += [f"  expected: {self.expected}"] if self.expected else []
        lines += [f"  found: {self.found}"] if self.found else []
        lines += [f"  hint: {self.hint}"] if self.hint else []
        return "\n".join(lines)

    def in_one_line(self) -> str:
        """The same where only one line can stand: its parts told apart by semicolons."""
        return "; ".join(line.strip() for line in str(self).splitlines() if line.strip())

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross from worker processes, so they pickle with all their fields."""
        return (_restore, (type(self), self.message, dict(self.__dict__)))


def _restore(kind: type[ReproBridgeError], message: str, fields: dict[str, object]) -> ReproBridgeError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    error.__dict__.update(fields)
    return error


class UsageError(ReproBridgeError):
    """The command line's words cannot be carried out."""

    exit_code = 2


class SpecError(ReproBridgeError):
    """`reprobridge.yaml` or a file that it names is wrong; holds every problem found, not just the first."""

    exit_code = 2

    def __init__(self, problems: Sequence[Problem], *, where: str) -> None:
        super().__init__(f"{counted(len(problems), 'problem')} found", where=where)
        self.problems = tuple(problems)
        """All problems, in the order of the file."""

    def __str__(self) -> str:
        return "\n".join([f"{self.where}: {self.message}", *(str(problem) for problem in self.problems)])


class LockError(ReproBridgeError):
    """A wish could not be resolved, or the lock does not fit the spec or this release."""

    exit_code = 3


class NetworkError(ReproBridgeError):
    """Something could not be fetched."""

    exit_code = 4


class ArtifactError(ReproBridgeError):
    """A file that was fetched or given is broken, hostile or not the one that the lock names."""

    exit_code = 5


class AssembleError(ReproBridgeError):
    """The layers cannot be put together: conflicting paths, too many layers, an unwritable output."""

    exit_code = 6


class StoreError(ReproBridgeError):
    """The local store is damaged, not writable or of an unknown version."""

    exit_code = 7


class SandboxError(ReproBridgeError):
    """No sandbox works here, or a command could not be started in it."""

    exit_code = 8


class ValidateError(ReproBridgeError):
    """The image could not be checked (a check that fails is a value, not this)."""

    exit_code = 9


class RegistryError(ReproBridgeError):
    """A registry refuses, does not answer, or answers what the distribution specification does not allow."""

    exit_code = 10


class PublishError(ReproBridgeError):
    """The gate before publishing is closed: what would be published is not proven to work."""

    exit_code = 11


class TrustError(ReproBridgeError):
    """A signature, an attestation or a digest does not hold."""

    exit_code = 12
