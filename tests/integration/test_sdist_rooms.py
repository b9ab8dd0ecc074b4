"""Packages without a wheel from lock to image: built by the image's own interpreter in a real sandbox."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from support.artifacts import MINIMAL, copy_of
from support.build_rooms import ProjectSource
from support.command import digest_of, reprobridge, succeed
from support.engine import Engine
from support.file_server import FileServer
from support.package_index import serve_index
from support.sdists import build_sdist

pytestmark = [pytest.mark.slow, pytest.mark.network]

INSIDE = (
    "repr((sys.executable, os.getcwd(), os.getuid() != 0, os.path.exists('/rra'), "
    "socket.socket().connect_ex(('192.0.2.1', 9)) != 0, sorted(os.environ)))"
)
"""What a build sees of its room."""


def artifact(folder: Path, requirements: str, *, apt: Iterable[str] = ()) -> Path:
    """The smallest artifact with other requirements, not locked yet."""
    made = copy_of(MINIMAL, folder)
    (made / "requirements.in").write_text(requirements)
    (made / "reprobridge.lock").unlink()
    spec = made / "reprobridge.yaml"
    template = "\n  template: debian12-py311"
    more = f"\n  apt: [{', '.join(apt)}]" if apt else ""
    spec.write_text(spec.read_text().replace(template, template + more))
    return made


@pytest.mark.usefixtures("vendored")
def test_an_sdist_and_a_folder_reach_an_image_that_every_store_builds_alike(
    tmp_path: Path, file_server: FileServer
) -> None:
    source = ProjectSource(
        name="solver",
        code=INSIDE.replace("sys.", "__import__('sys').").replace(
            "socket.socket", "__import__('socket').socket"
        ),
    )
    index = serve_index(file_server, [build_sdist("solver", files=source.files())])
    made = artifact(tmp_path, "solver\n./ours\n")
    ProjectSource(name="ours").write(made / "ours")
    settings = {"UV_DEFAULT_INDEX": index, "UV_CACHE_DIR": str(tmp_path / "uv")}
    succeed(reprobridge("lock", made, store=tmp_path / "one", environment=settings))
    first = digest_of(reprobridge("build", made, store=tmp_path / "one", environment=settings))
    assert (
        digest_of(reprobridge("build", made, store=tmp_path / "two", environment=settings, umask=0o077))
        == first
    )
    succeed(reprobridge("lock", made, "--check", store=tmp_path / "one"))
    succeed(reprobridge("vendor", made, "--to", tmp_path / "v", store=tmp_path / "two", environment=settings))
    assert {"solver-1.0.tar.gz", "solver-1.0-py3-none-any.whl", "ours-1.0-py3-none-any.whl"} <= {
        path.name for path in (tmp_path / "v").iterdir()
    }
    alone = {"REPROBRIDGE_VENDOR": str(tmp_path / "v")}
    done = reprobridge("build", made, "--offline", store=tmp_path / "three", environment=alone)
    assert digest_of(done) == first
    lock = json.loads((made / "reprobridge.lock").read_text())
    assert all(build["repeatable"] for build in lock["platforms"]["linux/amd64"]["python"]["builds"])


@pytest.mark.usefixtures("vendored")
def test_an_engine_builds_the_wheel_that_bubblewrap_builds(tmp_path: Path, docker_engine: Engine) -> None:
    made = artifact(tmp_path, "./ours\n")
    code = "repr((os.getuid() != 0, socket.gethostname(), os.path.exists('/rra'), os.listdir('/tmp')))"
    ProjectSource(name="ours", code=code).write(made / "ours")
    nowhere = {"DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    done = reprobridge("lock", made, "--sandbox", "docker", store=tmp_path / "one", environment=nowhere)
    assert (done.returncode, "the sandbox docker does not work here" in done.stderr) == (8, True)
    engine = docker_engine.environment
    succeed(reprobridge("lock", made, "--sandbox", "docker", store=tmp_path / "one", environment=engine))
    by_engine = (made / "reprobridge.lock").read_bytes()
    (made / "reprobridge.lock").unlink()
    succeed(reprobridge("lock", made, "--sandbox", "bubblewrap", store=tmp_path / "two"))
    assert (made / "reprobridge.lock").read_bytes() == by_engine
    done = reprobridge("build", made, "--sandbox", "docker", store=tmp_path / "three", environment=engine)
    assert digest_of(done) == digest_of(reprobridge("build", made, store=tmp_path / "two"))


def test_real_releases_build_where_the_artifact_brings_a_compiler(tmp_path: Path) -> None:
    made = artifact(tmp_path, "docopt==0.6.2\npycosat==0.6.3\n")
    done = reprobridge("lock", made, store=tmp_path / "store")
    assert done.returncode == 3
    assert "add gcc, libc6-dev and python3-dev to environment.apt" in done.stderr
    (tmp_path / "more").mkdir()
    made = artifact(
        tmp_path / "more", "docopt==0.6.2\npycosat==0.6.3\n", apt=("gcc", "libc6-dev", "python3-dev")
    )
    succeed(reprobridge("lock", made, store=tmp_path / "store"))
    first = digest_of(reprobridge("build", made, store=tmp_path / "store"))
    assert digest_of(reprobridge("build", made, store=tmp_path / "other")) == first
