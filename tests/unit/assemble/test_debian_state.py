"""The Debian state: what scripts would have made, from packages' facts."""

import struct
from pathlib import Path

import pytest

from reprobridge.errors import ArtifactError
from reprobridge.store.store import Store
from support.debian_root import DebianRoot, convert_debs
from support.debs import Deb, DebFile, DebSource, build_deb, folder, symlink


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "store")


def deb(package: str, files: dict[str, DebFile | str] | None = None, **control: str) -> Deb:
    """A package with these files and control files."""
    return build_deb(DebSource(package=package, files=files or {}, control=control))


def text(made: DebianRoot, path: str) -> str:
    """A file of the root."""
    return made.root[path].data.decode()


# folders and links


BASE_FILES = deb(
    "base-files",
    {
        "bin": folder(),
        "lib": folder(),
        "root": folder(0o700),
        "tmp": folder(0o1777),
        "var/lock": folder(0o1777),
        "proc": folder(),
        "usr/bin/x": "x",
        "lib/y": "y",
        "usr/share/base-files/profile": "profile\n",
        "usr/share/base-files/dot.profile": "dot\n",
    },
)


def test_the_merged_layout_has_its_links_and_only_those_that_lead_somewhere(store: Store) -> None:
    root = convert_debs(store, [BASE_FILES]).root
    links = {path: entry.link for path, entry in root.items() if entry.kind == "symlink" and "/" not in path}
    assert links == {"bin": "usr/bin", "lib": "usr/lib"}


def test_special_folders_keep_their_modes_and_empty_ones_exist(store: Store) -> None:
    root = convert_debs(store, [BASE_FILES]).root
    expected = {
        "root": 0o700,
        "tmp": 0o1777,
        "proc": 0o755,
        "run/lock": 0o1777,
        "var/mail": 0o2775,
        "opt": 0o755,
    }
    assert {path: root[path].mode for path in expected} == expected
    assert root["var/mail"].gid == 8
    assert (root["var/lock"].link, root["var/run"].link) == ("/run/lock", "/run")


def test_defaults_are_copied_unless_a_package_ships_the_file(store: Store) -> None:
    shipped = deb("other", {"etc/profile": "mine\n"})
    root = convert_debs(store, [BASE_FILES, shipped]).root
    assert root["root/.profile"].data == b"dot\n"
    assert root["etc/profile"].data == b"mine\n"


def test_the_state_and_the_packages_never_want_the_same_path(store: Store) -> None:
    other = deb("other", {"etc/profile": "mine\n", "etc/networks": "x", "var/lib/dpkg/status.d/x": ""})
    assert convert_debs(store, [BASE_FILES, other, deb("netbase")]).problems == []


def test_nothing_of_the_hosts_identity_is_written(store: Store) -> None:
    root = convert_debs(store, [BASE_FILES]).root
    assert not {"etc/hostname", "etc/hosts", "etc/resolv.conf", "etc/machine-id"} & set(root)


def test_tmpfiles_make_folders_files_and_links(store: Store) -> None:
    lines = """\
# comment
d /run/x 0750 daemon daemon - -
D /var/run/y - - - -
f /var/lib/z 0600 - - - hello
L /var/w - - - - /target
z /etc/other 0644
d /run/%i
"""
    master = deb(
        "base-passwd",
        {
            "usr/share/base-passwd/passwd.master": "daemon:*:1:1:daemon:/:/bin/sh\n",
            "usr/share/base-passwd/group.master": "daemon:*:1:\n",
        },
    )
    root = convert_debs(store, [master, deb("x", {"usr/lib/tmpfiles.d/x.conf": lines})]).root
    assert (root["run/x"].mode, root["run/x"].uid, root["run/x"].gid) == (0o750, 1, 1)
    assert root["run/y"].mode == 0o755
    assert (root["var/lib/z"].data, root["var/lib/z"].mode) == (b"hello", 0o600)
    assert root["var/w"].link == "/target"
    assert not [path for path in root if "%" in path]


# users


MASTERS: dict[str, DebFile | str] = {
    "usr/share/base-passwd/passwd.master": "root:*:0:0:root:/root:/bin/bash\nnobody:*:65534:65534::/:/x\n",
    "usr/share/base-passwd/group.master": "root:*:0:\nadm:*:4:\nshadow:*:42:\n",
}


def test_passwd_and_group_are_the_masters(store: Store) -> None:
    made = convert_debs(store, [deb("base-passwd", MASTERS)])
    assert text(made, "etc/passwd").startswith("root:*:0:0:")
    assert "etc/shadow" not in made.root


def test_sysusers_add_accounts_with_stable_numbers(store: Store) -> None:
    lines = 'u web 33:adm "Web server" /var/www\nu auto - "Auto"\ng team 77\nm auto team\n'
    made = convert_debs(
        store,
        [deb("base-passwd", MASTERS), deb("x", {"usr/lib/sysusers.d/x.conf": DebFile(data=lines.encode())})],
    )
    assert text(made, "etc/passwd").splitlines()[2:] == [
        "web:*:33:4:Web server:/var/www:/usr/sbin/nologin",
        "auto:*:999:999:Auto:/:/usr/sbin/nologin",
    ]
    assert text(made, "etc/group").splitlines()[3:] == ["auto:*:999:", "team:*:77:auto"]


def test_shadow_files_come_with_the_package_that_has_them(store: Store) -> None:
    made = convert_debs(store, [deb("base-passwd", MASTERS), deb("passwd")])
    assert text(made, "etc/passwd").startswith("root:x:0:0:")
    assert text(made, "etc/shadow").startswith("root:*:")
    assert (made.root["etc/shadow"].mode, made.root["etc/shadow"].gid) == (0o640, 42)
    assert "shadow:*::" in text(made, "etc/gshadow")


def test_shells_stand_with_both_of_their_paths(store: Store) -> None:
    made = convert_debs(
        store,
        [
            deb("debianutils", {"usr/share/debianutils/shells": "# head\n/bin/sh\n"}),
            deb("bash", {"usr/share/debianutils/shells.d/bash": "/bin/bash\n/usr/bin/bash\n"}),
        ],
    )
    assert text(made, "etc/shells") == "# head\n/bin/sh\n/usr/bin/sh\n/bin/bash\n/usr/bin/bash\n"


# alternatives


def editor(name: str, priority: int, slave: str = "") -> Deb:
    """A package with an alternative."""
    call = f"update-alternatives --install /usr/bin/editor editor /bin/{name} {priority} {slave}"
    return deb(name, {f"bin/{name}": name, f"usr/share/man/{name}.1": "m"}, postinst=f"#!/bin/sh\n{call}\n")


def test_the_highest_priority_wins(store: Store) -> None:
    made = convert_debs(store, [editor("nano", 40), editor("vim", 50), editor("ed", -100)])
    assert made.root["usr/bin/editor"].link == "/etc/alternatives/editor"
    assert made.root["etc/alternatives/editor"].link == "/bin/vim"
    assert text(made, "var/lib/dpkg/alternatives/editor") == (
        "auto\n/usr/bin/editor\n\n/bin/ed\n-100\n/bin/nano\n40\n/bin/vim\n50\n\n"
    )


def test_slaves_follow_and_missing_ones_are_left_out(store: Store) -> None:
    slaves = (
        "--slave /usr/man/e.1 e.1 /usr/share/man/vim.1 --slave /usr/man/fr.1 fr.1 /usr/share/man/fr/vim.1"
    )
    made = convert_debs(store, [editor("vim", 50, slaves)])
    assert made.root["usr/man/e.1"].link == "/etc/alternatives/e.1"
    assert "usr/man/fr.1" not in made.root
    assert "fr.1\n/usr/man/fr.1\n" in text(made, "var/lib/dpkg/alternatives/editor")


def test_a_candidate_that_is_not_there_is_none(store: Store) -> None:
    call = "update-alternatives --install /usr/bin/e e /usr/bin/missing 1"
    made = convert_debs(store, [deb("x", postinst=f"#!/bin/sh\n{call}\n")])
    assert "usr/bin/e" not in made.root


# dpkg's database


def test_status_has_dpkgs_order_of_fields_and_the_configuration_files(store: Store) -> None:
    fields = {"Depends": "sh", "Priority": "optional", "Essential": "yes", "Homepage": "about:blank"}
    source = DebSource(
        package="hello", fields=fields, files={"etc/x": "data"}, control={"conffiles": "/etc/x\n"}
    )
    made = convert_debs(store, [build_deb(source), deb("abc")])
    paragraphs = text(made, "var/lib/dpkg/status").split("\n\n")
    assert paragraphs[0].startswith("Package: abc\nStatus: install ok installed\n")
    assert paragraphs[1] == (
        "Package: hello\nEssential: yes\nStatus: install ok installed\nPriority: optional\n"
        "Maintainer: Tests <tests@example.org>\nArchitecture: amd64\nVersion: 1.0-1\nDepends: sh\n"
        "Conffiles:\n /etc/x 8d777f385d3dfec8815d20f7496026dc\nDescription: test package hello\n"
        "Homepage: about:blank"
    )
    assert text(made, "var/lib/dpkg/arch") == "amd64\n"


def test_triggers_name_who_waits_for_them(store: Store) -> None:
    made = convert_debs(
        store,
        [
            deb("libc-bin", triggers="interest-await ldconfig\n"),
            deb("x", triggers="activate-noawait ldconfig\ninterest-noawait /usr/lib/x\n"),
        ],
    )
    assert text(made, "var/lib/dpkg/triggers/ldconfig") == "libc-bin\n"
    assert text(made, "var/lib/dpkg/triggers/File") == "/usr/lib/x x/noawait\n"


def test_a_package_of_several_architectures_waits_under_its_full_name(store: Store) -> None:
    source = DebSource(
        package="libx", fields={"Multi-Arch": "same"}, control={"triggers": "interest-noawait /usr/lib/x\n"}
    )
    made = convert_debs(store, [build_deb(source)])
    assert text(made, "var/lib/dpkg/triggers/File") == "/usr/lib/x libx:amd64/noawait\n"


def test_unknown_effects_and_dropped_bits_are_reported_by_package(store: Store) -> None:
    made = convert_debs(
        store,
        [deb("x", {"usr/bin/su": DebFile(mode=0o4755)}, postinst="#!/bin/sh\nadduser x\n"), deb("quiet")],
    )
    assert made.state == {"unknown": {"x": ["postinst: adduser"]}, "dropped": {"x": [["usr/bin/su", 0o4755]]}}


def test_the_order_of_packages_does_not_matter(store: Store) -> None:
    debs = [BASE_FILES, editor("nano", 40), editor("vim", 40), deb("base-passwd", MASTERS)]
    assert convert_debs(store, debs).root == convert_debs(store, debs[::-1]).root


def test_a_candidate_may_be_a_folder(store: Store) -> None:
    call = "update-alternatives --install /usr/include/mpi mpi /usr/lib/openmpi/include 50"
    made = convert_debs(
        store, [deb("dev", {"usr/lib/openmpi/include/mpi.h": ""}, postinst=f"#!/bin/sh\n{call}\n")]
    )
    assert made.root["usr/include/mpi"].link == "/etc/alternatives/mpi"
    assert made.root["etc/alternatives/mpi"].link == "/usr/lib/openmpi/include"


# certificates


def test_a_file_that_is_no_certificate_is_an_error_that_names_it(store: Store) -> None:
    with pytest.raises(ArtifactError, match=r"usr/share/ca-certificates/x/bad\.crt"):
        convert_debs(store, [deb("ca-certificates", {"usr/share/ca-certificates/x/bad.crt": "nothing"})])


# the linker's cache


def shared_object(soname: str, machine: int = 62) -> DebFile:
    """The smallest ELF file with this DT_SONAME."""
    strings = b"\0" + soname.encode() + b"\0"
    dynamic = struct.pack("<6Q", 5, 64 + 112, 14, 1, 0, 0)
    start = 64 + 112 + len(strings)
    segments = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, start, start, 1)
    segments += struct.pack("<IIQQQQQQ", 2, 4, start, start, start, len(dynamic), len(dynamic), 1)
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0
    )
    return DebFile(data=head + segments + strings + dynamic)


def cached(made: DebianRoot) -> dict[str, str]:
    """Name to path of every entry in the linker's cache, in its order."""
    data = made.root["etc/ld.so.cache"].data
    (count,) = struct.unpack_from("<I", data, 20)
    rows = [struct.unpack_from("<iIIIQ", data, 48 + 24 * number) for number in range(count)]
    return {string_at(data, row[1]): string_at(data, row[2]) for row in rows}


def string_at(data: bytes, offset: int) -> str:
    """A string that ends with a zero byte."""
    return data[offset : data.index(b"\0", offset)].decode()


LIBC_BIN = deb(
    "libc-bin", {"etc/ld.so.conf.d/a.conf": "# multiarch\n/lib/x86_64-linux-gnu\n/usr/lib/x86_64-linux-gnu\n"}
)
FOLDER = "usr/lib/x86_64-linux-gnu"


def test_libraries_are_found_by_their_names_in_the_linkers_folders(store: Store) -> None:
    files: dict[str, DebFile | str] = {
        f"{FOLDER}/libz.so.1.2.13": shared_object("libz.so.1"),
        f"{FOLDER}/libz.so.1": symlink("libz.so.1.2.13"),
        f"{FOLDER}/libz.so": symlink("libz.so.1"),
        f"{FOLDER}/libplain.so": shared_object(""),
        f"{FOLDER}/libscript.so": "INPUT(-lz)\n",
        f"{FOLDER}/libarm.so.1": shared_object("libarm.so.1", machine=183),
        f"{FOLDER}/plugins/libhidden.so.1": shared_object("libhidden.so.1"),
        "usr/lib/libtop.so.2": shared_object("libtop.so.2"),
    }
    names = cached(convert_debs(store, [LIBC_BIN, deb("x", files)]))
    assert names == {
        "libz.so.1": "/lib/x86_64-linux-gnu/libz.so.1",
        "libz.so": "/lib/x86_64-linux-gnu/libz.so",
        "libtop.so.2": "/lib/libtop.so.2",
        "libplain.so": "/lib/x86_64-linux-gnu/libplain.so",
    }


def test_a_library_behind_an_alternative_is_found(store: Store) -> None:
    real = f"{FOLDER}/openblas/libblas.so.3"
    call = f"update-alternatives --install /{FOLDER}/libblas.so.3 libblas.so.3 /{real} 100"
    package = deb("openblas", {real: shared_object("libblas.so.3")}, postinst=f"#!/bin/sh\n{call}\n")
    assert cached(convert_debs(store, [LIBC_BIN, package])) == {
        "libblas.so.3": "/lib/x86_64-linux-gnu/libblas.so.3"
    }


def test_names_are_in_the_order_that_the_linker_searches_by(store: Store) -> None:
    names = ["liba.so.9", "liba.so.10", "liba-b.so.1", "libB.so.1"]
    files: dict[str, DebFile | str] = {f"{FOLDER}/{name}": shared_object(name) for name in names}
    found = list(cached(convert_debs(store, [LIBC_BIN, deb("x", files)])))
    assert found == ["liba.so.10", "liba.so.9", "liba-b.so.1", "libB.so.1"]


@pytest.mark.parametrize("cut", [10, 63, 100, 180])
def test_a_damaged_library_is_passed_over(store: Store, cut: int) -> None:
    file = DebFile(data=shared_object("libz.so.1").data[:cut])
    made = convert_debs(store, [LIBC_BIN, deb("x", {f"{FOLDER}/libz.so.1": file})])
    assert set(cached(made)) <= {"libz.so.1"}
