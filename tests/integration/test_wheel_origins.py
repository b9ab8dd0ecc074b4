"""Who asked for a package and where it comes from: what our /opt/env says of it against what pip says.

Everything is made here and served from this machine: wheels of an index, a wheel and an sdist at addresses, a
folder, and a commit. The one difference is a folder's address, which is the image's and not this machine's.
"""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterable
from pathlib import Path

import pytest

from reprobridge.assemble.workshop import Workshop
from reprobridge.data_files import data_folder
from reprobridge.frozen import replace
from reprobridge.lock.model import LockedPython
from reprobridge.plan.model import FragmentRecipe, LayerPlan, RequestedRecipe, WheelRecipe
from reprobridge.plan.order import LayerOrder
from reprobridge.plan.plan import PlanInputs, plan
from reprobridge.store.store import Store
from support.build_rooms import ProjectSource
from support.file_server import FileServer
from support.git_repository import GitRepository
from support.sdist_author import Author, sdist
from support.specs import PLATFORM, sample_lock, sample_spec
from support.wheels import simple_wheel

pytestmark = pytest.mark.slow

FILES = ("REQUESTED", "direct_url.json")
Said = dict[str, object]
"""Text of REQUESTED and value of direct_url.json, by `FOLDER/NAME` below site-packages."""


@pytest.fixture
def author(tmp_path: Path, file_server: FileServer) -> Author:
    """An author of an artifact, whose folder is there."""
    (tmp_path / "artifact").mkdir()
    return Author(tmp_path, file_server)


@pytest.fixture
def requirements(author: Author, tmp_path: Path) -> str:
    """One requirement of each kind; `asked` brings `dep` along."""
    published = [simple_wheel("asked.for", requires=["dep"]), simple_wheel("dep")]
    author.publish(*published)
    wheel, archive = simple_wheel("direct"), sdist(ProjectSource(name="archived"))
    repository = GitRepository(tmp_path / "repository")
    ProjectSource(name="committed").write(repository.folder / "py")
    commit = repository.commit()
    for one in (*published, wheel):
        author.doors.store.add(one.data)
    return (
        "Asked_For\n"
        f"direct @ {author.server.put(f'/{wheel.filename}', wheel.data)}\n"
        f"archived @ {author.server.put(f'/{archive.filename}', archive.data)}\n"
        f"git+{repository.url}@{commit}#subdirectory=py\n"
    )


def by_us(locked: LockedPython, store: Store) -> Said:
    """What the plan's recipes write."""
    lock = sample_lock()
    platform = replace(lock.platforms[PLATFORM], python=locked)
    order = LayerOrder.parse((data_folder("image-templates") / "layer-order.json").read_bytes())
    inputs = PlanInputs(
        spec=sample_spec(),
        lock=replace(lock, platforms={PLATFORM: platform}),
        platform=PLATFORM,
        launcher={"entry.py": b""},
        order=order,
    )
    parts = [part for layer in plan(inputs).layers for part in layer.parts]
    ours = [part for part in parts if isinstance(part, WheelRecipe)]
    return written([*ours, *(part for part in parts if isinstance(part, RequestedRecipe))], store)


def written(parts: Iterable[FragmentRecipe], store: Store) -> Said:
    """What fragments hold of it, side by side in one layer."""
    workshop, together = Workshop(store), tuple(parts)
    for part in together:
        workshop.make_fragment(part)
    layer = workshop.make_layer(LayerPlan(title="environment", parts=together))
    found = {}
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(store.read(layer.blob)))) as archive:
        for member in archive:
            if member.name.endswith(FILES) and (stream := archive.extractfile(member)):
                found[member.name.partition("/site-packages/")[2]] = stream.read()
    return said(found)


def by_pip(requirements: Path, author: Author, prefix: Path) -> Said:
    """What pip writes, started in the artifact's folder."""
    venv.create(prefix, with_pip=False, symlinks=True)
    command = [sys.executable, "-m", "pip", "--python", str(prefix / "bin" / "python"), "install", "--quiet"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(prefix), "PIP_CONFIG_FILE": os.devnull}
    index = ["--no-cache-dir", "--index-url", f"{author.server.url}/simple"]
    subprocess.run(
        [*command, *index, "--requirement", str(requirements)],
        cwd=author.ground.folder,
        env=environment,
        check=True,
    )
    (site,) = prefix.glob("lib/python*/site-packages")
    files = [path for name in FILES for path in site.glob(f"*.dist-info/{name}")]
    return said({path.relative_to(site).as_posix(): path.read_bytes() for path in files})


def said(files: dict[str, bytes]) -> Said:
    """The files' meanings."""
    return {path: json.loads(data) if path.endswith(".json") else data for path, data in files.items()}


def test_marks_and_origins_are_those_of_pip_but_for_the_place_of_a_folder(
    author: Author, requirements: str, tmp_path: Path
) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text(requirements)
    ours, theirs = (
        by_us(author.lock(requirements), author.doors.store),
        by_pip(file, author, tmp_path / "env"),
    )
    assert len([path for path in ours if path.endswith("/REQUESTED")]) == 4
    assert len([path for path in ours if path.endswith("/direct_url.json")]) == 3
    assert ours == theirs


def test_a_folder_is_said_to_lie_beside_the_specification_where_pip_says_its_place_on_this_machine(
    author: Author, tmp_path: Path
) -> None:
    folder = author.ground.folder / "parts" / "plain"
    ProjectSource(name="folder").write(folder)
    file = tmp_path / "requirements.txt"
    file.write_text("./parts/plain\n")
    ours = by_us(author.lock("./parts/plain\n"), author.doors.store)
    theirs = by_pip(file, author, tmp_path / "env")
    path = "folder-1.0.dist-info/direct_url.json"
    assert theirs.pop(path) == {"url": folder.as_uri(), "dir_info": {}}
    assert ours.pop(path) == {"url": "file:///rra/spec/parts/plain", "dir_info": {}}
    assert ours == theirs == {"folder-1.0.dist-info/REQUESTED": b""}
