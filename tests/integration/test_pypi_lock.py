"""Locking Python packages with the real uv, against indexes of our own and the user's."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from reprobridge.errors import ArtifactError, LockError
from reprobridge.frozen import replace
from reprobridge.lock.fetch import Fetcher, Wanted
from reprobridge.lock.model import LockedWheel
from reprobridge.lock.pypi import find_urls
from reprobridge.store.store import Store
from reprobridge.system.network import Offline
from support.file_server import FileServer, wrong_bytes
from support.index_user import TARGET, User, locked_wheels, platform_wheel, spec
from support.lock_doors import doors as make_doors
from support.lock_doors import impatient
from support.package_index import serve_index
from support.sdists import build_sdist
from support.wheels import Wheel, WheelSource, build_wheel, simple_wheel


def serve_html(server: FileServer, wheels: Iterable[Wheel], *, at: str = "") -> str:
    """An index as of old: pages in HTML, with digests but neither sizes nor times."""
    pages: dict[str, str] = {}
    for wheel in wheels:
        server.put(f"{at}/files/{wheel.filename}", wheel.data)
        link = f'<a href="../../files/{wheel.filename}#sha256={wheel.sha256}">{wheel.filename}</a>\n'
        pages[wheel.project] = pages.get(wheel.project, "") + link
    for project, links in pages.items():
        page = f"<!DOCTYPE html><html><body>{links}</body></html>"
        server.put(f"{at}/simple/{project}/", page.encode(), content_type="text/html")
    return f"{server.url}{at}/simple"


def test_a_lock_names_every_package_once_and_who_was_asked_for(user: User, file_server: FileServer) -> None:
    app = simple_wheel("App.One", requires=["dep>=1"])
    serve_index(file_server, [app, simple_wheel("dep"), simple_wheel("other")])
    locked = user.lock(spec("app_one\n"))
    assert {name: wheel.requested for name, wheel in locked.items()} == {"app-one": True, "dep": False}
    found = locked["app-one"]
    assert (found.version, found.file.name, found.file.sha256.hex, found.file.size) == (
        "1.0",
        app.filename,
        app.sha256,
        app.size,
    )
    assert (found.index, found.url) == (None, None)


def test_wheels_are_the_targets_and_not_the_hosts(user: User, file_server: FileServer) -> None:
    tags = [
        "cp311-cp311-manylinux_2_17_x86_64",
        "cp311-cp311-manylinux_2_35_x86_64",
        "cp311-cp311-manylinux_2_39_x86_64",
        "cp311-cp311-manylinux_2_35_aarch64",
        "cp313-cp313-manylinux_2_17_x86_64",
        "py3-none-any",
    ]
    serve_index(file_server, [platform_wheel(tag) for tag in tags])
    assert user.lock(spec("built"))["built"].file.name.endswith("cp311-manylinux_2_35_x86_64.whl")
    arm = replace(TARGET, architecture="aarch64")
    assert user.lock(spec("built"), target=arm)["built"].file.name.endswith("2_35_aarch64.whl")
    trixie = replace(TARGET, version="3.13", glibc=(2, 41))
    assert user.lock(spec("built"), target=trixie)["built"].file.name.endswith(
        "cp313-manylinux_2_17_x86_64.whl"
    )


def test_markers_are_the_targets(user: User, file_server: FileServer) -> None:
    requires = [
        "win; sys_platform == 'win32'",
        "old; python_version < '3.9'",
        "here; sys_platform == 'linux'",
    ]
    wheels = [simple_wheel("app", requires=requires), *map(simple_wheel, ("win", "old", "here"))]
    serve_index(file_server, wheels)
    assert sorted(user.lock(spec("app"))) == ["app", "here"]


def test_a_size_that_the_index_does_not_say_is_measured(user: User, file_server: FileServer) -> None:
    wheel = simple_wheel("sizeless")
    serve_html(file_server, [wheel])
    assert user.lock(spec("sizeless"))["sizeless"].file.size == wheel.size


def test_a_wheel_that_is_not_what_its_index_says_is_refused(user: User, file_server: FileServer) -> None:
    wheel = simple_wheel("wrong")
    serve_html(file_server, [wheel])
    link = f'<a href="../../files/{wheel.filename}#sha256={"0" * 64}">{wheel.filename}</a>'
    file_server.put("/simple/wrong/", link.encode(), content_type="text/html")
    error = user.failure(spec("wrong"))
    assert isinstance(error, ArtifactError)
    assert "wrong" in str(error)


def test_a_package_with_nothing_but_an_sdist_that_cannot_be_built_is_refused_by_name(
    user: User, file_server: FileServer
) -> None:
    app = simple_wheel("app", requires=["source-only"])
    serve_index(file_server, [app, build_sdist("source-only", "1.0", files={})])
    error = user.failure(spec("app"))
    assert isinstance(error, LockError)
    assert error.where == "source-only==1.0"
    assert "hatchling was not found" in str(error.found)


def test_constraints_count(user: User, file_server: FileServer) -> None:
    serve_index(file_server, [simple_wheel("dep", "1.0"), simple_wheel("dep", "2.0")])
    assert user.lock(spec("dep", constraints="dep<2\n"))["dep"].version == "1.0"


def test_releases_after_the_date_do_not_exist(user: User, file_server: FileServer) -> None:
    old, new = simple_wheel("dep", "1.0"), simple_wheel("dep", "2.0")
    serve_index(file_server, [old, new], uploaded="2025-06-15T23:59:59Z")
    assert user.lock(spec("dep", exclude_newer="2025-06-15"))["dep"].version == "2.0"
    error = user.failure(spec("dep", exclude_newer="2025-06-14"))
    assert "exclude-newer" in str(error.hint)


def test_versions_stay_where_nothing_speaks_against_them(user: User, file_server: FileServer) -> None:
    serve_index(file_server, [simple_wheel("dep", "1.0"), simple_wheel("more", "1.0")])
    before = tuple(user.lock(spec("dep")).values())
    serve_index(file_server, [simple_wheel("dep", "1.0"), simple_wheel("dep", "2.0")])
    assert user.lock(spec("dep\nmore\n"), before)["dep"].version == "1.0"
    assert user.lock(spec("dep>1\nmore\n"), before)["dep"].version == "2.0"
    assert user.lock(spec("dep\n"), ())["dep"].version == "2.0"


def test_an_index_of_the_author_comes_first_and_is_named(user: User, file_server: FileServer) -> None:
    serve_index(file_server, [simple_wheel("dep", "9.0"), simple_wheel("app", requires=["dep"])])
    special = build_wheel(WheelSource(name="dep", version="1.0+cpu", files={"dep.py": "special"}))
    index = serve_index(file_server, [special], at="/special")
    locked = user.lock(spec("app", indexes=(f"{index}/",)))
    assert (locked["dep"].version, locked["dep"].index) == ("1.0+cpu", f"{index}/")
    assert locked["app"].index is None
    urls = find_urls(tuple(locked.values()), TARGET, user.doors)
    assert urls[locked["dep"].file.sha256] == (f"{file_server.url}/special/files/{special.filename}",)
    assert urls[locked["app"].file.sha256][0].startswith(f"{file_server.url}/files/")


def test_find_links_and_file_addresses_work_and_stay_out_of_the_lock(tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    wheel = simple_wheel("linked")
    wheel.write(links)
    user = User(tmp_path, "http://127.0.0.1:9/simple")
    del user.settings["UV_DEFAULT_INDEX"]
    user.settings |= {"PIP_FIND_LINKS": str(links), "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    user.doors = replace(user.doors, environment=user.settings)
    locked = user.lock(spec("linked"))["linked"]
    assert (locked.file.size, locked.url, locked.index) == (wheel.size, None, None)
    assert str(tmp_path) not in str(locked)
    assert find_urls([locked], TARGET, user.doors) == {
        locked.file.sha256: ((links / wheel.filename).as_uri(),)
    }


def test_a_newer_wheel_in_a_folder_is_warned_of_where_dates_count(
    tmp_path: Path, user: User, file_server: FileServer
) -> None:
    serve_index(file_server, [simple_wheel("linked"), simple_wheel("dated")], uploaded="2019-01-01T00:00:00Z")
    (tmp_path / "links").mkdir()
    simple_wheel("linked", version="2.0").write(tmp_path / "links")
    user.settings["UV_FIND_LINKS"] = str(tmp_path / "links")
    doors = replace(user.doors, environment=user.settings)
    warning = "exclude_newer may not hold for linked 2.0, found where no dates of upload stand (find-links)"
    wish = spec("linked\ndated\n", exclude_newer="2020-01-01")
    assert [one.version for one in locked_wheels(wish, doors, warned=(warning,))] == ["1.0", "2.0"]
    assert len(locked_wheels(spec("linked\ndated\n"), doors)) == 2


def test_releases_of_an_index_without_dates_are_left_out_where_dates_count(
    tmp_path: Path, user: User, file_server: FileServer
) -> None:
    dated = serve_index(file_server, [simple_wheel("app")], uploaded="2019-01-01T00:00:00Z")
    undated = serve_html(file_server, [simple_wheel("app", version="2.0")], at="/undated")
    pip = {"PIP_INDEX_URL": dated, "PIP_EXTRA_INDEX_URL": undated, "PIP_CONFIG_FILE": os.devnull}
    del user.settings["UV_DEFAULT_INDEX"]
    doors = replace(user.doors, environment={**user.settings, **pip})
    versions = {
        day: locked_wheels(spec("app", exclude_newer=day), doors)[0].version for day in ("2020-01-01", None)
    }
    assert versions == {"2020-01-01": "1.0", None: "2.0"}


def wanted_of(locked: LockedWheel, user: User) -> Wanted:
    """A locked wheel, to be fetched from wherever the user's settings find it."""
    file, urls = locked.file, find_urls([locked], TARGET, user.doors)
    return Wanted(name=file.name, sha256=file.sha256, size=file.size, addresses=lambda: urls[file.sha256])


def test_a_folder_of_wheels_needs_no_network_and_no_dates(tmp_path: Path) -> None:
    wheel = simple_wheel("linked")
    wheel.write(tmp_path)
    user = User(tmp_path, "https://index.example.org/simple")
    user.settings["UV_FIND_LINKS"] = str(tmp_path)
    user.doors = replace(user.doors, network=Offline(), environment=user.settings)
    warning = "exclude_newer may not hold for linked 1.0, found where no dates of upload stand (find-links)"
    wish = spec("linked", exclude_newer="2020-01-01")
    (locked,) = locked_wheels(wish, user.doors, warned=(warning,))
    wanted = wanted_of(locked, user)
    empty = Store(tmp_path / "empty")
    Fetcher(empty, Offline()).fetch_one(wanted)
    assert empty.read(locked.file.sha256) == wheel.data


def test_an_index_without_dates_has_nothing_before_a_date_and_the_error_says_so(tmp_path: Path) -> None:
    wheel = simple_wheel("old")
    wheel.write(tmp_path)
    page = tmp_path / "simple/old/index.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<a href="{(tmp_path / wheel.filename).as_uri()}">{wheel.filename}</a>')
    user = User(tmp_path, (tmp_path / "simple").as_uri())
    user.doors = replace(user.doors, network=Offline())
    assert user.lock(spec("old"))["old"].file.sha256.hex == wheel.sha256
    error = user.failure(spec("old", exclude_newer="2020-01-01"))
    assert isinstance(error, LockError)
    assert "does not say when" in str(error.hint)
    assert "--offline" in str(error.hint)


def test_a_direct_reference_keeps_its_address(user: User, file_server: FileServer) -> None:
    wheel = simple_wheel("direct")
    url = file_server.put(f"/elsewhere/{wheel.filename}", wheel.data)
    locked = user.lock(spec(f"direct @ {url}\n"))["direct"]
    assert (locked.url, locked.file.size, locked.file.sha256.hex) == (url, wheel.size, wheel.sha256)
    file_server.forget_requests()
    assert find_urls([locked], TARGET, user.doors) == {locked.file.sha256: (url,)}
    assert file_server.paths() == []


def test_addresses_are_found_again_and_what_is_gone_hides_nothing_else(
    user: User, file_server: FileServer
) -> None:
    names = ["one", "two", "three", "four"]
    serve_index(file_server, map(simple_wheel, names))
    locked = user.lock(spec("\n".join(names)))
    replaced = build_wheel(WheelSource(name="two", files={"two.py": "rebuilt"}))
    moved = serve_index(file_server, [simple_wheel("one"), replaced, simple_wheel("four")], at="/moved")
    elsewhere = User(Path(user.settings["HOME"]) / "b", moved)
    urls = find_urls(tuple(locked.values()), TARGET, elsewhere.doors)
    assert {name: len(urls.get(wheel.file.sha256, ())) for name, wheel in locked.items()} == {
        "one": 1,
        "two": 0,
        "three": 0,
        "four": 1,
    }
    assert all("/moved/" in url for found in urls.values() for url in found)


def test_a_locked_wheel_is_fetched_from_where_it_is_found(user: User, file_server: FileServer) -> None:
    wheel = simple_wheel("dep")
    serve_index(file_server, [wheel])
    locked = user.lock(spec("dep"))["dep"]
    wanted = wanted_of(locked, user)
    file_server.fail(f"/files/{wheel.filename}", wrong_bytes(times=1))
    fetcher = Fetcher(user.doors.store, user.doors.network)
    with pytest.raises(ArtifactError, match=r"dep-1\.0"):
        fetcher.fetch_one(wanted)
    fetcher.fetch_one(wanted)
    assert user.doors.store.read(locked.file.sha256) == wheel.data


def test_a_spec_without_requirements_asks_nobody(user: User, file_server: FileServer) -> None:
    assert user.lock(spec("# nothing\n")) == {}
    assert file_server.paths() == []


@pytest.mark.network
def test_the_users_own_index_locks_and_finds_a_real_stack(tmp_path: Path) -> None:
    environment = {**os.environ, "UV_CACHE_DIR": str(tmp_path / "uv")}
    real = make_doors(tmp_path / "store", network=impatient(), environment=environment)
    locked = locked_wheels(spec("scikit-learn\npandas\n"), real)
    names = {wheel.name: wheel for wheel in locked}
    assert {"numpy", "scipy", "scikit-learn", "pandas", "python-dateutil"} <= names.keys()
    assert [name for name, wheel in names.items() if wheel.requested] == ["pandas", "scikit-learn"]
    assert all(wheel.file.size > 0 for wheel in locked)
    assert find_urls(locked, TARGET, real).keys() >= {wheel.file.sha256 for wheel in locked}
