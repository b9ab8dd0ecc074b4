"""Locking an artifact: wishes, answers, and which answers are stale."""

import shutil
from pathlib import Path

import pytest

from reprobridge.errors import LockError
from reprobridge.frozen import replace
from reprobridge.lock.doors import Doors
from reprobridge.lock.file import read_lock, write_lock
from reprobridge.lock.freshness import require_fresh, stale_wishes
from reprobridge.lock.lock import LockOptions, lock_artifact
from reprobridge.lock.tools import current_tools, require_tools, tool_differences
from reprobridge.spec.parse import read_spec
from reprobridge.store.store import Store
from reprobridge.system.network import Offline
from reprobridge.system.processes import RealProcesses
from support.artifacts import MINIMAL
from support.specs import sample_change


@pytest.fixture
def doors(store_folder: Path) -> Doors:
    """Doors without a network: what is asked here must be answered without."""
    return Doors(store=Store(store_folder), processes=RealProcesses(), network=Offline(), environment={})


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    """The smallest artifact, to edit."""
    return Path(shutil.copytree(MINIMAL, tmp_path / "minimal"))


def places(artifact: Path, doors: Doors) -> list[str]:
    """Which wishes of the artifact its lock does not answer."""
    lock = read_lock(artifact / "reprobridge.lock")
    return [problem.where for problem in stale_wishes(read_spec(artifact), lock, artifact, doors)]


def edit(path: Path, old: str, new: str) -> None:
    """Replace text in a file; it must be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_committed_lock_is_fresh_and_locking_again_changes_nothing(artifact: Path, doors: Doors) -> None:
    lock = read_lock(artifact / "reprobridge.lock")
    assert places(artifact, doors) == []
    again = lock_artifact(read_spec(artifact), lock, LockOptions(), artifact, doors).lock
    assert again == lock


def test_locking_from_nothing_gives_the_same_lock(artifact: Path, doors: Doors) -> None:
    lock = read_lock(artifact / "reprobridge.lock")
    made = lock_artifact(read_spec(artifact), None, LockOptions(), artifact, doors).lock
    assert made == replace(lock, tools=current_tools())


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("[python, run.py]", None),
        ("[python, eval.py, --fast]", '"eval.py"'),
        ("[bash, ./sub/../sub/x.sh]", None),
        ("[bash, ./sub//x.sh]", '"sub/x.sh"'),
        ("[./solver]", '"solver"'),
        ("[solver, run.py]", None),
        ("[python, -m, eval]", None),
        ("[python, /tmp/made.py]", None),
        ("[python, .]", None),
    ],
)
def test_a_command_that_names_a_file_which_the_code_lacks_is_warned_of(
    artifact: Path, doors: Doors, command: str, missing: str | None
) -> None:
    lock = read_lock(artifact / "reprobridge.lock")
    lock_artifact(read_spec(artifact), lock, LockOptions(), artifact, doors)  # has the code in the store
    edit(artifact / "reprobridge.yaml", "command: [python, run.py]\n", f"command: {command}\n")
    edit(artifact / "reprobridge.yaml", "[python, run.py, --patients", "[python, absent.py, --patients")
    warned = lock_artifact(read_spec(artifact), lock, LockOptions(), artifact, doors).warnings
    said = "is not in the code, so that the command can't start"
    smoke = f'tasks[0].smoke.command: "absent.py" {said}'
    assert warned == ((f"tasks[0].command: {missing} {said}", smoke) if missing else (smoke,))


def test_a_model_that_the_code_lacks_is_warned_of(artifact: Path, doors: Doors) -> None:
    (artifact / "src" / "models").mkdir()
    for name in ("kept.pt", "lost.pt"):
        (artifact / "src" / "models" / name).write_bytes(b"model")
    models = "scope: evaluation_only\n    checkpoints: [models/kept.pt, models/lost.pt]\n"
    edit(artifact / "reprobridge.yaml", "scope: full_pipeline\n", models)
    edit(artifact / "reprobridge.yaml", 'exclude: ["', 'exclude: ["models/lost.pt", "')
    lock = read_lock(artifact / "reprobridge.lock")
    warned = lock_artifact(read_spec(artifact), lock, LockOptions(), artifact, doors).warnings
    place = "tasks[0].checkpoints[1]"
    assert warned == (f'{place}: "models/lost.pt" is not in the code, so that there is no model to evaluate',)


def test_a_file_behind_a_link_of_the_code_is_not_warned_of(artifact: Path, doors: Doors) -> None:
    (artifact / "src" / "deep").mkdir()
    (artifact / "src" / "deep" / "x.py").write_text("")
    (artifact / "src" / "link").symlink_to("deep")
    edit(artifact / "reprobridge.yaml", "command: [python, run.py]\n", "command: [python, link/x.py]\n")
    lock = read_lock(artifact / "reprobridge.lock")
    assert lock_artifact(read_spec(artifact), lock, LockOptions(), artifact, doors).warnings == ()


def test_an_edited_source_is_stale_in_the_source_only(artifact: Path, doors: Doors) -> None:
    (artifact / "src" / "more.py").write_text("")
    assert places(artifact, doors) == ["source"]


def test_another_package_is_stale_in_that_section_only(artifact: Path, doors: Doors) -> None:
    (artifact / "requirements.in").write_text("six\n")
    assert places(artifact, doors) == ["platforms.linux/amd64.python"]
    with pytest.raises(LockError, match="python"):
        require_fresh(read_spec(artifact), read_lock(artifact / "reprobridge.lock"), artifact, doors)


def test_another_base_system_is_stale_in_both_sections(artifact: Path, doors: Doors) -> None:
    edit(artifact / "reprobridge.yaml", "debian12-py311", "debian13-py313")
    assert places(artifact, doors) == [
        "template",
        "platforms.linux/amd64.debian",
        "platforms.linux/amd64.python",
    ]


def test_locking_refuses_a_file_for_a_package_that_is_not_locked(artifact: Path, doors: Doors) -> None:
    spec, lock = read_spec(artifact), read_lock(artifact / "reprobridge.lock")
    python = replace(spec.environment.python, owners={"common/__init__.py": "nosuch-pkg"})
    named = replace(spec, environment=replace(spec.environment, python=python))
    with pytest.raises(LockError, match="nosuch-pkg") as caught:
        lock_artifact(named, lock, LockOptions(), artifact, doors)
    assert caught.value.where == "environment.python.owners"


def test_relocking_an_edited_source_keeps_every_package(artifact: Path, doors: Doors) -> None:
    lock = read_lock(artifact / "reprobridge.lock")
    (artifact / "src" / "more.py").write_text("")
    made = lock_artifact(read_spec(artifact), lock, LockOptions(), artifact, doors).lock
    assert made.platforms == lock.platforms
    assert made.source.tree != lock.source.tree


def test_a_lock_of_other_tools_is_refused_until_upgraded(artifact: Path, doors: Doors) -> None:
    lock = read_lock(artifact / "reprobridge.lock")
    older = replace(lock, tools=replace(current_tools(), converters={"wheel": 0}))
    assert "tools.converters.wheel" in [problem.where for problem in tool_differences(older.tools)]
    with pytest.raises(LockError, match="upgrade-tools"):
        require_tools(older.tools, "reprobridge.lock", artifact)
    kept = lock_artifact(read_spec(artifact), older, LockOptions(), artifact, doors).lock
    assert kept.tools == older.tools
    made = lock_artifact(read_spec(artifact), older, LockOptions(tools=True), artifact, doors).lock
    require_tools(made.tools, "reprobridge.lock")


def test_no_host_stands_in_a_lock(artifact: Path) -> None:
    assert "://" not in (artifact / "reprobridge.lock").read_text()


def test_a_lock_of_another_template_is_stale(artifact: Path, doors: Doors) -> None:
    edit(artifact / "reprobridge.lock", '"template": "debian12-py311"', '"template": "debian13-py313"')
    assert places(artifact, doors) == ["template"]


@pytest.mark.parametrize(("field", "value"), [("kind", "git"), ("origin", "elsewhere"), ("commit", "0" * 40)])
def test_a_lock_that_names_another_source_than_the_spec_is_refused_and_corrected(
    artifact: Path, doors: Doors, field: str, value: str
) -> None:
    right = read_lock(artifact / "reprobridge.lock")
    edited = replace(right, source=replace(right.source, **{field: value}))
    write_lock(artifact / "reprobridge.lock", edited)
    assert places(artifact, doors) == [f"source.{field}"]
    assert lock_artifact(read_spec(artifact), edited, LockOptions(), artifact, doors).lock == right


def test_a_lock_that_does_not_say_what_the_changes_do_is_refused_and_completed(
    artifact: Path, doors: Doors
) -> None:
    plain, change = read_spec(artifact), sample_change()
    patch = b"--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+1\n"
    spec = replace(plain, changes=(change,), files={**plain.files, change.patch: patch})
    right = lock_artifact(spec, None, LockOptions(), artifact, doors).lock
    assert [change.files for change in right.source.changes] == [("new.py",)]
    before = replace(right, source=replace(right.source, changes=()))
    (problem,) = stale_wishes(spec, before, artifact, doors)
    assert (problem.where, problem.found) == ("source.changes", "what 0 others do")
    assert lock_artifact(spec, before, LockOptions(), artifact, doors).lock == right


def test_a_lock_that_names_another_interpreter_than_its_template_is_refused(
    artifact: Path, doors: Doors
) -> None:
    edit(artifact / "reprobridge.lock", "/usr/bin/python3.11", "/bin/sh")
    assert places(artifact, doors) == ["platforms.linux/amd64.python.interpreter"]


class TestBytecode:
    """The key `environment.python.bytecode` in a lock."""

    @pytest.fixture
    def asking(self, artifact: Path) -> Path:
        edit(artifact / "reprobridge.yaml", "python: {", "python: {bytecode: true, ")
        return artifact

    def test_asking_for_it_is_stale_in_that_place_only(self, asking: Path, doors: Doors) -> None:
        assert places(asking, doors) == ["platforms.linux/amd64.python.bytecode"]

    def test_it_is_locked_without_asking_anybody_and_pins_its_converter(
        self, asking: Path, doors: Doors
    ) -> None:
        before = read_lock(asking / "reprobridge.lock")
        made = lock_artifact(read_spec(asking), before, LockOptions(), asking, doors).lock
        write_lock(asking / "reprobridge.lock", made)
        assert read_lock(asking / "reprobridge.lock") == made
        assert places(asking, doors) == []
        assert set(made.tools.converters) - set(before.tools.converters) == {"bytecode"}
        assert tool_differences(made.tools) == tool_differences(before.tools)
        older = replace(made.tools, converters={**made.tools.converters, "bytecode": 0})
        assert "tools.converters.bytecode" in [problem.where for problem in tool_differences(older)]

    def test_taking_it_back_gives_the_lock_that_was(self, asking: Path, doors: Doors) -> None:
        before = read_lock(asking / "reprobridge.lock")
        made = lock_artifact(read_spec(asking), before, LockOptions(), asking, doors).lock
        edit(asking / "reprobridge.yaml", "bytecode: true, ", "")
        assert places(asking, doors) == []
        assert lock_artifact(read_spec(asking), made, LockOptions(), asking, doors).lock == before

    def test_a_lock_without_it_has_no_word_of_it(self, artifact: Path) -> None:
        assert "bytecode" not in (artifact / "reprobridge.lock").read_text()

    def test_a_lock_that_does_not_pin_the_converter_is_refused(self, artifact: Path) -> None:
        edit(artifact / "reprobridge.lock", '"interpreter":', '"bytecode": true, "interpreter":')
        with pytest.raises(LockError, match="pins a converter where it is used, and only there"):
            read_lock(artifact / "reprobridge.lock")
