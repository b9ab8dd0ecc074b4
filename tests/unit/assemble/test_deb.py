"""The converter of Debian packages: paths, links, modes, what is refused, and the facts left behind."""

import hashlib
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.assemble.deb.facts import DebFacts, Folder, read_facts
from reprobridge.assemble.deb.paths import merged_target
from reprobridge.assemble.workshop import Workshop
from reprobridge.errors import ArtifactError
from reprobridge.frozen import replace
from reprobridge.lock.model import LockedFile
from reprobridge.store.store import Store
from support.debian_root import convert_deb, deb_recipe
from support.debs import (
    Compression,
    Deb,
    DebFile,
    DebSource,
    build_deb,
    deb_of,
    folder,
    hardlink,
    symlink,
    write_ar,
)
from support.merged_root import RootEntry


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "store")


def deb(files: dict[str, DebFile | str], **control: str) -> Deb:
    """A package with these files."""
    return build_deb(DebSource(package="hello", files=files, control=control))


def files_of(root: dict[str, RootEntry]) -> dict[str, RootEntry]:
    """Without dpkg's database."""
    return {path: entry for path, entry in root.items() if not path.startswith("var/lib/dpkg/")}


# compression and structure


@pytest.mark.parametrize("compression", ["xz", "gz", "zst", "none"])
def test_every_compression_gives_the_same_files(store: Store, compression: Compression) -> None:
    made = build_deb(DebSource(package="hello", files={"usr/bin/hello": "x" * 3000}, compression=compression))
    root, facts = convert_deb(store, made)
    assert root["usr/bin/hello"].data == b"x" * 3000
    assert facts.control.startswith("Package: hello\nVersion: 1.0-1")


def test_a_file_larger_than_any_buffer_is_whole(store: Store) -> None:
    data = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(300_000))
    made = build_deb(DebSource(package="big", files={"usr/lib/big": DebFile(data=data)}, compression="none"))
    root, _ = convert_deb(store, made)
    assert root["usr/lib/big"].sha256 == hashlib.sha256(data).hexdigest()


def test_converting_twice_gives_the_same_bytes(store: Store) -> None:
    recipe = deb_recipe(store, deb({"usr/a": "a", "etc/b": "b", "usr/l": symlink("a")}))
    workshop = Workshop(store)
    assert workshop.make_fragment(recipe) == workshop.make_fragment(recipe)


def test_the_packages_own_order_and_times_do_not_matter(store: Store) -> None:
    first = build_deb(DebSource(package="hello", files={"usr/a": DebFile(data=b"a", mtime=1), "usr/b": "b"}))
    second = build_deb(DebSource(package="hello", files={"usr/b": "b", "usr/a": DebFile(data=b"a", mtime=2)}))
    workshop = Workshop(store)
    recipes = [deb_recipe(store, first), deb_recipe(store, second)]
    for recipe in recipes:
        workshop.make_fragment(recipe)
    indexes = [workshop.index(recipe) for recipe in recipes]
    contents = [[row for row in index if not row.path.startswith("var/lib/dpkg/")] for index in indexes]
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a Debian package"),
        (b"PK\x03\x04 something else", "not a Debian package"),
        (b"!<arch>\n" + b"x" * 30, "ar archive is broken"),
        (write_ar({"control.tar": b""}), "cannot be read|can read"),
        (write_ar({"debian-binary": b"3.0\n"}), "can read"),
        (write_ar({"debian-binary": b"2.0\n", "data.tar": b""}), "missing or compressed"),
        (write_ar({"debian-binary": b"2.0\n", "control.tar": b"", "data.tar.lzma": b""}), "unknown way"),
        (write_ar({"debian-binary": b"2.0\n", "control.tar.xz": b"no", "data.tar.xz": b"no"}), "broken"),
        (write_ar({"debian-binary": b"2.0\n", "control.tar.gz": b"no", "data.tar.xz": b"no"}), "broken"),
        (write_ar({"debian-binary": b"2.0\n", "control.tar.zst": b"no", "data.tar.xz": b"no"}), "broken"),
    ],
)
def test_what_is_no_package_is_an_error_that_names_it(store: Store, data: bytes, message: str) -> None:
    broken = deb_of(DebSource(package="broken"), data)
    with pytest.raises(ArtifactError, match=message) as caught:
        convert_deb(store, broken)
    assert caught.value.where == broken.filename


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_a_truncated_package_is_an_error(store: Store, keep: float) -> None:
    whole = build_deb(DebSource(package="cut", files={"usr/a": "a" * 9999}, compression="gz")).data
    with pytest.raises(ArtifactError, match=r"broken|missing|bad header"):
        convert_deb(store, deb_of(DebSource(package="cut"), whole[: int(len(whole) * keep)]))


# the merged /usr


@pytest.mark.parametrize("top", ["bin", "sbin", "lib", "lib64", "lib32", "libx32"])
def test_files_of_aliased_folders_stand_below_usr(store: Store, top: str) -> None:
    root, _ = convert_deb(store, deb({f"{top}/tool": "x"}))
    assert list(files_of(root)) == [f"usr/{top}/tool"]


def test_folders_with_such_names_elsewhere_stay(store: Store) -> None:
    root, _ = convert_deb(store, deb({"opt/lib/x": "x", "library/x": "x", "usr/lib/x": "x"}))
    assert sorted(files_of(root)) == ["library/x", "opt/lib/x", "usr/lib/x"]


def test_the_links_of_the_merged_layout_are_left_to_the_state(store: Store) -> None:
    root, _ = convert_deb(
        store, deb({"bin": symlink("usr/bin"), "lib64": symlink("usr/lib64"), "usr/bin/x": ""})
    )
    assert list(files_of(root)) == ["usr/bin/x"]


@pytest.mark.parametrize(
    ("path", "target", "expected"),
    [
        ("lib/x86_64-linux-gnu/libz.so.1", "libz.so.1.2", "libz.so.1.2"),
        ("bin/pidof", "/sbin/killall5", "/sbin/killall5"),
        ("lib/systemd/x", "../../usr/share/x", "../../share/x"),
        ("lib/a", "../bin/b", "../bin/b"),
        ("lib/a", "../etc/b", "../../etc/b"),
        ("usr/lib/a", "../../lib/b", "../../lib/b"),
        ("etc/os-release", "../usr/lib/os-release", "../usr/lib/os-release"),
    ],
)
def test_relative_links_lead_to_the_same_file_after_the_merge(
    store: Store, path: str, target: str, expected: str
) -> None:
    root, _ = convert_deb(store, deb({path: symlink(target)}))
    (entry,) = files_of(root).values()
    assert entry.link == expected


NAMES = st.lists(st.sampled_from(["bin", "lib", "usr", "etc", "x"]), min_size=1, max_size=4)


@given(NAMES, st.integers(0, 3), NAMES)
def test_a_rewritten_link_always_leads_where_it_led(place: list[str], up: int, down: list[str]) -> None:
    import posixpath

    from reprobridge.assemble.deb.paths import merged

    path, target = "/".join([*place, "link"]), "/".join([".."] * up + down)
    meant = posixpath.normpath(posixpath.join("/", posixpath.dirname(path), target)).lstrip("/")
    text = merged_target(path, target)
    found = posixpath.normpath(posixpath.join("/", posixpath.dirname(merged(path)), text)).lstrip("/")
    assert merged(found) == merged(meant)


def test_a_path_that_stands_in_both_places_is_refused(store: Store) -> None:
    with pytest.raises(ArtifactError, match="each path once"):
        convert_deb(store, deb({"bin/x": "1", "usr/bin/x": "2"}))


def test_dpkgs_list_keeps_the_packages_own_paths(store: Store) -> None:
    root, _ = convert_deb(store, deb({"bin/x": "1"}))
    assert root["var/lib/dpkg/info/hello.list"].data == b"/.\n/bin\n/bin/x\n"


# hard links


def test_hard_links_come_after_their_target_and_stay_relative(store: Store) -> None:
    root, _ = convert_deb(store, deb({"bin/gunzip": "x", "bin/a-link": hardlink("bin/gunzip")}))
    assert root["usr/bin/a-link"] == RootEntry("hardlink", 0o644, link="usr/bin/gunzip")
    assert list(files_of(root)) == ["usr/bin/gunzip", "usr/bin/a-link"]


def test_a_hard_link_out_of_the_package_is_refused(store: Store) -> None:
    with pytest.raises(ArtifactError, match="hard links to files of the same package"):
        convert_deb(store, deb({"usr/x": hardlink("etc/passwd")}))


def test_a_hard_link_whose_target_another_package_owns_becomes_a_file(store: Store) -> None:
    made = deb({"usr/a": "data", "usr/b": hardlink("usr/a"), "usr/c": hardlink("usr/a")})
    root, _ = convert_deb(store, made, "usr/a")
    assert files_of(root) == {
        "usr/b": RootEntry("file", 0o644, data=b"data"),
        "usr/c": RootEntry("hardlink", 0o644, link="usr/b"),
    }


def test_a_path_that_another_package_owns_is_left_out(store: Store) -> None:
    root, _ = convert_deb(store, deb({"usr/a": "1", "usr/b": "2"}), "usr/a")
    assert list(files_of(root)) == ["usr/b"]


# modes, owners, folders


def test_set_uid_and_set_gid_bits_of_files_are_dropped_and_named(store: Store) -> None:
    made = deb(
        {
            "usr/bin/su": DebFile(mode=0o4755),
            "usr/sbin/chkpwd": DebFile(mode=0o2755, gid=42),
            "usr/t": DebFile(mode=0o1644),
        }
    )
    root, facts = convert_deb(store, made)
    assert [root[path].mode for path in ("usr/bin/su", "usr/sbin/chkpwd", "usr/t")] == [0o755, 0o755, 0o1644]
    assert root["usr/sbin/chkpwd"].gid == 42
    assert facts.dropped == (("usr/bin/su", 0o4755), ("usr/sbin/chkpwd", 0o2755))


def test_plain_folders_are_implied_and_others_are_indexed(store: Store) -> None:
    made = deb(
        {
            "var/lib/plain/file": "x",
            "var/empty": folder(),
            "tmp": folder(0o1777),
            "var/mail": DebFile(kind=tarfile.DIRTYPE, mode=0o2775, gid=8),
        }
    )
    root, facts = convert_deb(store, made)
    assert {path: oct(entry.mode) for path, entry in root.items() if entry.kind == "dir"} == {
        "tmp": "0o1777",
        "var/empty": "0o755",
        "var/mail": "0o2775",
    }
    assert Folder("var/mail", 0o2775, 0, 8) in facts.folders


def test_folders_that_the_state_makes_links_are_left_out(store: Store) -> None:
    root, _ = convert_deb(store, deb({"var/lock": folder(0o1777), "var/run": folder(), "lib": folder(0o700)}))
    assert not {"lib", "usr/lib", "var/lock", "var/run"} & set(root)


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_and_pipes_are_refused(store: Store, kind: bytes) -> None:
    with pytest.raises(ArtifactError, match="files, folders and links"):
        convert_deb(store, deb({"dev/x": DebFile(kind=kind)}))


@pytest.mark.parametrize(
    "path",
    ["../etc/passwd", "usr/../../x", "/etc/passwd", "usr//x", "usr/.wh.bash", "usr/.wh..wh..opq", "a/./b"],
)
def test_hostile_paths_are_refused(store: Store, path: str) -> None:
    with pytest.raises(ArtifactError, match="cannot be in an image"):
        convert_deb(store, deb({path: "x"}))


@pytest.mark.parametrize("name", ["/../../../../etc/passwd", "../x", "folder/x"])
def test_hostile_names_of_control_files_are_refused(store: Store, name: str) -> None:
    with pytest.raises(ArtifactError, match="cannot be"):
        convert_deb(store, build_deb(DebSource(package="hello", control={name: "x"})))


@pytest.mark.parametrize("above", ["a file", symlink("/etc")])
def test_content_below_what_is_no_folder_is_refused(store: Store, above: DebFile | str) -> None:
    with pytest.raises(ArtifactError, match="usr/x/y, below usr/x"):
        convert_deb(store, deb({"usr/x": above, "usr/x/y": "b"}))


def test_a_file_where_the_system_has_a_link_is_refused(store: Store) -> None:
    with pytest.raises(ArtifactError, match="over a link of the system"):
        convert_deb(store, deb({"bin": "a file"}))


def test_long_names_and_names_beyond_ascii_survive(store: Store) -> None:
    long = "usr/share/" + "d" * 90 + "/" + "f" * 120
    root, _ = convert_deb(store, deb({long: "x", "usr/share/ü ñ": "y"}))
    assert {long, "usr/share/ü ñ"} <= set(root)


@pytest.mark.parametrize("files", [{"usr/share/\udcff": "x"}, {"usr/link": symlink("\udcff")}])
def test_names_that_are_not_utf_8_are_refused(store: Store, files: dict[str, DebFile | str]) -> None:
    with pytest.raises(ArtifactError, match="a name in UTF-8"):
        convert_deb(store, deb(files, md5sums=""))


# dpkg's files and facts


def test_control_files_stand_in_dpkgs_folder_with_scripts_executable(store: Store) -> None:
    root, facts = convert_deb(store, deb({}, postinst="#!/bin/sh\nexit 0\n", conffiles=""))
    info = "var/lib/dpkg/info/hello"
    assert root[f"{info}.postinst"].mode == 0o755
    assert root[f"{info}.md5sums"].mode == 0o644
    assert f"{info}.control" not in root
    assert facts.scripts == {"postinst": hashlib.sha256(b"#!/bin/sh\nexit 0\n").hexdigest()}


def test_a_package_of_several_architectures_has_its_own_in_file_names(store: Store) -> None:
    root, _ = convert_deb(store, build_deb(DebSource(package="libx", fields={"Multi-Arch": "same"})))
    assert "var/lib/dpkg/info/libx:amd64.list" in root


def test_configuration_files_have_their_md5(store: Store) -> None:
    made = deb({"etc/x": "data"}, conffiles="/etc/x\nremove-on-upgrade /etc/old\n/etc/missing\n")
    _, facts = convert_deb(store, made)
    assert facts.conffiles == (("/etc/x", hashlib.md5(b"data").hexdigest()),)


def test_facts_read_back_as_written(store: Store) -> None:
    made = deb(
        {
            "usr/lib/sysusers.d/x.conf": DebFile(data=b"u x -\n# \xff\n"),
            "usr/bin/su": DebFile(mode=0o4755),
            "var/x": folder(0o700),
        },
        postinst="#!/bin/sh\nadduser x\nupdate-alternatives --install /usr/bin/a a /usr/bin/b 5 --slave /m n /p\n",
        triggers="# comment\ninterest-noawait ldconfig\n",
    )
    _, facts = convert_deb(store, made)
    assert read_facts(facts.to_bytes()) == facts
    assert facts.files["usr/lib/sysusers.d/x.conf"] == b"u x -\n# \xff\n"
    assert facts.triggers == ("interest-noawait ldconfig",)
    assert facts.unknown == ("postinst: adduser",)
    assert isinstance(facts, DebFacts)


def test_a_package_without_control_file_is_refused(store: Store) -> None:
    parts = {"debian-binary": b"2.0\n", "control.tar": bytes(1024), "data.tar": bytes(1024)}
    with pytest.raises(ArtifactError, match="a control file"):
        convert_deb(store, deb_of(DebSource(package="empty"), write_ar(parts)))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hello_1.0-2_amd64.deb", "Package: hello, Version: 1.0-1, Architecture: amd64"),
        ("hello_1.0-1_arm64.deb", "Architecture: amd64"),
        ("other_1.0-1_amd64.deb", "Package: hello"),
    ],
)
def test_a_package_that_is_not_what_the_lock_says_is_refused(store: Store, name: str, said: str) -> None:
    made = deb_recipe(store, deb({"usr/a": "a"}))
    recipe = replace(
        made, deb=LockedFile(name, made.deb.sha256, made.deb.size), package=name.partition("_")[0]
    )
    with pytest.raises(ArtifactError) as caught:
        Workshop(store).make_fragment(recipe)
    assert caught.value.where == name
    assert said in str(caught.value.found)
    assert "the file's name" in str(caught.value.expected)


def test_a_package_under_another_packages_name_is_refused(store: Store) -> None:
    with pytest.raises(ArtifactError, match="Package: hello"):
        Workshop(store).make_fragment(replace(deb_recipe(store, deb({"usr/a": "a"})), package="other"))


def test_an_epoch_is_no_part_of_a_files_name(store: Store) -> None:
    made = build_deb(DebSource(package="hello", version="3:1.0-1", files={"usr/a": "a"}))
    assert made.filename == "hello_1.0-1_amd64.deb"
    _, facts = convert_deb(store, made)
    assert "Version: 3:1.0-1" in facts.control
