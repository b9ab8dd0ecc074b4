"""The sandbox that a container engine gives: docker, or podman by the same command line.

The layers are loaded once as an image of their own, with nothing in its configuration: a shell brings its
whole environment, so that a command sees the same in every sandbox. (An engine adds HOME and HOSTNAME.)
Docker mounts a `tmpfs` with `noexec`, unless told otherwise.
"""

import contextlib
import platform
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reprobridge.digest import Json, canonical_json
from reprobridge.errors import SandboxError
from reprobridge.oci.archive import write_archive
from reprobridge.oci.layout import ImageParts
from reprobridge.oci.model import Descriptor, Manifest, MediaType
from reprobridge.sandbox.model import Layer, Shell, Streams, Unusable
from reprobridge.store.store import Store
from reprobridge.system import files
from reprobridge.system.processes import Command, Completed, Processes, ProgramNotFound

IMAGE = "reprobridge/sandbox"
"""Name under which an engine keeps layers that it was given; the tag is the manifest's digest."""
_TRIAL = 60
"""Seconds for a container that ends at once."""
_ENGINE_FAILED = 125
_RUNTIME_FAILED = (126, 127)
"""An engine's statuses when its runtime could not start the command, whatever kept it from that; commands have them too."""
_STARTING_ONE = ('exec: "', "executable", "exec container process")
"""What runc and crun say of a program that is missing or must not be run: that is the image's own fault."""
_LOCKED = ("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pull", "never", "--rm")
_HOSTNAME = ("--hostname", "sandbox")
"""As in bubblewrap; otherwise it is another one each time, and stands in what some builds make."""


class EngineSandbox:
    """Runs commands in containers."""

    def __init__(
        self, store: Store, processes: Processes, program: str, environment: Mapping[str, str] | None = None
    ) -> None:
        """`program` is `docker` or `podman`; `environment` is for the program (DOCKER_HOST), ours when None."""
        self.kind = program
        """Its name for users, which is the program's."""
        self._store = store
        self._processes = processes
        self._environment = environment

    def probe(self, *, wanted: bool) -> Unusable | None:
        """None when an engine answers and, unless it is `wanted`, starts a container."""
        try:
            ended = self._call(("info",), timeout=60)
        except ProgramNotFound:
            return Unusable(f"the program {self.kind} is missing", f"install {self.kind}")
        if ended.returncode != 0:
            return Unusable(
                f"{self.kind} does not answer: {ended.failure}",
                f"start its engine, and try `{self.kind} info`",
            )
        return None if wanted else self._try()

    def _try(self) -> Unusable | None:
        """None when a container is started: one of an empty image, where the engine comes as far as missing the program.

        An engine answers as well where it may make no container, as inside another one.
        """
        hint = f"let `{self.kind} run` work here"
        try:
            ended = self.run((), Shell(argv=("/nothing",), timeout=_TRIAL))
        except SandboxError as error:
            return Unusable(f"{self.kind} starts no container: {error.found}", hint)
        return (
            Unusable(f"{self.kind} starts no container within {_TRIAL} s", hint) if ended.timed_out else None
        )

    def run(self, layers: Sequence[Layer], shell: Shell) -> Completed:
        """Run the command in a fresh container."""
        image = self._image(layers)
        name = f"reprobridge-{secrets.token_hex(8)}"
        streams = Streams(shell)
        argv = (
            self.kind,
            "run",
            "--name",
            name,
            *_LOCKED,
            *_HOSTNAME,
            *_options(shell),
            image,
            *shell.argv[1:],
        )
        with self._removed_afterwards(name):
            ended = self._processes.run(
                Command(
                    argv=argv,
                    environment=self._environment,
                    timeout=shell.timeout,
                    on_stdout=streams.on_stdout,
                    on_stderr=streams.on_stderr,
                )
            )
        completed = streams.completed(ended)
        if complaint := _complaint(completed):
            raise SandboxError(
                "the container could not be started",
                where=self.kind,
                expected=f"to start {shell.argv[0]}",
                found=complaint,
                hint=self._another(),
            )
        return completed

    def _another(self) -> str:
        """What to do where this engine makes no container."""
        return f"let `{self.kind} run` work here, or use another sandbox, such as --sandbox bubblewrap"

    @contextlib.contextmanager
    def _removed_afterwards(self, name: str) -> Iterator[None]:
        """Leave no container: when we stop waiting for one, the engine goes on with it."""
        try:
            yield
        finally:
            self._call(("rm", "--force", name), timeout=60)

    def _image(self, layers: Sequence[Layer]) -> str:
        """The engine's name of these layers, which are loaded when it doesn't have them."""
        parts = _parts(self._store, layers)
        name = f"{parts.name}:{parts.version}"
        if self._call(("image", "inspect", name)).returncode == 0:
            return name
        with files.scratch_folder(self._store.root / "scratch") as scratch:
            archive = scratch / "layers.tar"
            write_archive(archive, parts, docker=True)
            loaded = self._call(("load", "--input", str(archive)))
        if loaded.returncode != 0:
            raise SandboxError(
                "the engine does not take the layers",
                where=f"{self.kind} load",
                expected="an image",
                found=loaded.failure,
                hint=self._another(),
            )
        return name

    def _call(self, words: tuple[str, ...], timeout: float | None = None) -> Completed:
        command = Command(argv=(self.kind, *words), environment=self._environment, timeout=timeout)
        return self._processes.run(command)


def _complaint(ended: Completed) -> str | None:
    """Why the engine started no container; None when it started one, or when the image's program is at fault."""
    said = _own_line(ended)
    if ended.returncode == _ENGINE_FAILED:
        return said or ended.failure
    if ended.returncode not in _RUNTIME_FAILED or any(words in said for words in _STARTING_ONE):
        return None
    return said or None


def _own_line(ended: Completed) -> str:
    """What docker or podman itself says of a container that it did not start; empty for what a command says."""
    for line in [] if ended.stdout else ended.stderr.decode(errors="replace").splitlines():
        if line.startswith("docker: ") or (line.startswith("Error: ") and "OCI " in line):
            return line
    return ""


def _options(shell: Shell) -> list[str]:
    words = ["--read-only", "--user", f"{shell.uid}:{shell.gid}", "--workdir", shell.cwd]
    words += ["--network", "host" if shell.network else "none", "--entrypoint", shell.argv[0]]
    for name, value in sorted(shell.environment.items()):
        words += ["--env", f"{name}={value}"]
    for place in shell.tmpfs:
        if place not in shell.writable:
            words += ["--tmpfs", f"{place}:exec,mode=1777"]
    for place, host in sorted(shell.readonly.items()):
        words += ["--mount", _mount(host, place, "readonly")]
    for place, host in sorted(shell.writable.items()):
        words += ["--mount", _mount(host, place)]
    return words


def _mount(host: Path, place: str, *more: str) -> str:
    """The value of `--mount`, which engines read as a line of CSV: a path may have commas and quotes."""
    fields = ("type=bind", f"source={host.absolute()}", f"target={place}", *more)
    return ",".join('"' + field.replace('"', '""') + '"' for field in fields)


def _parts(store: Store, layers: Sequence[Layer]) -> ImageParts:
    """An image of these layers with an empty configuration; manifest and configuration go into the store."""
    blobs = {layer.digest: layer.blob for layer in layers}
    described = tuple(
        Descriptor(MediaType.LAYER, layer.digest, layer.blob.stat().st_size) for layer in layers
    )
    config = _stored(store, MediaType.CONFIG, _config(layers))
    manifest = _stored(store, MediaType.MANIFEST, Manifest(config=config, layers=described).to_bytes())
    return ImageParts(
        name=IMAGE,
        version=manifest.digest.hex[:32],
        manifest=manifest,
        config=config,
        layers=described,
        path=lambda digest: blobs.get(digest) or store.path(digest),
    )


def _stored(store: Store, kind: MediaType, data: bytes) -> Descriptor:
    return Descriptor(kind, store.add(data), len(data))


def _config(layers: Sequence[Layer]) -> bytes:
    """A configuration that only names the layers; engines want a platform, and it is this machine's."""
    diff_ids: Json = [str(layer.diff_id) for layer in layers]
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return canonical_json(
        {
            "architecture": architecture,
            "os": "linux",
            "config": {},
            "rootfs": {"type": "layers", "diff_ids": diff_ids},
        }
    )
