"""Unpacking: what a layer may hold, what it may not, and what is left afterwards."""

import gzip
import io
import os
import shutil
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reprobridge.errors import ArtifactError
from reprobridge.sandbox.model import Layer
from reprobridge.sandbox.unpack import HashedTar, MountPoints, Unpacker
from reprobridge.store.store import Store
from support.layers import MTIME, Entry, Link, MadeLayer, layer_of, make_layer
from support.tree_dump import dump_folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def placed(made: MadeLayer, folder: Path) -> Layer:
    return Layer(made.diff_id, made.digest, made.write(folder))


def member(name: str, kind: bytes = tarfile.REGTYPE, **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type = kind
    for key, value in fields.items():
        setattr(info, key, value)
    return info, b""


def test_files_folders_and_links_keep_their_modes_and_times(store: Store, tmp_path: Path) -> None:
    hard = member("a/again", tarfile.LNKTYPE, linkname="a/x")
    made = make_layer(
        {"a/x": Entry(b"text", 0o640), "a/bin/run": "", "s": Link("/etc"), "t": Entry(mode=0o1777)},
        extra=[hard],
    )
    folder = Unpacker(store).folder(placed(made, tmp_path))
    assert (folder / "a/x").read_bytes() == b"text"
    assert (folder / "a/again").samefile(folder / "a/x")
    modes = {path: oct((folder / path).lstat().st_mode & 0o7777) for path in ("a/x", "a/bin/run", "a", "t")}
    assert modes == {"a/x": "0o640", "a/bin/run": "0o755", "a": "0o755", "t": "0o1777"}
    assert (folder / "s").readlink() == Path("/etc")
    assert (folder / "a/x").stat().st_mtime == MTIME


def test_set_user_id_bits_are_dropped(store: Store, tmp_path: Path) -> None:
    folder = Unpacker(store).folder(placed(make_layer({"bin/su": Entry(b"", 0o6755)}), tmp_path))
    assert (folder / "bin/su").stat().st_mode & 0o7777 == 0o755


def test_the_umask_does_not_reach_the_files(store: Store, tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        folder = Unpacker(store).folder(placed(make_layer({"a/x": ""}), tmp_path))
    finally:
        os.umask(old)
    assert [oct(path.stat().st_mode & 0o777) for path in (folder, folder / "a", folder / "a/x")] == [
        "0o755",
        "0o755",
        "0o644",
    ]


HOSTILE = {
    "leaves by dots": [member("a/../../x")],
    "is absolute": [member("/x")],
    "is a device": [member("x", tarfile.CHRTYPE)],
    "is a pipe": [member("x", tarfile.FIFOTYPE)],
    "is a whiteout": [member("a/.wh.x")],
    "is an opaque mark": [member("a/.wh..wh..opq")],
    "stands below a link": [member("a", tarfile.SYMTYPE, linkname="/tmp"), member("a/x")],
    "stands below a file": [member("a"), member("a/x")],
    "comes twice": [member("a"), member("a")],
    "replaces a folder": [member("a", tarfile.DIRTYPE, mode=0o755), member("a")],
    "is a folder over a link": [member("a", tarfile.SYMTYPE, linkname="b"), member("a", tarfile.DIRTYPE)],
    "links to the host": [member("a", tarfile.LNKTYPE, linkname="/etc/passwd")],
    "links out": [member("a", tarfile.LNKTYPE, linkname="../../../version")],
    "is sparse": [member("x", tarfile.GNUTYPE_SPARSE)],
    "is sparse by a header": [member("x", pax_headers={"GNU.sparse.map": "a"})],
    "is sparse by another header": [
        member("x", pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0"})
    ],
    "has a header that is too long": [member("x", pax_headers={"comment": "c" * (1 << 20)})],
    "has a name that is too long": [(member("x", tarfile.GNUTYPE_LONGNAME)[0], b"n" * ((1 << 20) + 1))],
    "has a header for all that follow": [member("x", tarfile.XGLTYPE)],
    "has no finite time": [member("x", pax_headers={"mtime": "inf"})],
    "has no number as its time": [member("x", pax_headers={"mtime": "nan"})],
    "is less than empty": [member("x", pax_headers={"size": "-1"})],
    "belongs to nobody that can be": [member("x", pax_headers={"uid": str(1 << 40)})],
    "links through a link": [
        member("a", tarfile.SYMTYPE, linkname="/etc/passwd"),
        member("b", tarfile.LNKTYPE, linkname="a"),
    ],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_path_that_is_refused_leaves_nothing(what: str, store: Store, tmp_path: Path) -> None:
    made = make_layer({}, extra=HOSTILE[what])
    with pytest.raises(ArtifactError):
        Unpacker(store).folder(placed(made, tmp_path))
    assert list((store.root / "unpacked").iterdir()) == []


def test_a_layer_is_not_inflated_beyond_its_limit() -> None:
    made = make_layer({"x": bytes(99_999)})
    with pytest.raises(ArtifactError, match="at most 50000 bytes"):
        HashedTar(io.BytesIO(made.compressed), 50_000).finish()
    assert HashedTar(io.BytesIO(made.compressed), 200_000).finish().digest() == made.diff_id


@pytest.mark.parametrize("cut", [0, 1, 9, 700, -9, -1])
def test_a_cut_layer_is_refused(cut: int, store: Store, tmp_path: Path) -> None:
    whole = make_layer({"x": os.urandom(3000)})
    short = MadeLayer(whole.compressed[:cut], whole.diff_id, whole.digest)
    with pytest.raises(ArtifactError):
        Unpacker(store).folder(placed(short, tmp_path))
    assert list((store.root / "unpacked").iterdir()) == []


@pytest.mark.parametrize("how", ["a byte changed", "cut", "cut between members", "another layer"])
def test_a_damaged_layer_is_told_with_its_file_and_what_to_do(how: str, store: Store, tmp_path: Path) -> None:
    made = make_layer({"x": os.urandom(30_000)})
    bad = {
        "a byte changed": made.compressed[:-9] + bytes([made.compressed[-9] ^ 255]) + made.compressed[-8:],
        "cut": made.compressed[:-2000],
        "cut between members": gzip.compress(gzip.decompress(made.compressed)[:9000]),
        "another layer": make_layer({"y": ""}).compressed,
    }[how]
    layer = placed(MadeLayer(bad, made.diff_id, made.digest), tmp_path)
    with pytest.raises(ArtifactError) as caught:
        Unpacker(store).folder(layer)
    assert caught.value.where == str(layer.blob)
    assert caught.value.hint is not None
    assert "copy the layout again" in caught.value.hint


def test_bytes_after_the_archives_end_belong_to_the_diff_id(store: Store, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(member("x")[0])
    longer = layer_of(buffer.getvalue() + bytes(99_999))
    assert (Unpacker(store).folder(placed(longer, tmp_path)) / "x").is_file()
    shorter = MadeLayer(gzip.compress(buffer.getvalue()), longer.diff_id, longer.digest)
    with pytest.raises(ArtifactError, match="diff_id"):
        Unpacker(Store(tmp_path / "other")).folder(placed(shorter, tmp_path))


def test_merging_links_files_and_upper_layers_hide_lower_ones(store: Store, tmp_path: Path) -> None:
    low = placed(make_layer({"a/x": "low", "b": "low", "c/y": "low", "d": Link("b")}), tmp_path)
    high = placed(make_layer({"a": Link("b"), "b": "high", "c/z": "high", "d/e": "high"}), tmp_path)
    unpacker = Unpacker(store)
    points = MountPoints(folders=("/proc", "/c"), files=("/data/one",))
    merged = unpacker.merged([low, high], points)
    assert [line for line in dump_folder(merged) if "proc" in line or "data/one" in line]
    assert (str((merged / "a").readlink()), (merged / "b").read_text()) == ("b", "high")
    assert sorted(path.name for path in (merged / "c").iterdir()) == ["y", "z"]
    assert (merged / "c/y").samefile(unpacker.folder(low) / "c/y")
    assert (merged / "d/e").read_text() == "high"
    assert unpacker.merged([low, high], points) == merged != unpacker.merged([high, low], points)


def test_a_name_that_is_no_utf_8_is_kept_byte_for_byte(store: Store, tmp_path: Path) -> None:
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    folder = Unpacker(store).folder(placed(make_layer({f"a/{name}": "x"}), tmp_path))
    assert [os.fsencode(path.name) for path in (folder / "a").iterdir()] == [b"caf\xe9"]


def replace_by_its_like(file: Path) -> None:
    """Put another file, or link, of the same mode, size and time in its place."""
    status, other = file.lstat(), file.with_name("other")
    if file.is_symlink():
        other.symlink_to("a/y")
    else:
        other.write_bytes(file.read_bytes().swapcase())
        other.chmod(status.st_mode)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns), follow_symlinks=False)
    other.replace(file)


def spoil(file: Path, how: str) -> None:
    """What users, scripts and crashes of a machine do to files of a store."""
    match how:
        case "removed":
            file.unlink()
        case "emptied":
            file.write_bytes(b"")
        case "edited":
            file.write_bytes(file.read_bytes().swapcase())
        case "moded":
            file.chmod(0o600)
        case "added":
            (file.parent / "more").write_bytes(b"")
        case "linked":
            file.unlink()
            file.symlink_to("/etc/passwd")
        case "replaced by its like":
            replace_by_its_like(file)
        case "linked elsewhere":
            replace_by_its_like(file.parent.parent / "b")
        case "folder removed":
            shutil.rmtree(file.parent)


@pytest.mark.parametrize(
    "how",
    [
        "removed",
        "emptied",
        "edited",
        "replaced by its like",
        "linked elsewhere",
        "moded",
        "added",
        "linked",
        "folder removed",
    ],
)
@pytest.mark.parametrize("merged", [False, True], ids=["one layer", "merged layers"])
def test_a_folder_that_somebody_changed_is_unpacked_again(
    how: str, merged: bool, store: Store, tmp_path: Path
) -> None:
    layers = [placed(make_layer({f"a/{name}": "text", "b": Link("a/x")}), tmp_path) for name in ("x", "y")]

    def folder() -> Path:
        unpacker = Unpacker(store)
        return unpacker.merged(layers) if merged else unpacker.folder(layers[0])

    before = dump_folder(folder())
    spoil(folder() / "a/x", how)
    assert dump_folder(folder()) == before


@pytest.mark.parametrize("what", ["root", "seal"])
def test_a_folder_of_which_half_is_gone_is_unpacked_again(what: str, store: Store, tmp_path: Path) -> None:
    layer = placed(make_layer({"a/x": "text"}), tmp_path)
    place = Unpacker(store).folder(layer).parent
    shutil.rmtree(place / what) if what == "root" else (place / what).write_bytes(b"")
    assert (Unpacker(store).folder(layer) / "a/x").read_text() == "text"


def test_a_sound_folder_stays_the_same(store: Store, tmp_path: Path) -> None:
    layer = placed(make_layer({"a/x": "text", "closed/y": "", "closed": Entry(None, 0o000)}), tmp_path)
    os.utime(Unpacker(store).folder(layer), (7, 7))
    assert Unpacker(store).folder(layer).stat().st_mtime == 7


def test_folders_of_links_to_a_layers_files_leave_it_sound(store: Store, tmp_path: Path) -> None:
    layers = [placed(make_layer({"a/x": "text", f"a/{name}": name}), tmp_path) for name in ("y", "z", "0")]
    folders = [Unpacker(store).folder(layers[0]), Unpacker(store).merged(layers[:2])]
    os.utime(folders[0], (7, 7))
    os.utime(folders[1], (7, 7))
    Unpacker(store).merged(layers)
    again = [Unpacker(store).folder(layers[0]), Unpacker(store).merged(layers[:2])]
    assert [folder.stat().st_mtime for folder in again] == [7, 7]


def test_a_folder_that_somebody_else_has_just_made_again_is_kept(store: Store, tmp_path: Path) -> None:
    layer = placed(make_layer({"a/x": "text"}), tmp_path)
    folder = Unpacker(store).folder(layer)
    seal = folder.parent / "seal"
    sound = seal.read_bytes()
    os.utime(folder, (7, 7))
    seal.unlink()
    os.mkfifo(seal)
    with ThreadPoolExecutor() as executor:
        other = executor.submit(Unpacker(store).folder, layer)
        with seal.open("wb"):  # the other looks at it now, and sees no seal when we close it
            seal.unlink()
            seal.write_bytes(sound)
        assert other.result().stat().st_mtime == 7
