"""Bytecode in images: compiled by the image's own interpreter in a real sandbox."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.oci.layout import read_parts
from reprobridge.sandbox.bubblewrap import BubblewrapSandbox
from reprobridge.sandbox.model import Shell
from reprobridge.store.store import Store
from reprobridge.system.processes import RealProcesses
from reprobridge.validate.subject import Subject, open_subject
from support.artifacts import MINIMAL, copy_of
from support.command import digest_of, reprobridge, succeed
from support.file_server import FileServer
from support.package_index import serve_index
from support.wheels import WheelSource, build_wheel

pytestmark = [pytest.mark.slow, pytest.mark.network]

OURS = "SEEN = {'a', 'b'}\nANSWER = 'first'\n\n\ndef has(word):\n    return word in {'a', 'b', 'c'}\n"
SITE = "/opt/env/lib/python3.11/site-packages"
COMPARE = """
import glob, importlib.util, os, py_compile
compared = 0
for source in glob.glob("/usr/lib/python3.11/*.py") + glob.glob("/opt/env/lib/python3.11/site-packages/*/*.py"):
    kept = importlib.util.cache_from_source(source)
    if source.endswith("/sitecustomize.py"):
        continue  # a link to /etc
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    try:
        py_compile.compile(source, "/tmp/made", doraise=True, invalidation_mode=mode)
    except py_compile.PyCompileError:
        assert not os.path.exists(kept), source
        continue
    assert open("/tmp/made", "rb").read() == open(kept, "rb").read(), source
    compared += 1
print(compared)
"""


@pytest.fixture(scope="module")
def artifact(module_folder: Path) -> Iterator[Path]:
    """The smallest artifact with one package and with bytecode, locked in `module_folder / "store"`."""
    made = copy_of(MINIMAL, module_folder)
    (made / "requirements.in").write_text("ours\n")
    spec = made / "reprobridge.yaml"
    text = spec.read_text().replace("python: {", "python: {bytecode: true, ")
    spec.write_text(text)
    wheel = build_wheel(
        WheelSource(name="ours", files={"ours/__init__.py": OURS, "ours/old.py": "print 1\n"})
    )
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        server = FileServer()
        stack.callback(server.stop)
        patch.setenv("UV_DEFAULT_INDEX", serve_index(server, [wheel]))
        patch.setenv("UV_CACHE_DIR", str(module_folder / "uv"))
        succeed(reprobridge("lock", made, store=module_folder / "store"))
        yield made


@pytest.fixture(scope="module")
def image(artifact: Path, module_folder: Path, vendored: Path) -> Digest:
    """Its image, in `module_folder / "store"`."""
    return Digest.parse(digest_of(reprobridge("build", artifact, store=module_folder / "store")))


@pytest.fixture
def subject(image: Digest, module_folder: Path) -> Subject:
    """The image opened."""
    store = Store(module_folder / "store")
    return open_subject(read_parts("x", "1", image, store.path), store)


def run_python(subject: Subject, *words: str, readonly: dict[str, Path] | None = None) -> tuple[str, str]:
    """Both streams of the environment's Python with these arguments."""
    sandbox = BubblewrapSandbox(subject.store, RealProcesses(), as_root=os.geteuid() == 0)
    argv = ("/opt/env/bin/python", *words)
    ended = sandbox.run(subject.layers, Shell(argv=argv, readonly=readonly or {}, timeout=300))
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout.decode(), ended.stderr.decode()


def test_folder_umask_locale_hash_seed_and_workers_do_not_matter(
    image: Digest, artifact: Path, tmp_path: Path
) -> None:
    setting = {"LC_ALL": "C", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "4242", "HOME": str(tmp_path)}
    elsewhere = copy_of(artifact, tmp_path)
    words = ("build", elsewhere, "--workers", "1")
    done = reprobridge(*words, store=tmp_path / "s", environment=setting, umask=0o077)
    assert digest_of(done) == str(image)


def test_another_paper_compiles_nothing_and_needs_no_index(
    image: Digest, artifact: Path, module_folder: Path
) -> None:
    other = copy_of(artifact, module_folder / "other")
    (other / "src" / "more.py").write_text("")
    store = module_folder / "store"
    compiled = sorted((store / "results" / "compiled").iterdir())
    assert len(compiled) == 2
    blobs = {layer.digest for layer in read_parts("x", "1", image, Store(store).path).layers}
    succeed(reprobridge("lock", other, "--offline", store=store))
    second = Digest.parse(digest_of(reprobridge("build", other, "--offline", store=store)))
    assert sorted((store / "results" / "compiled").iterdir()) == compiled
    shared = blobs & {layer.digest for layer in read_parts("x", "1", second, Store(store).path).layers}
    assert len(blobs - shared) == 2  # code and artifact


def test_it_is_what_the_images_own_py_compile_makes(subject: Subject) -> None:
    compared, _ = run_python(subject, "-c", COMPARE)
    assert int(compared) > 150


def test_modules_are_loaded_from_it(subject: Subject) -> None:
    _, said = run_python(subject, "-v", "-c", "import ours, json")
    loaded = [line for line in said.splitlines() if line.startswith("# code object from")]
    assert any(f"{SITE}/ours/__pycache__/__init__.cpython-311.pyc" in line for line in loaded)
    assert {line for line in loaded if ".pyc" not in line} == {
        "# code object from /usr/lib/python3.11/sitecustomize.py"  # configuration
    }


def test_an_edited_module_counts_only_when_python_is_told_to_look(subject: Subject, tmp_path: Path) -> None:
    edited = tmp_path / "edited.py"
    edited.write_text(OURS.replace("first", "second"))
    edited.chmod(0o644)
    place = {f"{SITE}/ours/__init__.py": edited}
    words = ("-c", "import ours; print(ours.ANSWER)")
    assert run_python(subject, *words, readonly=place)[0] == "first\n"
    told = ("--check-hash-based-pycs", "always", *words)
    assert run_python(subject, *told, readonly=place)[0] == "second\n"


@pytest.mark.usefixtures("image")
def test_the_image_passes_its_validation_and_says_what_it_has(artifact: Path, module_folder: Path) -> None:
    said = succeed(reprobridge("validate", artifact, store=module_folder / "store"))
    assert "checks passed" in said
    shown = succeed(reprobridge("inspect", "reprobridge/probable-error:1.0.0", store=module_folder / "store"))
    assert "Python 3.11 with bytecode" in shown
    assert "bytecode: standard library" in shown
