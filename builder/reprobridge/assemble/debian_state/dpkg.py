"""dpkg's database: status, architecture, triggers. Scanners, `dpkg -l` and apt read it.

A paragraph of the status file has its fields in dpkg's own order (lib/dpkg/parse.c, `fieldinfos`), so the
file equals what dpkg writes for the same packages.
"""

from collections.abc import Iterable, Mapping

from reprobridge.assemble.deb.facts import DebFacts
from reprobridge.assemble.debian_state.tree import StateTree

_FOLDER = "var/lib/dpkg"
_ORDER = (
    *("Package", "Essential", "Protected", "Status", "Priority", "Section", "Installed-Size", "Origin"),
    *("Maintainer", "Bugs", "Architecture", "Multi-Arch", "Source", "Version", "Replaces", "Provides"),
    *("Depends", "Pre-Depends", "Recommends", "Suggests", "Breaks", "Conflicts", "Enhances", "Conffiles"),
    "Description",
)


def add_database(tree: StateTree, packages: Mapping[str, DebFacts], architecture: str) -> None:
    """Everything below /var/lib/dpkg that no single package has."""
    paragraphs = [status_paragraph(facts) for _, facts in sorted(packages.items())]
    tree.put(f"{_FOLDER}/status", "".join(f"{paragraph}\n" for paragraph in paragraphs).encode())
    tree.put(f"{_FOLDER}/arch", f"{architecture}\n".encode())
    tree.put(f"{_FOLDER}/info/format", b"1\n")
    _add_triggers(tree, packages, architecture)
    for name in ("updates", "alternatives", "parts"):
        tree.folder(f"{_FOLDER}/{name}")


def status_paragraph(facts: DebFacts) -> str:
    """A package's paragraph in the status file, with a newline at its end."""
    fields = {"Status": " install ok installed\n", **_raw_fields(facts.control)}
    if facts.conffiles:
        rows = "".join(f" {path} {md5}\n" for path, md5 in facts.conffiles)
        fields["Conffiles"] = f"\n{rows}"
    names = sorted(fields, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
    return "".join(f"{name}:{fields[name]}" for name in names)


def control_field(control: str, name: str) -> str:
    """The first line of a field of a control paragraph; empty when it has none."""
    return _raw_fields(control).get(name, "").partition("\n")[0].strip()


def _raw_fields(control: str) -> dict[str, str]:
    """Field -> everything behind its colon, with all lines and their newlines."""
    fields: dict[str, str] = {}
    name = ""
    for line in control.splitlines():
        if line.startswith((" ", "\t")):
            fields[name] += f"{line.rstrip()}\n"
        elif line:
            name, _, value = line.partition(":")
            fields[name] = f" {value.strip()}\n"
    return fields


def _add_triggers(tree: StateTree, packages: Mapping[str, DebFacts], architecture: str) -> None:
    """Who waits for which trigger: a file for each named one, and one for those on paths."""
    named: dict[str, list[str]] = {}
    paths: list[str] = []
    for package, facts in sorted(packages.items()):
        several = control_field(facts.control, "Multi-Arch") == "same"
        name = f"{package}:{architecture}" if several else package
        for trigger, waiter in _interests(name, facts.triggers):
            if trigger.startswith("/"):
                paths.append(f"{trigger} {waiter}\n")
            else:
                named.setdefault(trigger, []).append(f"{waiter}\n")
    tree.put(f"{_FOLDER}/triggers/File", "".join(paths).encode())
    for trigger, waiters in named.items():
        tree.put(f"{_FOLDER}/triggers/{trigger}", "".join(waiters).encode())


def _interests(package: str, triggers: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in triggers:
        directive, _, trigger = line.partition(" ")
        if directive.startswith("interest") and trigger:
            yield trigger.strip(), f"{package}/noawait" if directive == "interest-noawait" else package
