"""Rules of the format that hold between keys and files."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import SpecError
from reprobridge.spec.model import ArchiveSource, GitSource
from reprobridge.spec.named import FILE_NAME
from reprobridge.spec.parse import read_spec
from support.artifact_on_disk import PATCH, ArtifactOnDisk, put
from support.odd_files import KINDS, make_odd

Change = Callable[[dict[str, Any]], object]
"""Edits the one task or the whole specification."""


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda spec: spec["tasks"].append(spec["tasks"][0]), "tasks[1].id"),
        (lambda spec: spec["changes"].append(spec["changes"][0]), "changes[1].id"),
        (lambda spec: spec["changes"][0].update(tasks=["ldaa"]), "changes[0].tasks[0]"),
        (lambda spec: spec["changes"][0].update(ambiguity="A2"), "changes[0].ambiguity"),
        (
            lambda spec: spec["decisions"]["ambiguities"].append(spec["decisions"]["ambiguities"][0]),
            "decisions.ambiguities[1].id",
        ),
        (lambda spec: spec["decisions"]["pitfalls"][0].update(tasks=["x"]), "decisions.pitfalls[0].tasks[0]"),
        (lambda spec: spec["decisions"].update(ambiguities=[]), "changes[0].ambiguity"),
    ],
)
def test_ids_are_unique_and_references_lead_somewhere(
    artifact: ArtifactOnDisk, change: Change, where: str
) -> None:
    change(artifact.spec)
    assert artifact.problem().where == where


def test_a_wrong_reference_is_told_beside_problems_of_other_kinds(artifact: ArtifactOnDisk) -> None:
    artifact.task["title"] = ""
    artifact.spec["changes"][0]["tasks"] = ["lad"]
    problems = artifact.problems()
    assert [problem.where for problem in problems] == ["changes[0].tasks[0]", "tasks[0].title"]
    assert problems[0].hint == 'did you mean "lda"?'


def test_a_correctness_repair_cites_paper_or_ambiguity(artifact: ArtifactOnDisk) -> None:
    change = artifact.spec["changes"][0]
    del change["paper"]
    artifact.read()
    del change["ambiguity"]
    problem = artifact.problem()
    assert problem.where == "changes[0]"
    assert "correctness_repair" in problem.expected
    change["class"] = "execution_repair"
    artifact.read()


def test_a_correctness_repair_does_not_follow_the_code(artifact: ArtifactOnDisk) -> None:
    artifact.spec["decisions"]["ambiguities"][0]["basis"] = "code"
    artifact.read()
    del artifact.spec["changes"][0]["paper"]
    assert artifact.problem().where == "changes[0]"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda task: task.pop("checkpoints"), "tasks[0]"),
        (lambda task: task.update(checkpoints=[]), "tasks[0]"),
        (lambda task: task.update(scope="full_pipeline"), "tasks[0].checkpoints"),
        (lambda task: task.update(checkpoints=["none.bin"]), "tasks[0].checkpoints[0]"),
        (lambda task: task.update(checkpoints=["/data/best.bin"]), "tasks[0].checkpoints[0]"),
        (lambda task: task["measurement"].update(statistic="value"), "tasks[0].measurement.statistic"),
        (lambda task: task["measurement"].pop("statistic"), "tasks[0].measurement"),
        (lambda task: task["measurement"].pop("over"), "tasks[0].measurement"),
        (lambda task: task.pop("seeds"), "tasks[0].measurement.over"),
        (lambda task: task["measurement"].update(upper_bound="0"), "tasks[0].measurement.upper_bound"),
        (lambda task: task["measurement"].update(upper_bound="1"), "tasks[0].references"),
        (lambda task: task.update(references=["99", "-0.1"]), "tasks[0].references"),
        (lambda task: task["published"].update(value="98.8"), "tasks[0].published.value"),
        (lambda task: task["published"].update(range=["2", "1"]), "tasks[0].published.range"),
        (lambda task: (task["published"].pop("value"), task["published"].pop("range")), "tasks[0].published"),
        (lambda task: task["seeds"].update(values=["1", "1"]), "tasks[0].seeds.values[1]"),
        (lambda task: task.update(command="python run.py"), "tasks[0].command"),
        (lambda task: task.update(command=[]), "tasks[0].command"),
        (lambda task: task["smoke"].update(timeout="60"), "tasks[0].smoke.timeout"),
        (lambda task: task["smoke"].update(timeout="0s"), "tasks[0].smoke.timeout"),
        (lambda task: task["resources"].update(memory="1 GIB"), "tasks[0].resources.memory"),
    ],
)
def test_a_task_that_does_not_fit_together_is_refused(
    artifact: ArtifactOnDisk, change: Change, where: str
) -> None:
    change(artifact.task)
    assert where in [problem.where for problem in artifact.problems()]


def test_the_midpoint_of_a_range_is_the_value(artifact: ArtifactOnDisk) -> None:
    del artifact.task["published"]["value"]
    artifact.task["published"]["range"] = ["0.1", "0.4"]
    assert artifact.read().tasks[0].published.value == "0.25"


@pytest.mark.parametrize(
    ("extract", "where"),
    [
        ({"file": "stdout", "regex": "x"}, "regex"),
        ({"file": "stdout", "regex": "(?P<value>x)(y)"}, "regex"),
        ({"file": "stdout", "regex": "(?P<val>x)"}, "regex"),
        ({"file": "stdout", "regex": "(?P<value>x"}, "regex"),
        ({"file": "stdout", "regex": "(?:" * 600 + "(?P<value>x)" + ")" * 600}, "regex"),
        ({"file": "stdout", "json": "accuracy"}, "json"),
        ({"file": "../x", "json": "/a"}, "file"),
        ({"file": "x", "csv": {"column": "a", "delimiter": ";;"}}, "csv.delimiter"),
        ({"file": "x", "csv": {}}, "csv.column"),
        ({"file": "x", "json": "/a", "reduce": "mean"}, "expect"),
        ({"file": "x", "json": "/a", "expect": "2"}, "expect"),
        ({"file": "x", "json": "/a", "occurrence": "all"}, "occurrence"),
        ({"file": "x", "json": "/a", "scale": "0"}, "scale"),
        ({"file": "x", "json": "/a", "jsonl": "/a"}, ""),
        ({"file": "x"}, ""),
    ],
)
def test_an_extractor_that_the_launcher_would_refuse_is_refused(
    artifact: ArtifactOnDisk, extract: dict[str, object], where: str
) -> None:
    artifact.task["extract"] = extract
    problem = artifact.problem()
    full = f"tasks[0].extract.{where}".rstrip(".")
    assert problem.where == full or (where == "expect" and problem.where == "tasks[0].extract")


@pytest.mark.parametrize("key", ["patch", "guide", "requirements"])
@pytest.mark.parametrize(
    "path", ["none", "../outside", "/etc/hostname", "src", "out/secret", "loop", "a\\b", "~/x"]
)
def test_a_named_file_is_a_readable_file_below_the_folder(
    artifact: ArtifactOnDisk, key: str, path: str
) -> None:
    artifact.write("../outside", b"secret")
    artifact.write("../elsewhere/secret", b"secret")
    (artifact.folder / "out").symlink_to("../elsewhere")
    (artifact.folder / "loop").symlink_to("loop")
    sections = {
        "patch": artifact.spec["changes"][0],
        "guide": artifact.spec,
        "requirements": artifact.spec["environment"]["python"],
    }
    sections[key][key] = path
    problem = artifact.problem()
    assert problem.where.split(".")[-1] == key
    assert "secret" not in problem.found.replace(path, "")


def test_a_link_that_stays_below_the_folder_is_followed(artifact: ArtifactOnDisk) -> None:
    (artifact.folder / "READ.md").symlink_to("GUIDE.md")
    artifact.spec["guide"] = "READ.md"
    artifact.read()


def test_a_pipe_is_refused_without_waiting_for_a_writer(artifact: ArtifactOnDisk) -> None:
    os.mkfifo(artifact.folder / "pipe")
    artifact.spec["guide"] = "pipe"
    assert artifact.problem().where == "guide"


@pytest.mark.parametrize(
    "patch",
    [
        b"",
        b"just text\n",
        b"--- a/x\n+++ b/x\n",
        PATCH.replace(b"-1,2 +1,2", b"-1,3 +1,2"),
        PATCH.replace(b"-1,2 +1,2", b"-1 +1,2"),
        PATCH.replace(b"--- a/run.py\n", b""),
        PATCH[:-15],
        b"diff --git a/x b/x\nBinary files a/x and b/x differ\n",
    ],
)
def test_a_patch_that_is_no_whole_diff_is_refused(artifact: ArtifactOnDisk, patch: bytes) -> None:
    artifact.write("patches/one.patch", patch)
    assert artifact.problem().where == "changes[0].patch"


@pytest.mark.parametrize(
    "patch",
    [
        b"From 1\nSubject: x\n\n---\n x | 1 +\n\n" + PATCH + b"-- \n2.39.0\n",
        b"--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+--- a\n\\ No newline at end of file\n",
        PATCH.replace(b"import sys", b"caf\xe9"),
        b"diff --git a/x b/x\nGIT binary patch\nliteral 3\n",
        b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
        b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
        PATCH.replace(b" import sys\n", b"\n"),
        PATCH + PATCH,
        b"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-- a\n x\x0c\x85\n",
    ],
)
def test_usual_patches_are_taken(artifact: ArtifactOnDisk, patch: bytes) -> None:
    artifact.write("patches/one.patch", patch)
    artifact.read()


@pytest.mark.parametrize("kind", [*KINDS, "too long"])
def test_what_is_no_specification_is_refused_with_a_hint(artifact: ArtifactOnDisk, kind: str) -> None:
    make_odd(artifact.folder / FILE_NAME, kind)
    with pytest.raises(SpecError) as caught:
        read_spec(artifact.folder)
    (problem,) = caught.value.problems
    assert problem.where == FILE_NAME
    assert problem.hint or kind == "too long"


def test_a_link_that_leads_nowhere_is_named_where_a_specification_is_missing(
    artifact: ArtifactOnDisk,
) -> None:
    (artifact.folder / FILE_NAME).symlink_to("nowhere.yaml")
    with pytest.raises(SpecError, match="a link to nowhere"):
        read_spec(artifact.folder)


@pytest.mark.parametrize("path", ["source.path", "source.exclude", "guide"])
def test_a_path_or_glob_that_no_system_opens_is_refused(artifact: ArtifactOnDisk, path: str) -> None:
    put(artifact.spec, path, ["[" * 400_000] if path.endswith("exclude") else "a" * 4097)
    problem = next(problem for problem in artifact.problems() if problem.where.startswith(path))
    assert "4096 are allowed" in problem.found


@pytest.mark.parametrize(
    "address", ["https://[::1/x", "https://[x]/y", "https://h:port/x", "https://h:99999/x", "https://h:0/x"]
)
def test_an_address_without_a_possible_host_is_refused(artifact: ArtifactOnDisk, address: str) -> None:
    artifact.spec["source"] = {"archive": address, "sha256": "0" * 64}
    assert artifact.problem().where == "source.archive"


@pytest.mark.parametrize(
    ("name", "data"), [("GUIDE.md", b" \n"), ("GUIDE.md", b"\xff"), ("requirements.in", b"\xff")]
)
def test_texts_are_utf8_and_a_guide_is_not_empty(artifact: ArtifactOnDisk, name: str, data: bytes) -> None:
    artifact.write(name, data)
    assert artifact.problem().where in ("guide", "environment.python.requirements")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("paper.id", "Wine_Classifiers"),
        ("paper.id", "a" * 65),
        ("paper.title", "a\x1b[31mb"),
        ("paper.year", "92"),
        ("paper.doi", "doi:10.1/x"),
        ("paper.url", "https://user:pw@example.org"),
        ("version", "1.0+dirty"),
        ("license", "MIT or so"),
        ("environment.variables", {"A B": "x"}),
        ("environment.variables", {"A": "x\0y"}),
        ("environment.apt", ["libgl1=1"]),
        ("environment.apt", ["-o"]),
        ("environment.python.exclude_newer", "2026-02-30"),
        ("environment.python.exclude_newer", "2026-01-01T00:00:00"),
        ("environment.python.indexes", ["file:///x"]),
        ("environment.python.owners", {"/etc/x": "numpy"}),
        ("environment.python.owners", {"../x": "numpy"}),
        ("environment.python.owners", {"shared/*.py": "numpy"}),
        ("environment.python.owners", {"shared/a?.py": "numpy"}),
        ("environment.python.owners", {"shared/[ab].py": "numpy"}),
        ("environment.python.bytecode", "often"),
        ("schema", "reprobridge.artifact/2"),
    ],
)
def test_a_value_of_the_wrong_form_is_refused_at_its_place(
    artifact: ArtifactOnDisk, path: str, value: object
) -> None:
    put(artifact.spec, path, value)
    assert artifact.problem().where.startswith(path)


@pytest.mark.parametrize(("key", "hint"), [("../x", ""), ("shared/*", "a line for each file")])
def test_an_owned_path_is_never_said_to_be_a_pattern(artifact: ArtifactOnDisk, key: str, hint: str) -> None:
    put(artifact.spec, "environment.python.owners", {key: "numpy"})
    problem = artifact.problem()
    assert "pattern" not in problem.expected
    assert hint in str(problem.hint)


@pytest.mark.parametrize(
    "address",
    [
        "https://ann:secret@git.example.org/x",
        "https://secret@git.example.org/x",
        "ssh://ann:secret@git.example.org/x",
        "file://ann:secret@/x",
        "https://git.example.org/x.git?private_token=secret",
        "https://git.example.org/x.git#access_token=secret",
        "ssh://git@git.example.org/x?job_token=secret",
        "git@git.example.org:x.git?private_token=secret",
    ],
)
def test_an_address_with_a_password_is_refused_and_not_shown(artifact: ArtifactOnDisk, address: str) -> None:
    artifact.spec["source"] = {"git": address, "commit": "0" * 40}
    problem = artifact.problem()
    assert problem.where == "source.git"
    assert "credential helper" in str(problem)
    assert "secret" not in str(problem)


@pytest.mark.parametrize("path", ["source.archive", "environment.python.indexes", "repository", "paper.url"])
@pytest.mark.parametrize(
    "address",
    [
        "https://h.example.org/x.tar.gz?private_token=secret",
        "https://h.example.org/x.tar.gz?response=attachment&X-Amz-Signature=secret",
        "https://ann:secret@h.example.org/x.tar.gz",
    ],
)
def test_no_published_address_may_hold_a_password_or_token(
    artifact: ArtifactOnDisk, path: str, address: str
) -> None:
    artifact.spec["source"] = {"archive": "https://h.example.org/x.tar.gz", "sha256": "0" * 64}
    put(artifact.spec, path, [address] if path.endswith("indexes") else address)
    problem = artifact.problem()
    assert problem.where.startswith(path)
    assert "private-sources.md" in str(problem)
    assert "secret" not in str(problem)


@pytest.mark.parametrize("query", ["download=1", "raw=true", "ref=v1&path=a/b.tgz", "inline=false#top"])
def test_an_address_with_another_question_is_taken(artifact: ArtifactOnDisk, query: str) -> None:
    address = f"https://h.example.org/x.tar.gz?{query}"
    artifact.spec["source"] = {"archive": address, "sha256": "0" * 64}
    assert artifact.read().source == ArchiveSource(address, Digest("0" * 64), None)


@pytest.mark.parametrize("address", ["ext::sh -c x", "/srv/x", "../x", "h:x/y"])
def test_an_address_of_a_wrong_form_is_refused_with_the_right_ones(
    artifact: ArtifactOnDisk, address: str
) -> None:
    artifact.spec["source"] = {"git": address, "commit": "0" * 40}
    problem = artifact.problem()
    assert problem.where == "source.git"
    assert "USER@HOST:PATH" in str(problem)
    assert "login" not in str(problem)


@pytest.mark.parametrize("name", ["libxml2=2.9.14", "libxml2:i386"])
def test_a_debian_package_with_version_or_architecture_is_refused_with_the_reason(
    artifact: ArtifactOnDisk, name: str
) -> None:
    artifact.spec["environment"]["apt"] = [name]
    problem = artifact.problem()
    assert problem.where == "environment.apt[0]"
    assert "the lock chooses the version" in str(problem)


@pytest.mark.parametrize(
    "address", ["ssh://git@h/x.git", "ssh://h:2222/~ann/x@1", "ssh://git@[::1]:22/x", "git@h:x/y.git"]
)
def test_an_address_of_ssh_may_name_a_user_and_a_port(artifact: ArtifactOnDisk, address: str) -> None:
    artifact.spec["source"] = {"git": address, "commit": "0" * 40}
    assert isinstance(artifact.read().source, GitSource)
