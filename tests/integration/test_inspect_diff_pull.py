"""Images of a registry looked at, compared and pulled: no more is fetched than is needed."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reprobridge.store.store import Store
from support.artifacts import MINIMAL, copy_of, golden_digest
from support.command import digest_of, reprobridge, succeed
from support.docker_registry import RunningRegistry, serve_registry
from support.require import require_tool

pytestmark = [pytest.mark.slow, pytest.mark.network]


@dataclass(frozen=True)
class Two:
    """Two versions of an image in a registry: the second one's code was edited."""

    registry: RunningRegistry
    second: str
    """Digest of the second one."""

    def name(self, tag: str) -> str:
        return f"{self.registry.host}/authors/paper:{tag}"

    def fetched(self) -> int:
        """How many blobs were fetched since the log was emptied."""
        return sum("/blobs/" in line and line.startswith("GET") for line in self.registry.requests())


@pytest.fixture(scope="module")
def two(vendored: Path, module_folder: Path) -> Iterator[Two]:
    del vendored
    store, layout = module_folder / "author", f"oci:{module_folder}/layout"
    succeed(reprobridge("build", MINIMAL, "--output", layout, store=store))
    edited = copy_of(MINIMAL, module_folder)
    script, spec = edited / "src" / "run.py", edited / "reprobridge.yaml"
    script.write_text(script.read_text() + "\n# edited\n")
    spec.write_text(spec.read_text().replace("version: 1.0.0", "version: 1.1.0"))
    second = digest_of(reprobridge("build", edited, "--relock", "--output", layout, store=store))
    with serve_registry(module_folder / "registry") as registry:
        made = Two(registry, second)
        for tag in ("1.0.0", "1.1.0"):
            skopeo = [
                str(require_tool("skopeo")),
                "--insecure-policy",
                "copy",
                "--quiet",
                "--preserve-digests",
            ]
            target = f"docker://{made.name(tag)}"
            subprocess.run([*skopeo, "--dest-tls-verify=false", f"{layout}:{tag}", target], check=True)
        yield made


@pytest.fixture(autouse=True)
def _empty_log(two: Two) -> None:
    two.registry.log.write_bytes(b"")


def test_an_image_is_shown_without_its_big_layers(two: Two, tmp_path: Path) -> None:
    said = succeed(reprobridge("inspect", two.name("1.0.0"), store=tmp_path))
    assert golden_digest(MINIMAL) in said
    assert "The Probable Error of a Mean" in said
    assert two.fetched() == 2  # its configuration, and the layer in which it describes itself
    words = ("--json", "--compare-with", two.name("1.1.0"))
    value = json.loads(succeed(reprobridge("inspect", two.name("1.0.0"), *words, store=tmp_path)))
    shared = [layer["title"] for layer in value["layers"] if layer["shared_with"]]
    assert shared == ["base system", "Python 3.11", "system state", "launcher", "references"]
    assert value["environment"]["python"] == "3.11"


def test_two_versions_are_compared_by_fetching_only_what_differs(two: Two, tmp_path: Path) -> None:
    done = reprobridge("diff", two.name("1.0.0"), two.name("1.1.0"), store=tmp_path)
    assert done.returncode == 1
    assert "~ specification version: 1.0.0 -> 1.1.0" in done.stdout
    assert "~ rra/code/run.py\n        content: " in done.stdout
    assert two.fetched() == 6  # two configurations, two layers of code, two that describe the image
    value = json.loads(
        reprobridge("diff", two.name("1.0.0"), two.name("1.1.0"), "--json", store=tmp_path).stdout
    )
    assert [layer["after"]["title"] for layer in value["layers"]] == ["code", "artifact"]
    assert (value["before"], value["after"]) == (golden_digest(MINIMAL), two.second)


def test_an_image_does_not_differ_from_itself(two: Two, tmp_path: Path) -> None:
    said = succeed(reprobridge("diff", two.name("1.0.0"), two.name("1.0.0"), store=tmp_path))
    assert said == f"equal: {golden_digest(MINIMAL)}\n"


def test_pulling_fetches_each_blob_once_and_what_is_shared_not_at_all(two: Two, tmp_path: Path) -> None:
    said = succeed(reprobridge("pull", two.name("1.0.0"), store=tmp_path))
    assert said == f"{two.registry.host}/authors/paper@{golden_digest(MINIMAL)}\n"
    assert two.fetched() == 8
    succeed(reprobridge("pull", two.name("1.0.0"), store=tmp_path))
    assert two.fetched() == 8
    succeed(reprobridge("pull", two.name("1.1.0"), store=tmp_path))
    assert two.fetched() == 8 + 3  # configuration, code, artifact


def test_a_pull_goes_on_with_what_lacks(two: Two, tmp_path: Path) -> None:
    succeed(reprobridge("pull", two.name("1.0.0"), store=tmp_path))
    blobs = sorted(path for path in (tmp_path / "blobs").rglob("*") if path.is_file())
    largest = max(blobs, key=lambda path: path.stat().st_size)
    largest.unlink()
    two.registry.log.write_bytes(b"")
    succeed(reprobridge("pull", two.name("1.0.0"), store=tmp_path))
    assert two.fetched() == 1
    assert sorted(path for path in (tmp_path / "blobs").rglob("*") if path.is_file()) == blobs


def test_a_pulled_image_is_written_where_it_is_wanted_and_is_there_offline(two: Two, tmp_path: Path) -> None:
    store = tmp_path / "store"
    words = ("--output", f"oci:{tmp_path}/layout", "--json")
    value = json.loads(succeed(reprobridge("pull", two.name("1.0.0"), *words, store=store)))
    assert value["digest"] == golden_digest(MINIMAL)
    done = reprobridge("diff", f"oci:{tmp_path}/layout", two.name("1.0.0"), "--offline", store=store)
    assert succeed(done).startswith("equal: ")
    archive = tmp_path / "image.tar"
    words = ("--output", f"docker-archive:{archive}", "--json")
    succeed(reprobridge("pull", two.name("1.0.0"), *words, store=store))
    assert archive.stat().st_size > 1 << 20
    assert {name for name, _, _ in Store(store).references()} == {f"{two.registry.host}/authors/paper"}


@pytest.mark.parametrize("command", ["pull", "inspect", "rebuild"])
def test_an_image_that_is_not_there_ends_in_ten(command: str, two: Two, tmp_path: Path) -> None:
    done = reprobridge(command, two.name("9.9.9"), store=tmp_path)
    assert done.returncode == 10
    assert "there is no such image" in done.stderr
    assert done.stdout == ""
