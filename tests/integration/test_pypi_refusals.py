"""What the real uv cannot resolve, told with the lines that ask for it, what was expected, and a way out."""

from pathlib import Path

import pytest

from reprobridge.errors import LockError, NetworkError
from support.file_server import FileServer, status
from support.index_user import User, platform_wheel, spec
from support.package_index import serve_index
from support.wheels import simple_wheel


def test_a_package_only_for_other_platforms_is_refused_by_name(user: User, file_server: FileServer) -> None:
    serve_index(file_server, [platform_wheel("cp311-cp311-macosx_11_0_arm64")])
    error = user.failure(spec("built"))
    assert isinstance(error, LockError)
    assert "built" in str(error)


def test_requirements_that_contradict_each_other_are_refused_with_the_reason(
    user: User, file_server: FileServer
) -> None:
    wheels = [simple_wheel("app", requires=["dep<1"]), simple_wheel("dep", "0.9"), simple_wheel("dep", "1.0")]
    serve_index(file_server, wheels)
    error = user.failure(spec("app\ndep==1.0\n"))
    assert isinstance(error, LockError)
    assert "dep" in str(error.found)


CP313 = "cp313-cp313-manylinux_2_17_x86_64"


SPELLED = ("the name of a package", "spell it as its page does")
ANOTHER = ("a version that an index has", "choose another one")
TOGETHER = ("requirements that can be met together", "change a version")
WHEEL = ("a wheel for CPython 3.11 on x86_64 with glibc 2.36", "another Python")


@pytest.mark.parametrize(
    ("asked", "where", "told"),
    [
        (("# why\ndep\nno_such\n", ""), "r.in, line 3", SPELLED),
        (("dep\nneeds.none\n", ""), "r.in, line 2", SPELLED),
        (("dep>=9\n", ""), "r.in, line 1", ANOTHER),
        (("dep\n", "# why\ndep>1\n"), "r.in, line 1; c.txt, line 2", ANOTHER),
        (("dep==1.0\nbuilt\ndep==0.9\n", ""), "r.in, line 1; r.in, line 3", TOGETHER),
        (("app\n", "dep==1.0\n"), "r.in, line 1; c.txt, line 1", TOGETHER),
        (("dep>=1\napp\nneeds-new\n", "app>1"), "r.in, line 1; r.in, line 2; c.txt, line 1", TOGETHER),
        (("needs-new\napp\n", ""), "r.in, line 1; r.in, line 2", TOGETHER),
        (("dep\nbuilt\n", ""), "r.in, line 2", WHEEL),
    ],
)
def test_what_has_no_answer_is_told_with_the_lines_that_ask_for_it(
    asked: tuple[str, str], where: str, told: tuple[str, str], user: User, file_server: FileServer
) -> None:
    wheels = [simple_wheel("dep", "0.9"), simple_wheel("dep", "1.0"), platform_wheel(CP313)]
    wheels += [simple_wheel("app", requires=["dep<1"]), simple_wheel("needs-none", requires=["no-such>=1"])]
    wheels += [simple_wheel("app", "2.0", requires=["dep<1"]), simple_wheel("needs-new", requires=["dep>=1"])]
    serve_index(file_server, wheels)
    error = user.failure(spec(asked[0], constraints=asked[1]))
    assert isinstance(error, LockError)
    assert error.where == where
    assert told[0] in str(error.expected)
    assert str(error.found).startswith("Because ")
    assert told[1] in str(error.hint)


def test_an_address_that_gives_no_wheel_is_told_with_its_line(user: User, file_server: FileServer) -> None:
    error = user.failure(spec(f"# why\ngone @ {file_server.url}/gone-1.0-py3-none-any.whl\n"))
    assert isinstance(error, LockError)
    assert error.where == "r.in, line 2"
    assert str(error.found).endswith("HTTP status client error (404 Not Found)")
    assert "correct the address" in str(error.hint)


def test_an_index_that_wants_a_login_is_told_with_the_way_in(user: User, file_server: FileServer) -> None:
    file_server.fail("/simple/dep/", status(401))
    error = user.failure(spec("dep\n"))
    assert error.where == "r.in, line 1"
    assert "401 Unauthorized" in str(error.hint)
    assert "its login, in ~/.netrc" in str(error.hint)


def test_an_index_that_does_not_answer_is_a_network_error(tmp_path: Path) -> None:
    user = User(tmp_path, "http://127.0.0.1:9/simple")
    error = user.failure(spec("dep"))
    assert isinstance(error, NetworkError)
    assert str(error.found).startswith("Failed to fetch: http://127.0.0.1:9/simple/dep/: Connection refused")
    assert "UV_DEFAULT_INDEX" in str(error.hint)
