"""Validation of whole images in the real sandbox: a good one passes, and each fault fails the check meant for it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reprobridge.assemble.composition import remember_composition
from reprobridge.oci.layout import ImageParts, read_layout, write_layout
from reprobridge.sandbox.bubblewrap import BubblewrapSandbox
from reprobridge.sandbox.engine import EngineSandbox
from reprobridge.sandbox.model import Sandbox
from reprobridge.store.store import Store
from reprobridge.system.processes import RealProcesses
from reprobridge.validate.kept import keep_report, kept_report
from reprobridge.validate.model import CheckId, Report, Verdict
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import open_subject
from reprobridge.validate.validation import CHECKS, validate
from support.artifact_image import RUN, SPEC, ArtifactImage, package, task
from support.engine import Engine
from support.layers import Entry, layer_of, make_layer

KEY = (
    "-----BEGIN " + "OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
)
Change = Callable[[ArtifactImage], None]


@pytest.fixture(scope="module")
def store(module_folder: Path) -> Store:
    """One store for all, so that the base layer is unpacked once."""
    return Store(module_folder / "store")


@pytest.fixture(scope="module")
def sandbox(store: Store) -> Sandbox:
    return BubblewrapSandbox(store, RealProcesses(), as_root=os.geteuid() == 0)


def report_of(parts: ImageParts, store: Store, sandbox: Sandbox) -> Report:
    return validate(open_subject(parts, store), sandbox, lambda result: None)


def verdicts(report: Report) -> dict[CheckId, Verdict]:
    return {result.check: result.finding.verdict for result in report.results}


def evidence(report: Report, check: CheckId) -> str:
    return "\n".join(
        text for result in report.results if result.check is check for text in result.finding.evidence
    )


def test_a_good_image_passes_every_check_of_the_version(store: Store, sandbox: Sandbox) -> None:
    report = report_of(ArtifactImage().build(store), store, sandbox)
    assert verdicts(report) == dict.fromkeys(CheckId, Verdict.PASSED), report
    assert report.passed
    assert report.artifact == "a" * 64
    keep_report(store, report)
    assert kept_report(store, report.image) == report


def test_what_was_noted_of_an_image_that_was_built_here_is_in_its_report(
    store: Store, sandbox: Sandbox
) -> None:
    parts = ArtifactImage().build(store)
    assert report_of(parts, store, sandbox).notes is None
    remember_composition(store, parts.manifest.digest, [], ["one", "two"])
    report = report_of(parts, store, sandbox)
    assert report.notes == ("one", "two")
    assert report.passed


def test_an_oci_layout_gives_the_same_verdicts_as_the_store(
    store: Store, sandbox: Sandbox, tmp_path: Path
) -> None:
    write_layout(tmp_path / "layout", ArtifactImage().build(store))
    report = report_of(read_layout(tmp_path / "layout"), store, sandbox)
    assert verdicts(report) == dict.fromkeys(CheckId, Verdict.PASSED), report


def test_docker_gives_the_same_verdicts_as_bubblewrap(store: Store, docker_engine: Engine) -> None:
    engine = EngineSandbox(store, RealProcesses(), "docker", docker_engine.environment)
    report = report_of(ArtifactImage().build(store), store, engine)
    assert verdicts(report) == dict.fromkeys(CheckId, Verdict.PASSED), report
    assert report.sandbox == "docker"


def changed_task(**fields: Any) -> Change:
    def change(image: ArtifactImage) -> None:
        image.tasks = [{**task(), **fields}]

    return change


def no_match(image: ArtifactImage) -> None:
    extract = {**task()["extract"], "regex": "precision: (?P<value>[0-9.]+)"}
    image.tasks = [{**task(), "extract": extract}]


def guide(*lines: str) -> Change:
    def change(image: ArtifactImage) -> None:
        image.guide = "\n".join(["# Guide", "", "```console", *lines, "```", ""])

    return change


def no_blocks(image: ArtifactImage) -> None:
    image.guide = "# Guide\n\n```sh\n$ rra list\n```\n"


def code(path: str, content: str) -> Change:
    def change(image: ArtifactImage) -> None:
        image.code[path] = content

    return change


def installed(name: str, metadata: str = "", modules: dict[str, str] | None = None) -> Change:
    def change(image: ArtifactImage) -> None:
        image.environment |= package(name, "1.0", metadata, modules)
        image.distributions[name] = "1.0"

    return change


def extra(path: str, content: Entry) -> Change:
    def change(image: ArtifactImage) -> None:
        image.extra[path] = content

    return change


def set_field(**fields: Any) -> Change:
    def change(image: ArtifactImage) -> None:
        for name, value in fields.items():
            setattr(image, name, value)

    return change


CODE_FOR_STRANGERS_ONLY = RUN + "import os\nif os.getuid() > 10**9: sys.exit('a number that is too high')\n"

TALKING = """\
import sys
for number in range(30):
    print(sys.argv[1], "says", number, "!" * 1000, file=sys.stderr)
if sys.argv[1] != "good":
    sys.exit(3)
print("accuracy: 98.8764")
"""
"""Code that says much, and fails where its word is not `good`."""


def smoke(*command: str) -> dict[str, Any]:
    return {"command": list(command), "timeout": 60}


Fault = tuple[CheckId, str, Change]

TOLD_APART: dict[str, Fault] = {
    "a regex that does not match": (CheckId.SMOKE, "expected exactly one match", no_match),
    "a task without smoke run": (CheckId.SMOKE, "none declared", changed_task(smoke=None)),
    "a scored command that can't start": (
        CheckId.SMOKE,
        "accuracy: command: expected a script for python at /rra/code/eval.py, found none",
        changed_task(command=["python", "eval.py"]),
    ),
    "a wrong guide output": (CheckId.GUIDE, "line 4", guide("$ echo 1", "2")),
    "a guide without executable blocks": (CheckId.GUIDE, "no executable block", no_blocks),
    "a block that exits non-zero": (CheckId.GUIDE, "found 4", guide("$ (exit 4)")),
    ".git in the source": (CheckId.HISTORY, "/rra/code/.git", code(".git/HEAD", "ref: refs/heads/main\n")),
    "a private key in the source": (
        CheckId.SECRETS,
        "/rra/code/deploy.txt, line 2",
        code("deploy.txt", f"\n{KEY}"),
    ),
    "code that fears high uids": (CheckId.ANY_USER, "too high", code("run.py", CODE_FOR_STRANGERS_ONLY)),
}
"""Faults that an author may make; each is to be found by one check, named, and by no other."""

FAULTS: dict[str, Fault] = {
    "a command that fails": (
        CheckId.SMOKE,
        "exit status 3",
        changed_task(smoke={"command": ["python", "run.py", "--fail"], "timeout": 60}),
    ),
    "a block without command": (CheckId.GUIDE, "line 4: expected a command", guide("rra list")),
    "a block that should have failed": (CheckId.GUIDE, "expected exit status 4", guide("$ echo", "[exit 4]")),
    "a block that ends the session": (CheckId.GUIDE, "ended the session", guide("$ exit 0", "$ echo 1", "1")),
    "an unclosed quote": (CheckId.GUIDE, "ended the session", guide("$ echo 'x")),
    "a .netrc in the source": (CheckId.SECRETS, ".netrc", code("etc/.netrc", "machine x\n")),
    "a token in the specification": (
        CheckId.SECRETS,
        "reprobridge.yaml, line 4: a GitHub token",
        set_field(spec="source:\n  path: ./src\n  exclude: []\n# ghp_" + "A1b2C3d4" * 5 + "\n"),
    ),
    "bytecode in the source": (
        CheckId.CACHES,
        "/rra/code/__pycache__",
        code("__pycache__/run.cpython-311.pyc", ""),
    ),
    "scores in the source": (
        CheckId.SCORES,
        "/rra/code/results/scores.csv",
        code("results/scores.csv", "1\n"),
    ),
    "a distribution that needs a missing one": (
        CheckId.REQUIREMENTS,
        "requires gamma>=2",
        installed("beta", "Requires-Dist: gamma>=2\n"),
    ),
    "a distribution that needs another version": (
        CheckId.REQUIREMENTS,
        "requires alpha>1",
        installed("beta", "Requires-Dist: alpha>1; python_version > '3'\n"),
    ),
    "a distribution that is not locked": (
        CheckId.REQUIREMENTS,
        "not locked",
        lambda image: image.environment.update(package("beta", "1.0")),
    ),
    "a module that can't be imported": (
        CheckId.IMPORTS,
        "broken: ModuleNotFoundError",
        installed("broken", modules={"broken/__init__.py": "import nowhere\n"}),
    ),
    "a module that ends the interpreter": (
        CheckId.IMPORTS,
        "crash: importing it ends the interpreter",
        installed("crash", modules={"crash.py": "import os\nos.abort()\n"}),
    ),
    "a module of a namespace that can't be imported": (
        CheckId.IMPORTS,
        "space.inner: ModuleNotFoundError",
        installed("inner", modules={"space/inner/__init__.py": "import nowhere\n"}),
    ),
    "an exception for a module that is not there": (
        CheckId.IMPORTS,
        "not_imported: nowhere: expected a module",
        set_field(spec=f"{SPEC}environment: {{python: {{not_imported: {{nowhere: gone}}}}}}\n"),
    ),
    "a model that the code lacks": (
        CheckId.SMOKE,
        "/rra/code/models/net.pt",
        changed_task(scope="evaluation_only", checkpoints=["models/net.pt"]),
    ),
    "a file that only root can read": (
        CheckId.MODES,
        "/rra/notes: expected mode 0004",
        extra("rra/notes", Entry(b"", 0o600)),
    ),
    "an entrypoint of another program": (CheckId.CONFIG, "Entrypoint", set_field(entrypoint=("/bin/sh",))),
    "a label that says otherwise": (
        CheckId.CONFIG,
        "io.reprobridge.paper",
        set_field(labels={"io.reprobridge.paper": "another"}),
    ),
    "two layers that hold different things": (
        CheckId.LAYERS,
        "/rra/GUIDE.md: layers 4 and 5",
        set_field(more_layers=[make_layer({"rra/GUIDE.md": "```console\n$ echo 1\n1\n```\n"})]),
    ),
    "a file that the inventory does not list": (
        CheckId.INVENTORY,
        "/rra/code/late.py: there, but not listed",
        extra("rra/code/late.py", Entry(b"", 0o644)),
    ),
}


STATIC = [check for check in CheckId if check.value.startswith(("image.", "files."))]
"""Checks that read bytes and run nothing."""


@pytest.mark.parametrize("fault", TOLD_APART)
def test_an_authors_fault_fails_the_check_meant_for_it_and_no_other(
    fault: str, store: Store, sandbox: Sandbox
) -> None:
    check, said, change = TOLD_APART[fault]
    image = ArtifactImage()
    change(image)
    report = report_of(image.build(store), store, sandbox)
    assert [result.check for result in report.with_verdict(Verdict.FAILED)] == [check], report
    assert said in evidence(report, check)
    assert report.complete
    assert not report.passed


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails_its_check_and_none_that_only_reads(fault: str, store: Store, sandbox: Sandbox) -> None:
    check, said, change = FAULTS[fault]
    image = ArtifactImage()
    change(image)
    shell = CleanShell(open_subject(image.build(store), store), sandbox)
    found = {name: CHECKS[name](shell) for name in [*STATIC, check]}
    assert [name for name, finding in found.items() if finding.verdict is not Verdict.PASSED] == [check], (
        found
    )
    assert said in "\n".join(found[check].evidence)


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (layer_of(b"no tar" * 200), "tar archive"),
        (make_layer({"rra/.wh.code": ""}), "whiteout"),
    ],
    ids=["no tar", "whiteout"],
)
def test_a_broken_layer_fails_the_digests_and_nothing_else_is_run(
    layer: Any, said: str, store: Store, sandbox: Sandbox
) -> None:
    report = report_of(ArtifactImage(more_layers=[layer]).build(store), store, sandbox)
    found = verdicts(report)
    assert found.pop(CheckId.DIGESTS) is Verdict.FAILED
    assert set(found.values()) == {Verdict.NOT_RUN}
    assert said in evidence(report, CheckId.DIGESTS)
    assert report.complete


def test_a_changed_blob_fails_the_digests(store: Store, sandbox: Sandbox, tmp_path: Path) -> None:
    layout = tmp_path / "layout"
    write_layout(layout, ArtifactImage().build(store))
    parts = read_layout(layout)
    path = parts.path(parts.layers[2].digest)
    data = bytearray(path.read_bytes())
    path.unlink()  # the file is a hard link into the store
    data[-1] ^= 1
    path.write_bytes(data)
    report = report_of(parts, store, sandbox)
    assert verdicts(report)[CheckId.DIGESTS] is Verdict.FAILED
    assert str(parts.layers[2].digest) in evidence(report, CheckId.DIGESTS)


def test_a_task_that_needs_a_missing_gpu_is_not_run(store: Store, sandbox: Sandbox) -> None:
    needs = {**task()["resources"], "gpus": 1}
    broken = {
        **task("big"),
        "smoke": {"command": ["python", "run.py", "--fail"], "timeout": 60},
        "resources": needs,
    }
    report = report_of(ArtifactImage(tasks=[task(), broken]).build(store), store, sandbox)
    assert {result.check for result in report.with_verdict(Verdict.NOT_RUN)} == {
        CheckId.SMOKE,
        CheckId.ANY_USER,
    }, report
    (said,) = evidence(report, CheckId.SMOKE).splitlines()
    assert said.startswith("big: no value: the launcher gives no results: gpu: ")
    assert said.endswith("; it needs 1 GPUs, and the clean shell has none")
    assert "--anyway" not in said
    assert not report.with_verdict(Verdict.FAILED)
    assert not report.passed


def test_only_failed_tasks_are_shown_each_with_its_last_lines(store: Store, sandbox: Sandbox) -> None:
    image = ArtifactImage(code={"run.py": TALKING})
    tasks = {
        name: {**task(name), "smoke": smoke("python", "run.py", name)} for name in ("good", "bad", "worse")
    }
    image.tasks = [*tasks.values(), *({**tasks["bad"], "id": f"bad{number}"} for number in range(14))]
    shell = CleanShell(open_subject(image.build(store), store), sandbox)
    lines = CHECKS[CheckId.SMOKE](shell).evidence
    at = lines.index("worse: no value: ended with exit status 3")
    assert [line[:15] for line in lines[at + 1 : at + 4]] == [
        f"  worse says {number}" for number in (27, 28, 29)
    ]
    assert len(lines) == 16 * 4
    assert max(map(len, lines)) < 310
    assert not [line for line in lines if "good" in line or "docker" in line]
