"""Bytecode as part of an image: what is compiled, what is left out, and whose it is."""

import gzip
import importlib.util
import io
import json
import py_compile
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from reprobridge.assemble.build_room import Silence
from reprobridge.assemble.bytecode.convert import find_compiled
from reprobridge.assemble.bytecode.room import CompilingRoom, compile_in_room
from reprobridge.assemble.image import Making, build_image
from reprobridge.assemble.model import BuiltImage
from reprobridge.errors import AssembleError, SandboxError
from reprobridge.frozen import replace
from reprobridge.lock.model import LockedFile
from reprobridge.oci.layout import read_parts
from reprobridge.plan.bytecode import bytecode_owner, bytecode_path, bytecode_tag
from reprobridge.plan.model import (
    BuildPlan,
    BytecodeRecipe,
    ConfigPlan,
    FragmentRecipe,
    LayerPlan,
    WheelRecipe,
)
from reprobridge.sandbox.model import Layer, Shell
from reprobridge.store.store import Store
from reprobridge.system.bytecode_frontend import BYTECODE, PASSES, RESULT
from reprobridge.system.processes import Command, Completed
from support.host_compiler import PYTHON, HostCompiler, HostSandbox
from support.lock_doors import doors
from support.wheels import Content, WheelSource, build_wheel

SITE = f"opt/env/lib/python{PYTHON}/site-packages"
MODULE = "def f(x):\n    return x in {'a', 'b', 'c'}\n"


@pytest.fixture
def store(store_folder: Path) -> Store:
    return Store(store_folder)


def wheel(
    store: Store, name: str, files: Mapping[str, Content], **more: Mapping[str, Content]
) -> WheelRecipe:
    """A wheel of these files, in the store."""
    made = build_wheel(WheelSource(name=name, files=files, **more))  # type: ignore[arg-type]  # its other fields
    return WheelRecipe(wheel=LockedFile(made.filename, store.add(made.data), len(made.data)), python=PYTHON)


def bytecode(*of: WheelRecipe) -> BytecodeRecipe:
    """The bytecode of wheels, on nothing."""
    return BytecodeRecipe(of=of, python=PYTHON, interpreter="/usr/bin/python3", ground=())


def plan_of(*layers: Sequence[FragmentRecipe], owners: Mapping[str, str] | None = None) -> BuildPlan:
    """A plan of layers with these parts."""
    config = ConfigPlan(created="", entrypoint=(), environment={}, working_directory="/", annotations={})
    return BuildPlan(
        name="reprobridge/x",
        version="1",
        platform="linux/amd64",
        layers=tuple(LayerPlan(title=str(n), parts=tuple(parts)) for n, parts in enumerate(layers)),
        config=config,
        owners=owners or {},
    )


def build(plan: BuildPlan, store: Store, after: Callable[[Path], object] = lambda work: None) -> BuiltImage:
    """The plan's image; `after` sees what the interpreter left."""
    arrivals = HostCompiler(store, HostSandbox(after=after))
    return build_image(plan, store, Making(arrivals=arrivals, progress=Silence(), workers=1))


def layers_of(image: BuiltImage, store: Store) -> list[dict[str, bytes]]:
    """The files of each layer by path below site-packages."""
    parts = read_parts(image.name, image.version, image.manifest, store.path)
    return [_files(store.read(layer.digest)) for layer in parts.layers]


def _files(layer: bytes) -> dict[str, bytes]:
    found = {}
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(layer))) as archive:
        for member in archive:
            if member.isreg() and (stream := archive.extractfile(member)):
                assert (member.mode, member.mtime, member.uid) == (0o644, 315619200, 0)
                found[member.name.removeprefix(f"{SITE}/")] = stream.read()
    return found


def compiled(store: Store, *of: WheelRecipe) -> dict[str, bytes]:
    """The bytecode of wheels."""
    return layers_of(build(plan_of([bytecode(*of)]), store), store)[0]


def cached(path: str) -> str:
    """Where the bytecode of a module stands, both below site-packages."""
    return bytecode_path(f"{SITE}/{path}", PYTHON).removeprefix(f"{SITE}/")


def by_py_compile(text: str, path: str, folder: Path) -> bytes:
    """What Python's own tool makes of a module that stands there."""
    source, target = folder / "source.py", folder / "target.pyc"
    source.write_text(text)
    py_compile.compile(
        str(source),
        str(target),
        dfile=path,
        doraise=True,
        optimize=0,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    return target.read_bytes()


def test_bytecode_is_that_of_py_compile_for_the_modules_place_in_the_image(
    store: Store, tmp_path: Path
) -> None:
    made = compiled(store, wheel(store, "a", {"a/__init__.py": "", "a/b.py": MODULE}))
    assert made == {
        cached("a/__init__.py"): by_py_compile("", f"/{SITE}/a/__init__.py", tmp_path),
        cached("a/b.py"): by_py_compile(MODULE, f"/{SITE}/a/b.py", tmp_path),
    }


def test_its_place_is_the_one_where_the_interpreter_looks() -> None:
    for path in ("/x/a/__init__.py", "/x/b.py", "/x/c.d.py"):
        assert bytecode_path(path, PYTHON) == importlib.util.cache_from_source(path, optimization="")


def test_what_else_is_compiled_makes_no_difference(store: Store, tmp_path: Path) -> None:
    mine = wheel(store, "mine", {"mine.py": MODULE})
    others = [wheel(store, name, {f"{name}.py": MODULE * 3 + f"{name} = 'a'\n"}) for name in ("a", "z")]
    together = build(plan_of([bytecode(others[0]), bytecode(mine), bytecode(others[1])]), store)
    alone = Store(tmp_path / "alone")
    assert (
        compiled(alone, wheel(alone, "mine", {"mine.py": MODULE})).items()
        <= layers_of(together, store)[0].items()
    )


def test_only_modules_are_compiled(store: Store) -> None:
    made = wheel(
        store,
        "a",
        {"a.py": "", "a/data.txt": "", "a/__pycache__/odd.py": ""},
        data={"scripts/tool.py": "", "data/share/x.py": "", "purelib/b.py": ""},
    )
    assert set(compiled(store, made)) == {cached("a.py"), cached("b.py")}


def test_a_package_without_modules_has_an_empty_layer(store: Store) -> None:
    assert compiled(store, wheel(store, "a", {"a.so": b"\x7fELF"})) == {}


def test_bytecode_that_a_wheel_brings_is_left_to_it(store: Store) -> None:
    made = wheel(store, "a", {"a.py": "", "b.py": "", cached("a.py"): b"its own"})
    assert set(compiled(store, made)) == {cached("b.py")}


def test_what_is_no_python_of_this_interpreter_is_left_out_without_a_word(store: Store) -> None:
    recipe = bytecode(
        wheel(store, "a", {"a.py": "", "old.py": "print 1\n", "binary.py": b"\0", "latin.py": b"'\xe9'\n"})
    )
    image = build(plan_of([recipe]), store)
    assert set(layers_of(image, store)[0]) == {cached("a.py")}
    assert image.notes == ()


def test_bytecode_that_two_compilations_give_differently_is_left_out_and_named(store: Store) -> None:
    def disturb(work: Path) -> None:
        """As if the second compilation depended on its order: the last byte of what it made first is another."""
        folder = work / PASSES[1]
        start, length = json.loads((folder / RESULT).read_text())["made"][-1]
        data = bytearray((folder / BYTECODE).read_bytes())
        data[start + length - 1] ^= 1
        (folder / BYTECODE).write_bytes(data)

    recipe = bytecode(wheel(store, "a", {"a.py": MODULE, "b.py": MODULE}))
    image = build(plan_of([recipe]), store, disturb)
    assert set(layers_of(image, store)[0]) == {cached("a.py")}
    assert image.notes == (f"/{SITE}/b.py: no bytecode, since two compilations gave different ones",)


def test_an_interpreter_of_another_version_than_the_locks_is_refused(store: Store) -> None:
    recipe = replace(bytecode(wheel(store, "a", {"a.py": ""})), python="3.2")
    with pytest.raises(AssembleError, match="another one than the lock says"):
        build(plan_of([recipe]), store)


def test_passes_by_two_interpreters_are_refused_and_both_are_named(store: Store) -> None:
    def exchange(work: Path) -> None:
        """As if the second pass had been another interpreter's."""
        result = work / PASSES[1] / RESULT
        result.write_text(json.dumps({**json.loads(result.read_text()), "tag": "cpython-32"}))

    with pytest.raises(AssembleError, match="another one than the lock says") as caught:
        build(plan_of([bytecode(wheel(store, "a", {"a.py": ""}))]), store, exchange)
    assert caught.value.found == f"{bytecode_tag(PYTHON)} and cpython-32"


def cut(folder: Path) -> None:
    """The last byte of what was made is lacking, as on a full disk."""
    (folder / BYTECODE).write_bytes((folder / BYTECODE).read_bytes()[:-1])


def forget(folder: Path) -> None:
    """One source less was compiled."""
    answer = json.loads((folder / RESULT).read_text())
    (folder / RESULT).write_text(json.dumps({**answer, "made": answer["made"][1:]}))


def empty(folder: Path) -> None:
    """Nothing is said."""
    (folder / RESULT).write_bytes(b"")


@pytest.mark.parametrize("harm", [cut, forget, empty])
def test_passes_that_are_not_complete_are_refused_and_nothing_is_kept(
    store: Store, harm: Callable[[Path], None]
) -> None:
    def harm_both(work: Path) -> None:
        for name in PASSES:
            harm(work / name)

    recipe = bytecode(wheel(store, "a", {"a.py": MODULE, "b.py": MODULE}))
    with pytest.raises(AssembleError, match=r"compiling forwards: .* left something else than it should"):
        build(plan_of([recipe]), store, harm_both)
    assert find_compiled(recipe, store) is None


@pytest.mark.parametrize(
    ("timed_out", "expected", "found"),
    [
        (False, "exit status 0", "died with SIGSEGV"),
        (True, "an end within 10800 seconds", "no answer in time"),
    ],
)
def test_an_interpreter_that_fails_is_named_with_its_last_word(
    store: Store, *, timed_out: bool, expected: str, found: str
) -> None:
    class Failing(HostSandbox):
        def run(self, layers: Sequence[Layer], shell: Shell) -> Completed:
            said = b"died with SIGSEGV\n"
            return Completed(argv=shell.argv, returncode=1, stdout=b"", stderr=said, timed_out=timed_out)

    room = CompilingRoom(sandbox=Failing(), layers=[], doors=doors(store.root))
    with pytest.raises(AssembleError, match="cannot compile") as caught:
        room.compile([bytecode(wheel(store, "a", {"a.py": ""}))], store)
    assert (caught.value.expected, caught.value.found) == (expected, found)


def refusal(store: Store, wanted: str | None) -> SandboxError:
    """What is said where nothing may make a sandbox."""

    class Forbidden:
        def run(self, command: Command) -> Completed:
            words = b"No permissions to create a new namespace\n"
            return Completed(argv=command.argv, returncode=1, stdout=b"", stderr=words)

    with pytest.raises(SandboxError, match=r"environment\.python\.bytecode: ") as caught:
        compile_in_room(
            [bytecode(wheel(store, "a", {"a.py": ""}))],
            store,
            HostCompiler(store, HostSandbox()),
            replace(doors(store.root), processes=Forbidden(), sandbox=wanted),
        )
    return caught.value


def test_where_no_sandbox_works_the_key_and_the_reasons_are_named(store: Store) -> None:
    error = refusal(store, None)
    assert error.message.startswith("no sandbox works here, and bytecode is made")
    assert "new namespace" in str(error.found)
    assert "take `bytecode` out" in str(error.hint)


def test_where_the_wanted_sandbox_does_not_work_only_that_is_said(store: Store) -> None:
    error = refusal(store, "docker")
    assert error.message.startswith("the sandbox docker does not work here, and bytecode is made")
    assert "name another" in str(error.hint)
    assert "take `bytecode` out" not in str(error.hint)


def test_what_was_compiled_is_not_compiled_again(store: Store) -> None:
    first, second = (bytecode(wheel(store, name, {f"{name}.py": MODULE})) for name in ("a", "b"))
    image = build(plan_of([first]), store)
    seen: list[int] = []

    def count(work: Path) -> None:
        seen.append(len(json.loads((work / PASSES[0] / RESULT).read_text())["made"]))

    again = build(plan_of([first], [second]), store, count)
    assert seen == [1]
    assert layers_of(again, store)[0] == layers_of(image, store)[0]
    build(plan_of([first, second]), store, count)
    assert seen == [1]


def test_what_was_compiled_and_is_gone_is_compiled_again_only_where_it_is_needed(store: Store) -> None:
    recipe = bytecode(wheel(store, "a", {"a.py": MODULE}))
    image = build(plan_of([recipe]), store)
    found = find_compiled(recipe, store)
    assert found is not None
    store.path(found).unlink()
    runs: list[Path] = []
    build(plan_of([recipe]), store, runs.append)
    assert runs == []
    layer = read_parts(image.name, image.version, image.manifest, store.path).layers[0]
    store.path(layer.digest).unlink()
    assert build(plan_of([recipe]), store, runs.append).manifest == image.manifest
    assert len(runs) == 1


class TestModulesOfTwoPackages:
    """Both have shared.py, of different bytes."""

    @pytest.mark.parametrize("word", [None, "early"])
    def test_bytecode_is_that_of_the_module_that_wins(
        self, word: str | None, store: Store, tmp_path: Path
    ) -> None:
        early = wheel(store, "early", {"shared.py": "x = 1\n", "early.py": ""})
        late = wheel(store, "late", {"shared.py": "x = 2\n", "late.py": ""})
        path = f"{SITE}/shared.py"
        owners = {path: word, bytecode_path(path, PYTHON): bytecode_owner(word)} if word else {}
        layers: list[list[FragmentRecipe]] = [[early], [late], [bytecode(early)], [bytecode(late)]]
        *_, of_early, of_late = layers_of(build(plan_of(*layers, owners=owners), store), store)
        winner, loser, text = (of_early, of_late, "x = 1\n") if word else (of_late, of_early, "x = 2\n")
        assert winner[cached("shared.py")] == by_py_compile(text, f"/{path}", tmp_path)
        assert cached("shared.py") not in loser
        assert {cached("early.py"), cached("late.py")} <= {*winner, *loser}

    def test_equal_modules_have_equal_bytecode_in_both_layers(self, store: Store) -> None:
        one, two = (wheel(store, name, {"shared.py": MODULE, f"{name}.py": ""}) for name in ("one", "two"))
        layers: list[list[FragmentRecipe]] = [[one], [two], [bytecode(one)], [bytecode(two)]]
        image = build(plan_of(*layers), store)
        *_, first, second = layers_of(image, store)
        assert first[cached("shared.py")] == second[cached("shared.py")]
        assert image.notes == ()

    def test_losing_a_module_compiles_nothing_again(self, store: Store) -> None:
        early, late = (wheel(store, name, {"shared.py": f"x = '{name}'\n"}) for name in ("early", "late"))
        runs: list[Path] = []
        layers: list[list[FragmentRecipe]] = [[early], [late], [bytecode(early)], [bytecode(late)]]
        build(plan_of(*layers), store, runs.append)
        assert len(runs) == 1

    def test_what_was_compiled_for_a_loser_serves_an_image_in_which_it_loses_nothing(
        self, store: Store
    ) -> None:
        """Also where it was compiled when its loss was known already."""
        early = wheel(store, "early", {"shared.py": "x = 1\n", "early.py": ""})
        lost = replace(early, omit=(f"{SITE}/shared.py",))
        assert set(compiled(store, lost)) == {cached("early.py")}
        assert set(compiled(store, early)) == {cached("early.py"), cached("shared.py")}

    def test_a_winner_without_bytecode_leaves_none_of_the_losers(self, store: Store) -> None:
        early = wheel(store, "early", {"shared.py": "x = 1\n"})
        late = wheel(store, "late", {"shared.py": "print 1\n"})
        layers: list[list[FragmentRecipe]] = [[early], [late], [bytecode(early)], [bytecode(late)]]
        assert layers_of(build(plan_of(*layers), store), store)[2:] == [{}, {}]

    def test_a_lost_module_is_not_named_as_unstable(self, store: Store) -> None:
        def disturb(work: Path) -> None:
            folder = work / PASSES[1]
            (folder / BYTECODE).write_bytes(bytes(byte ^ 1 for byte in (folder / BYTECODE).read_bytes()))

        lost = replace(wheel(store, "early", {"shared.py": MODULE}), omit=(f"{SITE}/shared.py",))
        assert build(plan_of([bytecode(lost)]), store, disturb).notes == ()
