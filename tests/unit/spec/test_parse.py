"""Reading reprobridge.yaml: what it becomes, and that all problems come together, each with its place."""

from pathlib import Path, PurePosixPath

import pytest

from reprobridge.errors import SpecError
from reprobridge.spec.model import FolderSource, GitSource, PypiSource, Reduce, References
from reprobridge.spec.parse import read_spec
from support.artifact_on_disk import FILES, TEMPLATES, ArtifactOnDisk


def test_a_whole_specification_becomes_typed_values(artifact: ArtifactOnDisk) -> None:
    spec = artifact.read()
    assert spec.paper.authors == ("Ada", "Bob")
    assert spec.source == FolderSource(PurePosixPath("src"))
    assert spec.exclude == ("results/**",)
    assert spec.environment.variables == {"OMP_NUM_THREADS": "1"}
    (task,) = spec.tasks
    assert task.smoke is not None
    assert task.smoke.timeout == 60
    assert task.resources.memory == 500_000_000
    assert task.resources.time == 7200
    assert task.published.range == ("98.8", "99")
    assert (task.measurement.lower_bound, task.measurement.upper_bound) == ("0", "100")
    assert task.extract.parameters == {"regex": "accuracy: (?P<value>[0-9.]+)", "occurrence": "all"}
    assert task.extract.reduce == Reduce(how="mean", expect=2)
    assert task.references == References(observations=("98.88", "98.9"), where="five machines")


def test_every_named_file_is_kept_with_its_bytes(artifact: ArtifactOnDisk) -> None:
    spec = artifact.read()
    named = ("GUIDE.md", "constraints.txt", "patches/one.patch", "requirements.in")
    assert {
        path.as_posix(): data for path, data in spec.files.items() if path.name != "reprobridge.yaml"
    } == {name: FILES[name] for name in named}
    assert (
        spec.files[PurePosixPath("reprobridge.yaml")] == (artifact.folder / "reprobridge.yaml").read_bytes()
    )


def test_the_digest_changes_with_any_named_file(artifact: ArtifactOnDisk) -> None:
    before = artifact.read().digest()
    assert artifact.read().digest() == before
    artifact.write("GUIDE.md", b"# Another guide\n")
    assert artifact.read().digest() != before


def test_scalars_are_typed_by_their_key_and_not_by_yaml(artifact: ArtifactOnDisk) -> None:
    text = f"""
schema: reprobridge.artifact/1
paper: {{id: a1, title: no, authors: [1e5, yes], year: 2020}}
version: 1.10
license: MIT
source: {{git: https://example.org/x.git, commit: {"1" * 40}}}
environment: {{template: debian12-py311, variables: {{A: 1.0, B: true, C: ""}}}}
tasks:
  - id: 1
    title: 007
    experiment: {{id: 1, dataset: on, split: 2026-01-01, variant: 0x1F}}
    published: {{location: Table 1, raw: 9.89e1, value: 9.89e1, decimals: 1}}
    measurement: {{name: accuracy, unit: percent, direction: higher}}
    scope: full_pipeline
    command: [python, 1, no]
    extract: {{file: stdout, json: /1}}
guide: GUIDE.md
"""
    spec = artifact.read(text)
    assert spec.paper.title == "no"
    assert spec.paper.authors == ("1e5", "yes")
    assert spec.version == "1.10"
    assert spec.source == GitSource("https://example.org/x.git", "1" * 40)
    assert spec.environment.variables == {"A": "1.0", "B": "true", "C": ""}
    (task,) = spec.tasks
    assert (task.id, task.title, task.experiment.split) == ("1", "007", "2026-01-01")
    assert task.published.value == "98.9"
    assert task.published.raw == "9.89e1"
    assert task.command == ("python", "1", "no")
    assert task.extract.parameters == {"json": "/1", "occurrence": "only"}


def test_all_problems_come_together_in_the_order_of_the_file(artifact: ArtifactOnDisk) -> None:
    artifact.spec["version"] = "1 0"
    artifact.task["extract"]["regex"] = "accuracy"
    artifact.spec["decisions"]["ambiguities"][0]["tasks"] = ["qda"]
    artifact.spec["paper"]["year"] = "soon"
    artifact.spec["guide"] = "missing.md"
    assert [problem.where for problem in artifact.problems()] == [
        "paper.year",
        "version",
        "tasks[0].extract.regex",
        "decisions.ambiguities[0].tasks[0]",
        "guide",
    ]


def test_a_problem_says_place_line_expectation_finding_and_hint(artifact: ArtifactOnDisk) -> None:
    artifact.spec["environment"]["template"] = "debian12-py31"
    problem = artifact.problem()
    lines = (artifact.folder / "reprobridge.yaml").read_text().splitlines()
    assert problem.line == next(n for n, line in enumerate(lines, 1) if "debian12-py31" in line)
    assert str(problem) == (
        f"environment.template (line {problem.line}): expected the name of a template, "
        'found "debian12-py31"\n  hint: did you mean debian12-py311?'
    )


def test_a_misspelt_key_is_one_problem_with_the_key_that_was_meant(artifact: ArtifactOnDisk) -> None:
    artifact.spec["paper"]["titel"] = artifact.spec["paper"].pop("title")
    problem = artifact.problem()
    assert (problem.where, problem.hint) == ("paper.titel", "did you mean title?")


def test_swapped_letters_are_a_misspelt_key_too(artifact: ArtifactOnDisk) -> None:
    artifact.spec["lisence"] = artifact.spec.pop("license")
    problem = artifact.problem()
    assert (problem.where, problem.hint) == ("lisence", "did you mean license?")


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ("reprobridge.artifact/2", "the file is written for a newer release: upgrade reprobridge"),
        ("reprobridge.artefact/1", "did you mean reprobridge.artifact/1?"),
        ("reprobridge.artifact/0", "did you mean reprobridge.artifact/1?"),
    ],
)
def test_a_format_of_a_newer_release_is_told_from_a_mistyped_one(
    schema: str, hint: str, artifact: ArtifactOnDisk
) -> None:
    artifact.spec["schema"] = schema
    problem = artifact.problem()
    assert (problem.where, problem.hint) == ("schema", hint)


def test_an_unknown_key_like_no_other_is_refused_with_the_keys_that_there_are(
    artifact: ArtifactOnDisk,
) -> None:
    artifact.spec["paper"]["zzz"] = "x"
    problem = artifact.problem()
    assert problem.where == "paper.zzz"
    assert problem.hint is not None
    assert "title" in problem.hint


def test_a_misspelt_kind_of_source_is_found(artifact: ArtifactOnDisk) -> None:
    artifact.spec["source"] = {"paths": "src"}
    problem = artifact.problem()
    assert (problem.where, problem.hint) == ("source", "did you mean path?")


@pytest.mark.parametrize(
    ("section", "key"),
    [(None, "data"), ("environment", "conda"), ("environment", "nix"), ("environment", "base")],
)
def test_a_key_that_this_release_cannot_honour_is_an_error_that_says_so(
    artifact: ArtifactOnDisk, section: str | None, key: str
) -> None:
    target = artifact.spec[section] if section else artifact.spec
    target[key] = "x"
    problem = artifact.problem()
    assert problem.where == (f"{section}.{key}" if section else key)
    assert "not supported by this release" in problem.expected


def test_another_platform_is_an_error_that_says_so(artifact: ArtifactOnDisk) -> None:
    artifact.spec["environment"]["platforms"] = ["linux/amd64", "linux/arm64"]
    problem = artifact.problem()
    assert problem.where == "environment.platforms[1]"
    assert problem.hint is not None
    assert "not supported by this release" in problem.hint


def test_an_optional_key_may_be_null(artifact: ArtifactOnDisk) -> None:
    artifact.spec["paper"]["doi"] = None
    artifact.task["resources"] = None
    artifact.task["references"] = None
    spec = artifact.read()
    assert spec.paper.doi is None
    assert spec.tasks[0].resources.memory is None
    assert spec.tasks[0].references is None


def test_a_required_key_may_not_be_null(artifact: ArtifactOnDisk) -> None:
    artifact.spec["paper"]["title"] = None
    problem = artifact.problem()
    assert (problem.where, problem.found) == ("paper.title", "nothing")


def test_a_source_release_is_normalised(artifact: ArtifactOnDisk) -> None:
    artifact.task.update({"scope": "full_pipeline", "checkpoints": []})
    artifact.spec["source"] = {"pypi": "Py_GAM.x==0.9.1"}
    assert artifact.read().source == PypiSource("py-gam-x", "0.9.1")


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ({}, "source"),
        ({"git": "https://example.org/x", "path": "src"}, "source"),
        ({"git": "https://example.org/x"}, "source.commit"),
        ({"git": "https://example.org/x", "commit": "abc"}, "source.commit"),
        ({"git": "--upload-pack=x", "commit": "1" * 40}, "source.git"),
        ({"git": "ext::sh -c x", "commit": "1" * 40}, "source.git"),
        ({"git": "https://me:secret@example.org/x", "commit": "1" * 40}, "source.git"),
        ({"archive": "https://example.org/x.tgz", "sha256": "zz"}, "source.sha256"),
        ({"archive": "/etc/passwd", "sha256": "0" * 64}, "source.archive"),
        ({"pypi": "numpy"}, "source.pypi"),
        ({"pypi": "numpy==1.*"}, "source.pypi"),
        ({"path": "."}, "source.path"),
        ({"path": "../elsewhere"}, "source.path"),
        ({"path": "/etc"}, "source.path"),
        ({"path": "none"}, "source.path"),
        ({"path": "GUIDE.md"}, "source.path"),
        ({"path": "src", "commit": "1" * 40}, "source.commit"),
        ({"path": "src", "exclude": ["../x"]}, "source.exclude[0]"),
    ],
)
def test_a_wrong_source_is_refused(artifact: ArtifactOnDisk, source: dict[str, object], where: str) -> None:
    artifact.task.update({"scope": "full_pipeline", "checkpoints": []})
    artifact.spec["source"] = source
    assert where in [problem.where for problem in artifact.problems()]


@pytest.mark.parametrize(
    "remote",
    ["git@example.org:a/b.git", "ssh://git@example.org/a/b", "file:///srv/a.git", "https://example.org/a"],
)
def test_usual_git_addresses_are_taken(artifact: ArtifactOnDisk, remote: str) -> None:
    artifact.spec["source"] = {"git": remote, "commit": "a" * 40}
    assert artifact.read().source == GitSource(remote, "a" * 40)


def test_a_folder_without_specification_points_to_init(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        read_spec(tmp_path, templates=TEMPLATES)
    (problem,) = caught.value.problems
    assert problem.hint is not None
    assert "reprobridge init" in problem.hint
    assert caught.value.exit_code == 2


def test_references_may_be_a_list_or_a_file(artifact: ArtifactOnDisk) -> None:
    artifact.task["references"] = ["1.0", "2e1"]
    assert artifact.read().tasks[0].references == References(observations=("1", "20"), where="not stated")
    artifact.task["references"] = "references.yaml"
    spec = artifact.read()
    assert spec.tasks[0].references == References(observations=("1", "2"), where="five machines")
    assert spec.files[PurePosixPath("references.yaml")] == FILES["references.yaml"]


def test_a_problem_in_a_references_file_names_that_file(artifact: ArtifactOnDisk) -> None:
    artifact.task["references"] = "references.yaml"
    artifact.write("references.yaml", b"where: here\nobservations: [1, x]\n")
    assert artifact.problem().where == "references.yaml: observations[1]"
    artifact.write("references.yaml", b"where: [\n")
    assert artifact.problem().where.startswith("references.yaml, line ")
    artifact.write("references.yaml", b"other.yaml\n")
    assert artifact.problem().where == "tasks[0].references"
