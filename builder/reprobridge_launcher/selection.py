"""Which tasks a command line means."""

from reprobridge_launcher.arguments import similar
from reprobridge_launcher.manifest import Manifest, Task
from reprobridge_launcher.outcome import USAGE, StopError


def chosen(manifest: Manifest, names: "tuple[str, ...]") -> "tuple[Task, ...]":
    """Tasks of the names, in their order, each once; at least one."""
    known = {task.id: task for task in manifest.tasks}
    listed = "tasks: " + (", ".join(known) or "none")
    if not names:
        raise StopError(USAGE, "which task?", listed)
    for name in names:
        if name not in known:
            raise StopError(USAGE, "no task {}".format(name), similar(name, tuple(known)) or listed)
    return tuple(known[name] for name in dict.fromkeys(names))
