"""Where a command runs: a fresh writable copy of the code, an empty home, and only the declared variables."""

import os

from reprobridge_launcher import cparts, inventory
from reprobridge_launcher.extraction import STREAMS, Extractor, matching_files
from reprobridge_launcher.hardware import listed
from reprobridge_launcher.layout import Layout
from reprobridge_launcher.manifest import Environment
from reprobridge_launcher.outcome import UNFIT, StopError
from reprobridge_launcher.record import Record

CACHES = (
    ("XDG_CACHE_HOME", "cache"),
    ("XDG_CONFIG_HOME", "config"),
    ("XDG_DATA_HOME", "local/share"),
    ("XDG_STATE_HOME", "local/state"),
    ("MPLCONFIGDIR", "cache/matplotlib"),
    ("TORCH_HOME", "cache/torch"),
    ("TORCH_EXTENSIONS_DIR", "cache/torch-extensions"),
    ("TORCHINDUCTOR_CACHE_DIR", "cache/inductor"),
    ("HF_HOME", "cache/huggingface"),
    ("TRITON_CACHE_DIR", "cache/triton"),
    ("NUMBA_CACHE_DIR", "cache/numba"),
    ("CUDA_CACHE_PATH", "cache/cuda"),
)
"""Variables that send caches and settings to the scratch folder, and where to below the home, behind a dot.

Those of XDG name their own defaults (XDG base directory specification, 0.8), so that whoever reads them and whoever
only knows the defaults finds the same; its runtime folder has none and is not set.
"""
FIXED = (
    ("LANG", "C.UTF-8"),
    ("LOGNAME", "rra"),
    ("USER", "rra"),  # an arbitrary uid has no name in /etc/passwd, and programs ask for one
    ("PYTHONDONTWRITEBYTECODE", "1"),  # the environment stays as the inventory says
    ("PYTHONNOUSERSITE", "1"),
    ("PYTHONUNBUFFERED", "1"),  # streams are live, and complete when a command is stopped
)
"""Variables that are the same everywhere; an artifact's own variables win over them."""
PASSED = ("CUDA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_VISIBLE_DEVICES")
"""The only variables of the container that reach a task: they choose among its GPUs."""
SHARED = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - what is made in them has random names
"""Folders that every user may write to, for scratch."""
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What follows the environment's own folder on PATH."""


class Workspace(Record):
    """One prepared place to run in."""

    folder: "str"
    """Scratch folder that holds everything below; removed after the run."""
    code: "str"
    """The working copy."""
    tree: "str"
    """`inventory.tree_digest` of the copy, so of the code as executed."""
    shipped: "dict[str, tuple[int, int]]"
    """Inode and change time of the copied files that the extractor could mistake for results."""


def prepare(layout: Layout, extractor: "Extractor | None") -> Workspace:
    """Make a scratch folder with a working copy of the code."""
    folder = _scratch_folder()
    code = folder + "/code"
    try:
        for name in ("home", "tmp"):  # the caches' folders are made by who fills them
            os.mkdir(os.path.join(folder, name))
        entries = copy_tree(layout.code, code)
    except OSError:
        remove(folder)
        raise
    shipped = {}
    if extractor is not None and extractor.file not in STREAMS:
        shipped = {path: _stamp(os.path.join(code, path)) for path in matching_files(extractor.file, code)}
    return Workspace(folder=folder, code=code, tree=inventory.tree_digest(entries, code), shipped=shipped)


def variables(
    environment: Environment, layout: Layout, workspace: Workspace, own: "dict[str, str]"
) -> "tuple[tuple[str, str], ...]":
    """All variables of a command, sorted; `own` are those of this run (RRA_OUT, RRA_SEED)."""
    home = workspace.folder + "/home"
    made = dict(
        FIXED, HOME=home, TMPDIR=os.path.join(workspace.folder, "tmp"), PATH=SYSTEM_PATH, RRA_DATA=layout.data
    )
    made.update((variable, "{}/.{}".format(home, part)) for variable, part in CACHES)
    if environment.python:
        made["PATH"] = os.path.dirname(environment.python) + ":" + SYSTEM_PATH
    made.update((name, os.environ[name]) for name in PASSED if name in os.environ)
    made.update(environment.variables)
    made.update(own)
    return tuple(sorted(made.items()))


def copy_tree(source: str, target: str) -> "list[inventory.Entry]":
    """Copy a tree, writable for its owner, and return its entries (with paths below `target`)."""
    entries = []
    os.mkdir(target)
    for name in sorted(os.listdir(source)):
        old, new = os.path.join(source, name), os.path.join(target, name)
        if os.path.islink(old):
            os.symlink(os.readlink(old), new)
            entries.append(inventory.link_entry(new, os.readlink(old)))
        elif os.path.isdir(old):
            entries += copy_tree(old, new)
        elif os.path.isfile(old):
            entries.append(copy_file(old, new))
    return entries


def copy_file(source: str, target: str) -> "inventory.Entry":
    """Copy a file with its executable bits and times; the entry has the copy's path and digest."""
    status = os.stat(source)
    digest = cparts.sha256(status.st_size)
    with open(source, "rb", 0) as reading, open(target, "xb") as writing:
        while True:
            piece = reading.read(1 << 20)
            if not piece:
                break
            digest.update(piece)
            writing.write(piece)
    mode = (status.st_mode & 0o777) | 0o600
    os.chmod(target, mode)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return inventory.file_entry(target, mode, digest.hexdigest())


def harvest(workspace: Workspace, extractor: Extractor, outputs: str) -> None:
    """Keep the result files that a command wrote beside its code instead of into its outputs.

    Files that were shipped with the code and that the command didn't write again are no results: their inode
    and change time, which a program can't set, are still those of the copy.
    """
    if extractor.file in STREAMS or matching_files(extractor.file, outputs):
        return
    for path in matching_files(extractor.file, workspace.code):
        written = os.path.join(workspace.code, path)
        if workspace.shipped.get(path) != _stamp(written):
            kept = os.path.join(outputs, path)
            os.makedirs(os.path.dirname(kept), exist_ok=True)
            copy_file(written, kept)


def unlock(folder: str) -> None:
    """Give back to ourselves what a command took: files that can't be read, folders that can't be listed or changed."""
    left = [folder]
    while left:
        path = left.pop()
        if not os.path.islink(path):
            is_folder = os.path.isdir(path)
            _allow(path, 0o700 if is_folder else 0o400)
            left += [os.path.join(path, name) for name in listed(path)] if is_folder else []


def _allow(path: str, wanted: int) -> None:
    try:
        mode = os.stat(path).st_mode & 0o7777
        if mode & wanted != wanted:
            os.chmod(path, mode | wanted)
    except OSError:
        return


def remove(folder: str) -> None:
    """Remove a scratch folder as far as that is allowed; what can't be removed goes with the container."""
    _remove(folder)
    if os.path.isdir(folder):
        unlock(folder)
        _remove(folder)


def _remove(folder: str) -> None:
    for parent, folders, names in os.walk(folder, topdown=False, onerror=lambda _error: None):
        for name in names + folders:
            path = os.path.join(parent, name)
            try:
                (os.rmdir if name in folders and not os.path.islink(path) else os.unlink)(path)
            except OSError:
                continue
    try:
        os.rmdir(folder)
    except OSError:
        return


def scratch_places() -> "list[str]":
    """Folders that scratch may lie in, best first: those that allow to execute files come first."""
    own = os.environ.get("TMPDIR")
    named = [os.path.abspath(own), *SHARED] if own else SHARED
    usable = [path for path in named if os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)]
    return sorted(usable, key=is_noexec)


def is_noexec(folder: str) -> bool:
    """Does the folder's file system forbid to execute files?"""
    return bool(os.statvfs(folder).f_flag & os.ST_NOEXEC)


def _scratch_folder() -> str:
    for place in scratch_places():
        folder = os.path.join(place, "rra-" + os.urandom(8).hex())
        try:
            os.mkdir(folder, 0o700)
        except OSError:
            continue
        return folder
    hint = "give the container a writable /tmp: docker run --tmpfs /tmp:exec,mode=1777 …"
    raise StopError(
        UNFIT, "no writable scratch folder: TMPDIR, /tmp, /var/tmp and /dev/shm don't take one", hint
    )


def _stamp(path: str) -> "tuple[int, int]":
    status = os.stat(path)
    return status.st_ino, status.st_ctime_ns
