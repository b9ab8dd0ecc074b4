"""Requirements that name a source."""

import pytest

from reprobridge.errors import LockError
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.pypi_wish import PythonRequest
from reprobridge.spec.requirement_source import SourceWish

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TARGET = PythonTarget(version="3.11", architecture="x86_64", glibc=(2, 36), interpreter="/usr/bin/python3.11")


def request(requirements: str) -> PythonRequest:
    """A request for requirements."""
    return PythonRequest(
        requirements=requirements, constraints="", exclude_newer=None, indexes=(), target=TARGET
    )


def source(line: str) -> SourceWish:
    """The one source that a line names."""
    (found,) = request(f"{line}\n").asked().sources
    return found


@pytest.mark.parametrize(
    ("line", "origin", "extras", "marker"),
    [
        ("./solver", "solver", "", ""),
        (".", ".", "", ""),
        ("./libs//./solver/", "libs/solver", "", ""),
        ("./solver[plot,gpu]", "solver", "[plot,gpu]", ""),
        ('./solver [plot] ; python_version < "3.12"  # why', "solver", "[plot]", 'python_version < "3.12"'),
    ],
)
def test_a_folder_is_named_as_pip_does(line: str, origin: str, extras: str, marker: str) -> None:
    found = source(line)
    assert (found.kind, found.origin, found.extras, found.marker) == ("path", origin, extras, marker)
    assert found.name is None


@pytest.mark.parametrize(
    ("line", "origin", "subdirectory", "name"),
    [
        (f"x @ git+https://example.org/x@{COMMIT}", "https://example.org/x", None, "x"),
        (f"X_y[a] @ git+https://example.org/x.git@{COMMIT}", "https://example.org/x.git", None, "x-y"),
        (f"git+file:///srv/x@{COMMIT}#subdirectory=py/x", "file:///srv/x", "py/x", None),
        (f"git+ssh://git@example.org/x@{COMMIT}", "ssh://git@example.org/x", None, None),
        (f"git+https://example.org/x@{COMMIT}#egg=x", "https://example.org/x", None, None),
    ],
)
def test_a_commit_is_named_as_pip_does(
    line: str, origin: str, subdirectory: str | None, name: str | None
) -> None:
    found = source(line)
    assert (found.kind, found.origin, found.commit) == ("git", origin, COMMIT)
    assert (found.subdirectory, found.name) == (subdirectory, name)


def test_an_sdist_at_an_address_may_say_its_digest() -> None:
    digits = "ab" * 32
    found = source(f"x @ https://example.org/a/x-1.tar.gz#sha256={digits}&subdirectory=py")
    assert (found.kind, found.origin, found.subdirectory) == (
        "archive",
        "https://example.org/a/x-1.tar.gz",
        "py",
    )
    assert found.sha256 is not None
    assert found.sha256.hex == digits
    assert source("x @ https://example.org/x-1.zip").sha256 is None


def test_the_wish_stays_the_same_when_it_is_put_to_uv() -> None:
    found = source(f'x[b,a] @ git+https://example.org/x@{COMMIT} ; python_version > "3.8"')
    text = found.as_requirement("x", "file:///x-1-py3-none-any.whl")
    assert text == 'x[a,b] @ file:///x-1-py3-none-any.whl ; python_version > "3.8"'
    assert source("./x").as_requirement("x", "file:///x.whl") == "x @ file:///x.whl"


def test_what_is_published_is_left_to_uv_as_it_was_written() -> None:
    text = "# why\nsix>=1 \\\n  ,<2\nwheeled @ https://example.org/wheeled-1-py3-none-any.whl\n"
    asked = request(text).asked()
    assert (asked.published, asked.sources) == (text, ())
    assert asked.names == {"six", "wheeled"}
    both = request(f"{text}./x\n").asked()
    assert both.published.splitlines() == [
        "six>=1   ,<2",
        "wheeled @ https://example.org/wheeled-1-py3-none-any.whl",
    ]
    assert [one.origin for one in both.sources] == ["x"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("x @ git+https://example.org/x", "no commit"),
        ("x @ git+https://example.org/x@main", "another commit tomorrow"),
        ("x @ git+https://example.org/x@0123456", "another commit tomorrow"),
        ("git+https://example.org/x", "no commit"),
        (f"x @ hg+https://example.org/x@{COMMIT}", "hg+https"),
        ("x @ https://example.org/x.git", "x.git"),
        (f"x @ git+https://example.org/x@{COMMIT}#subdirectory=../y", "../y"),
        (f"git+https://me:secret@example.org/x@{COMMIT}", "a password"),
        ("x @ https://me:secret@example.org/x-1.tar.gz", "a password"),
        ("x @ //me:secret@example.org/x-1.tar.gz", "a password"),
        ("x @ https://example.org/x-1.tar.gz?private_token=secret", "token"),
        (f"git+https://example.org/x@{COMMIT}#access_token=secret", "token"),
        ("x @ https://example.org/x-1.rpm", "something else"),
        ("x @ https://example.org/x-1.tar.gz#sha256=12", "12"),
        ("x @ file:///x-1.tar.gz", "a path of this machine"),
        ("../x", "../x"),
        ("./a/../../x", "./a/../../x"),
        ("/x", '"/x"'),
    ],
)
def test_what_may_mean_other_bytes_tomorrow_or_elsewhere_is_refused_with_its_line(
    line: str, found: str
) -> None:
    with pytest.raises(LockError) as caught:
        request(f"six\n{line}\n").asked()
    assert "requirements, line 2" in str(caught.value)
    assert found in str(caught.value)
    assert "secret" not in str(caught.value)
