"""The services of tests/support do what tests elsewhere rely on."""

import hashlib
import io
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.debian_archive import DebianArchive, packages_index
from support.debs import DebFile, DebSource, build_deb, hardlink, symlink
from support.engine import Engine
from support.file_server import FileServer, redirect, status, truncated, wrong_bytes
from support.hostile_wheels import dubious_wheels, hostile_wheels
from support.interpreters import interpreters
from support.package_index import serve_index
from support.require import require_tool
from support.sdists import build_sdist
from support.tree_dump import dump_folder, dump_tar
from support.typical_wheels import typical_wheels
from support.wheels import simple_wheel
from support.zip_writer import Method, ZipMember, write_zip


def get(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())


def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class TestFileServer:
    def test_a_file_is_served_and_the_request_is_logged(self, file_server: FileServer) -> None:
        url = file_server.put("/a b/x.txt", b"text")
        assert get(url.replace(" ", "%20")) == b"text"
        assert file_server.paths() == ["/a b/x.txt"]
        assert file_server.requests[0].method == "GET"
        assert "host" in file_server.requests[0].headers

    def test_a_folder_is_served_below_a_path(self, file_server: FileServer, tmp_path: Path) -> None:
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub/x").write_bytes(b"x")
        assert get(file_server.put_folder(tmp_path, at="/root") + "/sub/x") == b"x"

    def test_what_was_not_put_or_was_removed_is_not_found(self, file_server: FileServer) -> None:
        url = file_server.put("/x", b"x")
        file_server.remove("/x")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(url)

    def test_faults_come_in_order_and_end_after_their_times(self, file_server: FileServer) -> None:
        url = file_server.put("/x", b"abc")
        file_server.fail("/x", status(500, times=2), wrong_bytes(index=1, times=1))
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError, match="500"):
                get(url)
        assert get(url) == b"acc"
        assert get(url) == b"abc"

    def test_a_truncated_answer_announces_the_whole_length(self, file_server: FileServer) -> None:
        url = file_server.put("/x", b"abcdef")
        file_server.fail("/x", truncated(2))
        with urllib.request.urlopen(url) as answer:
            assert answer.headers["Content-Length"] == "6"
            assert answer.fp.read(2) == b"ab"
            assert answer.fp.read(1) == b""

    def test_a_redirect_leads_to_the_other_path(self, file_server: FileServer) -> None:
        url = file_server.put("/old", b"old")
        file_server.fail("/old", redirect(file_server.put("/new", b"new")))
        assert get(url) == b"new"


class TestZipWriter:
    @given(
        st.dictionaries(st.text("ab/c", min_size=1), st.binary(), max_size=5),
        st.sampled_from([Method.STORED, Method.DEFLATED, Method.BZIP2]),
        st.booleans(),
    )
    def test_zipfile_reads_back_what_was_written(
        self, files: dict[str, bytes], method: Method, streamed: bool
    ) -> None:
        members = [
            ZipMember(name=name, data=data, method=method, streamed=streamed) for name, data in files.items()
        ]
        with zipfile.ZipFile(io.BytesIO(write_zip(members))) as archive:
            assert {name: archive.read(name) for name in archive.namelist()} == files
            assert archive.testzip() is None


class TestWheels:
    def test_pip_installs_every_typical_wheel(self, tmp_path: Path) -> None:
        paths = [
            str(wheel.write(tmp_path)) for wheel in typical_wheels().values() if "cp311" not in wheel.filename
        ]
        result = pip(
            "install", "--no-index", "--no-deps", "--no-compile", f"--prefix={tmp_path / 'env'}", *paths
        )
        assert result.returncode == 0, result.stderr
        scripts = {path.name for path in (tmp_path / "env/bin").iterdir()}
        assert scripts == {"rewritten", "windowed", "shell.sh", "enter", "extra", "enter-gui"}

    def test_a_wheel_is_made_of_the_same_bytes_everywhere(self) -> None:
        assert simple_wheel("golden").sha256 == GOLDEN_WHEEL

    def test_each_hostile_wheel_is_wrong_in_its_own_way(self) -> None:
        wheels = [*hostile_wheels().values(), *dubious_wheels().values()]
        assert len({wheel.sha256 for wheel in wheels}) == len(wheels)

    def test_a_project_of_an_index_can_be_downloaded(self, file_server: FileServer, tmp_path: Path) -> None:
        url = serve_index(
            file_server, [simple_wheel("Some.Thing", requires=["other>=1"]), simple_wheel("other")]
        )
        result = pip("download", "--isolated", "--index-url", url, "-d", str(tmp_path), "some-thing")
        assert result.returncode == 0, result.stderr
        assert sorted(p.name for p in tmp_path.iterdir()) == [
            "other-1.0-py3-none-any.whl",
            "some_thing-1.0-py3-none-any.whl",
        ]


class TestSdists:
    def test_an_sdist_holds_its_files_below_one_folder(self) -> None:
        names = [
            line.split()[-1] for line in dump_tar(build_sdist("Some-Thing", files={"a.py": "x = 1\n"}).data)
        ]
        assert names == [f"some_thing-1.0/{name}" for name in ("PKG-INFO", "a.py", "pyproject.toml")]


class TestDebs:
    @pytest.mark.parametrize("compression", ["xz", "zst", "gz", "none"])
    def test_dpkg_reads_what_was_written(self, compression: str, tmp_path: Path) -> None:
        dpkg = require_tool("dpkg-deb")
        source = DebSource(
            package="hello",
            version="1:2.0-1",
            fields={"Depends": "libc6"},
            files={
                "usr/bin/hello": DebFile(data=b"#!/bin/sh\n", mode=0o755),
                "usr/bin/hi": symlink("hello"),
                "usr/bin/again": hardlink("usr/bin/hello"),
            },
            control={"postinst": "#!/bin/sh\n"},
            compression=compression,  # type: ignore[arg-type]  # a parameter of pytest is a str
        )
        path = build_deb(source).write(tmp_path)
        assert path.name == "hello_2.0-1_amd64.deb"
        fields = subprocess.check_output([dpkg, "--field", path, "Version", "Depends"], text=True)
        assert fields == "Version: 1:2.0-1\nDepends: libc6\n"
        assert dump_tar(subprocess.check_output([dpkg, "--fsys-tarfile", path])) == [
            "dir 0755 .",
            "dir 0755 usr",
            "dir 0755 usr/bin",
            "hardlink usr/bin/again -> usr/bin/hello",
            "file 0755 a8076d3d usr/bin/hello",
            "symlink usr/bin/hi -> hello",
        ]

    def test_apt_accepts_the_archive_and_finds_its_package(
        self, file_server: FileServer, tmp_path: Path
    ) -> None:
        apt = require_tool("apt-get")
        archive = DebianArchive.create(file_server)
        deb = build_deb(DebSource(package="hello"))
        archive.publish("bookworm", [deb])
        (tmp_path / "key.gpg").write_bytes(archive.keyring)
        (tmp_path / "sources.list").write_text(
            f"deb [arch=amd64 signed-by={tmp_path}/key.gpg] {archive.url} bookworm main\n"
        )
        (tmp_path / "lists/partial").mkdir(parents=True)
        options = [
            f"-oDir::Etc::SourceList={tmp_path}/sources.list",
            "-oDir::Etc::SourceParts=-",
            f"-oDir::State::Lists={tmp_path}/lists",
            f"-oDir::Cache={tmp_path}",
            "-oAPT::Sandbox::User=root",
            "-oAcquire::Languages=none",
        ]
        subprocess.run([apt, *options, "update", "--error-on=any"], check=True, capture_output=True)
        lists = "".join(path.read_text(errors="replace") for path in (tmp_path / "lists").glob("*InRelease"))
        assert "Codename: bookworm" in lists
        assert f"SHA256: {deb.sha256}" in packages_index([deb])


class TestTreeDump:
    def test_a_folder_reads_as_lines(self, tmp_path: Path) -> None:
        (tmp_path / "b").mkdir(mode=0o755)
        (tmp_path / "b/file").write_bytes(b"x")
        (tmp_path / "b/file").chmod(0o640)
        (tmp_path / "b.txt").touch(mode=0o600)
        (tmp_path / "link").symlink_to("b/file")
        digest = hashlib.sha256(b"x").hexdigest()[:8]
        assert dump_folder(tmp_path) == [
            "dir 0755 b",
            "file 0600 empty b.txt",
            f"file 0640 {digest} b/file",
            "symlink link -> b/file",
        ]


def test_an_interpreter_of_python_3_is_found() -> None:
    assert interpreters()


def test_the_engine_runs_without_network_or_images(docker_engine: Engine) -> None:
    assert docker_engine.docker("info", "--format", "{{.OSType}}").stdout == "linux\n"


GOLDEN_WHEEL = "ab76c9742d6f231899280a3aea19f9e61163977230352d5d9851ba2e9da691e0"
