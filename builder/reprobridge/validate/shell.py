"""The clean shell: the image's root in a sandbox, with the image's own environment and nothing else."""

from collections.abc import Mapping

from reprobridge.errors import ArtifactError
from reprobridge.frozen import frozen
from reprobridge.sandbox.model import STRANGER, Sandbox, Shell
from reprobridge.system.processes import Completed
from reprobridge.validate.subject import Subject

LAUNCHER = "/rra/bin/rra"
"""The launcher in an image: its entrypoint."""
ANY_USER = 1_234_567_890
"""An arbitrary high uid and gid that no image knows."""
COMMAND_SECONDS = 120.0
"""Limit of a command that should take a moment."""


@frozen
class CleanShell:
    """Runs commands in one image."""

    subject: Subject
    """The image."""
    sandbox: Sandbox
    """Where its root is made."""

    def run(
        self,
        argv: tuple[str, ...],
        *,
        user: int = STRANGER,
        timeout: float = COMMAND_SECONDS,
        more: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run a command as the image's configuration would start it; `more` adds variables."""
        return self.sandbox.run(
            self.subject.layers,
            Shell(
                argv=argv,
                environment={**image_environment(self.subject), **(more or {})},
                cwd=working_directory(self.subject),
                uid=user,
                gid=user,
                timeout=timeout,
            ),
        )

    def launcher(self, *words: str, user: int = STRANGER, timeout: float = COMMAND_SECONDS) -> Completed:
        """Run the launcher."""
        return self.run((LAUNCHER, *words), user=user, timeout=timeout)


def image_environment(subject: Subject) -> dict[str, str]:
    """The variables of the image's configuration. Raises ArtifactError when these are no list."""
    pairs = subject.settings.get("Env") or []
    if not isinstance(pairs, list):
        raise ArtifactError("the configuration is broken", expected="a list Env", found=repr(pairs))
    return {name: value for name, _, value in (str(pair).partition("=") for pair in pairs)}


def working_directory(subject: Subject) -> str:
    """Where the image's processes start."""
    return str(subject.settings.get("WorkingDir") or "/")
