"""A row of the table: what is being done, what goes wrong there, and what must come of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from fakes.registry.content import Content
from fakes.registry.faults import Fault
from fakes.registry.options import Options
from reprobridge.registry.client import Registry
from reprobridge.registry.options import Quirks
from support.registry_faults.bed import Bed

NAME = "lab/paper"
"""The repository that all jobs work in."""


class Job(Protocol):
    """Something that is done with a registry."""

    @property
    def title(self) -> str:
        """For the page: what is being done."""

    def fill(self, content: Content) -> None:
        """What the registry holds before."""

    def run(self, client: Registry) -> object:
        """Do it. Raises RegistryError."""

    def finish(self, content: Content) -> object:
        """What must stand there afterwards, done without any protocol; the result that `run` must give."""


@dataclass(frozen=True)
class GoesOn:
    """The client copes: the result and the registry's content are right."""

    how: str
    """For the page."""


@dataclass(frozen=True)
class Refuses:
    """A RegistryError says what is wrong; once the fault is gone, the same again succeeds."""

    message: str
    """Part of the error's message."""
    also: tuple[str, ...] = ()
    """Further words that the error must hold."""


@dataclass(frozen=True, kw_only=True)
class Around:
    """What a fault may need to know of the place where it happens."""

    registry: str = "http://registry.test"
    """The registry's URL."""
    elsewhere: str = "http://elsewhere.test"
    """The other host's URL."""
    expire: Callable[[], object] = lambda: None
    """Ends all tokens."""


FaultOrMaker = Fault | Callable[[Around], Fault]
"""A fault, or how to make one where addresses are known."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row."""

    name: str
    """Short, unique; the test's id."""
    job: Job
    """What is being done."""
    says: str
    """What goes wrong, in words."""
    then: GoesOn | Refuses
    """What must come of it."""
    faults: tuple[FaultOrMaker, ...] = ()
    """What goes wrong. None: the registry is only peculiar (`options`)."""
    where: str | None = None
    """The step, for the page; None: that of the first fault."""
    options: Options = field(default_factory=Options)
    """How the registry differs from others."""
    login: str | None = None
    """`basic` or `token`: how the registry wants to know us."""
    quirks: Quirks | None = None
    """What the client knows of the registry."""
    https: bool = False
    """Whether the client believes to speak https."""
    read_timeout: float = 30
    """Seconds that the client waits for an answer."""
    meanwhile: Callable[[Content], object] | None = None
    """What others did to the content that must still stand there in the end."""
    besides: Callable[[Bed], object] | None = None
    """What else must be true, looked at before a second run."""

    def made(self, around: Around) -> list[Fault]:
        """Its faults."""
        return [fault if isinstance(fault, Fault) else fault(around) for fault in self.faults]
