"""What a spec asks for in Python packages."""

from pathlib import PurePosixPath

import pytest

from reprobridge.errors import LockError
from reprobridge.frozen import replace
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.pypi_wish import PythonRequest, python_request, python_wish
from reprobridge.spec.model import Environment, PythonWish, Spec
from support.specs import sample_spec

TARGET = PythonTarget(version="3.11", architecture="x86_64", glibc=(2, 36), interpreter="/usr/bin/python3.11")


def request(requirements: str, exclude_newer: str | None = None) -> PythonRequest:
    """A request for requirements."""
    return PythonRequest(
        requirements=requirements, constraints="", exclude_newer=exclude_newer, indexes=(), target=TARGET
    )


def spec(requirements: str = "six\n", constraints: str = "six<2\n", **wish: object) -> Spec:
    """A spec that asks for packages."""
    files = {PurePosixPath("r.in"): requirements.encode(), PurePosixPath("c.txt"): constraints.encode()}
    python = PythonWish(
        requirements=PurePosixPath("r.in"),
        constraints=PurePosixPath("c.txt"),
        **wish,  # type: ignore[arg-type]  # the fields are the class's
    )
    return sample_spec(environment=Environment(template="debian12-py311", python=python), files=files)


def test_names_are_normalised_and_comments_and_markers_are_no_names() -> None:
    text = (
        "# comment\n\nScikit_Learn[extra] >= 1.0 ; python_version > '3'  # why\n"
        "numpy \\\n  == 2.0\nlocal @ https://example.org/local-1-py3-none-any.whl#sha256=00\n"
    )
    assert request(text).asked().names == {"scikit-learn", "numpy", "local"}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("x @ https://example.org/x.html", "something else"),
        ("x @ file:///x-1-py3-none-any.whl", "a path of this machine"),
        ("x @ https://me:secret@example.org/x-1-py3-none-any.whl", "a password"),
        ("~/x", '"~/x"'),
        ("six === ", "six"),
        ("six; " + "(" * 20_000, "((("),
        ("x @ https://[::1/x-1-py3-none-any.whl", "[::1"),
        (f"git+https://[::1/x@{'0' * 40}", "[::1"),
        ("six==1 --hash=sha256:00", "--hash"),
    ],
)
def test_what_cannot_be_locked_is_refused_with_its_line(line: str, found: str) -> None:
    with pytest.raises(LockError) as caught:
        request(f"# first\nsix\n{line}\n").asked()
    assert "requirements, line 3" in str(caught.value)
    assert found in str(caught.value)


def test_the_mark_that_some_editors_write_first_is_no_part_of_a_name() -> None:
    assert python_request(spec(requirements="\ufeffnumpy\nsix\n"), TARGET).asked().names == {"numpy", "six"}


def test_a_hostile_line_does_not_take_for_ever() -> None:
    assert request("six" + " " * 3_000_000 + "\n").asked().names == {"six"}
    with pytest.raises(LockError, match="line 1"):
        request("six" + " " * 3_000_000 + "x\n").asked()


def test_all_problems_are_shown_together_and_no_password_is() -> None:
    with pytest.raises(LockError) as caught:
        request("../a\n/b\nc @ https://me:secret@example.org/c.whl\n").asked()
    assert all(f"line {number}" in str(caught.value) for number in (1, 2, 3))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "cutoff"),
    [
        (None, None),
        ("2026-01-01", "2026-01-02T00:00:00Z"),
        ("2025-12-31", "2026-01-01T00:00:00Z"),
        ("2026-01-01T12:00:00Z", "2026-01-01T12:00:00Z"),
    ],
)
def test_a_date_includes_its_day_in_every_time_zone(written: str | None, cutoff: str | None) -> None:
    assert request("", written).cutoff() == cutoff


def test_everything_that_is_asked_for_is_in_the_digest_and_nothing_else() -> None:
    wishes = [
        spec(),
        spec(requirements="six==1.16\n"),
        spec(constraints=""),
        spec(exclude_newer="2026-01-01"),
        spec(indexes=("https://example.org/simple",)),
    ]
    assert len({python_wish(wish, TARGET) for wish in wishes}) == len(wishes)
    assert python_wish(spec(), TARGET) != python_wish(spec(), replace(TARGET, version="3.13"))
    assert python_wish(spec(), TARGET) == python_wish(replace(spec(), version="2.0.0"), TARGET)


def test_a_spec_without_requirements_asks_for_nothing() -> None:
    empty = python_request(sample_spec(), TARGET)
    assert (empty.requirements, empty.constraints, empty.asked().names) == ("", "", frozenset())


def test_constraints_that_cannot_be_read_are_refused_with_their_file_and_line() -> None:
    wish = spec(requirements="six==\n", constraints="# why\nsix<\n./folder\n")
    with pytest.raises(LockError) as caught:
        python_request(wish, TARGET).asked()
    assert [line.partition(":")[0] for line in str(caught.value).splitlines()[1::2]] == [
        "r.in, line 1",
        "c.txt, line 2",
    ]


def test_where_a_package_is_named_is_known() -> None:
    wish = spec(requirements="# why\nSix\nnumpy\n", constraints="six<2 ; python_version > '3'\n")
    assert python_request(wish, TARGET).places() == {
        "six": ("r.in, line 2", "c.txt, line 1"),
        "numpy": ("r.in, line 3",),
    }


def test_a_requirement_that_cannot_be_read_is_named_by_its_file_and_line() -> None:
    with pytest.raises(LockError, match=r'r\.in, line 2: expected .*, found "six ==="'):
        python_request(spec(requirements="numpy\nsix ===\n"), TARGET).asked()
