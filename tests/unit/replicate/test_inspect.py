"""What is shown of an image, and with whom it shares layers."""

import json
from pathlib import Path

import pytest

from reprobridge.cli.main import main
from reprobridge.digest import Digest
from reprobridge.frozen import replace
from reprobridge.oci.layout import ImageParts, write_layout
from reprobridge.replicate.inspect import Inspection, inspect, inspection_json
from reprobridge.replicate.inspect_text import inspection_lines
from reprobridge.replicate.seen import see
from reprobridge.store.store import Store
from reprobridge_launcher.manifest import Gpu
from reprobridge_launcher.record import replaced
from support.reviewed_image import ReviewedImage, reviewed_image


@pytest.fixture
def store(store_folder: Path) -> Store:
    return Store(store_folder)


def looked_at(
    store: Store, image: ReviewedImage | None = None, **others: tuple[Digest, ...]
) -> tuple[ImageParts, Inspection]:
    parts = (image or reviewed_image()).build(store)
    return parts, inspect(see(parts, store), "the/image:1.0.0", others)


def text(inspection: Inspection) -> str:
    return "\n".join(inspection_lines(inspection))


def test_paper_tasks_environment_changes_and_layers_are_shown(store: Store) -> None:
    parts, inspection = looked_at(store)
    shown = text(inspection)
    for part in (
        "the/image:1.0.0",
        str(parts.manifest.digest),
        "The Probable Error of a Mean (1908)",
        "deviation  Illustration I, page 20, row S. D., column Difference  1.17",
        "debian12-py311, Python 3.11, 93 Debian packages, 0 Python packages",
        "no changes to the source",
        "base system",
        f"4 layers, {sum(layer.size for layer in parts.layers)} bytes",
    ):
        assert part in shown, part


@pytest.mark.parametrize(
    ("driver", "said"), [("580.65.06", "driver 580.65.06 or later"), (None, "driver unknown")]
)
def test_a_cuda_is_shown_with_its_driver_as_far_as_that_is_known(
    store: Store, driver: str | None, said: str
) -> None:
    _, inspection = looked_at(store)
    artifact = inspection.artifact
    assert artifact is not None
    environment = replaced(artifact.environment, gpu=Gpu(cuda="14.1", driver=driver))
    with_cuda = replace(inspection, artifact=replaced(artifact, environment=environment))
    assert f"CUDA 14.1 ({said})" in text(with_cuda)


def test_what_a_terminal_would_obey_is_shown_escaped(store: Store) -> None:
    parts = reviewed_image().build(store)
    shown = text(inspect(see(parts, store), "the/\x1b[2Kimage\nholds", {}))
    assert "the/\\x1b[2Kimage holds" in shown
    assert "\x1b" not in shown


def test_layers_that_others_have_are_said_to_be_shared(store: Store) -> None:
    base = reviewed_image().build(store).layers[0]
    _, inspection = looked_at(store, one=(base.digest,), two=(base.digest, Digest.of(b"x")))
    assert [one.others for one in inspection.layers] == [("one", "two"), (), (), ()]
    assert inspection.shared == base.size
    assert f"{base.size} of them shared" in text(inspection)


def test_an_image_that_is_no_artifact_is_shown_by_its_layers(store: Store) -> None:
    image = reviewed_image()
    del image.layers["artifact"]
    _, inspection = looked_at(store, image)
    assert inspection.artifact is None
    assert "none: " in text(inspection)
    assert "base system" in text(inspection)
    assert inspection_json(inspection)["artifact"] is None


def test_an_artifact_whose_lock_is_of_another_release_is_shown_without_its_packages(store: Store) -> None:
    image = reviewed_image()
    image.layers["artifact"]["rra/lock/reprobridge.lock"] = json.dumps({"schema": "reprobridge.lock/9"})
    _, inspection = looked_at(store, image)
    assert "unknown: " in text(inspection)
    assert "1.17" in text(inspection)
    assert inspection_json(inspection)["environment"] is None


def test_the_json_form_holds_the_same(store: Store) -> None:
    parts, inspection = looked_at(store)
    value = json.loads(json.dumps(inspection_json(inspection)))
    assert value["schema"] == "reprobridge.inspection/1"
    assert value["digest"] == str(parts.manifest.digest)
    assert value["artifact"]["tasks"][0]["published"] == "1.17"
    assert value["environment"]["packages"] == {"debian": 93, "python": 0}
    assert [layer["digest"] for layer in value["layers"]] == [str(one.digest) for one in parts.layers]


def test_layers_that_a_layout_lacks_or_has_cut_off_are_named(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = reviewed_image().build(store)
    layout = tmp_path / "layout"
    write_layout(layout, parts)
    words = ["inspect", f"oci:{layout}", "--store", str(store.root)]
    assert main(words) == 0
    assert "broken" not in capsys.readouterr().out
    gone, cut = parts.layers[0], parts.layers[1]
    (layout / "blobs/sha256" / gone.digest.hex).unlink()
    short = layout / "blobs/sha256" / cut.digest.hex
    short.unlink()  # it is linked to the store's
    short.write_bytes(b"short")
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        f"broken: {gone.digest}: expected {gone.size} bytes, found nothing",
        f"broken: {cut.digest}: expected {cut.size} bytes, found 5 bytes",
    ]
    main([*words, "--json"])
    layers = json.loads(capsys.readouterr().out)["layers"]
    assert [layer["found_instead"] for layer in layers] == ["nothing", "5 bytes", None, None]


def test_no_layer_but_the_artifacts_own_is_read(store: Store) -> None:
    parts = reviewed_image().build(store)
    for number in (0, 1, 3):
        store.path(parts.layers[number].digest).unlink()
    assert inspect(see(parts, store), "x", {}).artifact is not None
