"""RECORD: rows for everything, relative to site-packages, and a careful look at the one that was shipped."""

import csv
import hashlib
import io
from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.assemble.wheel.record import Recorded, disagreements, write_record

INFO = "x-1.dist-info"
FILE = Recorded.of(b"content")
HASH = urlsafe_b64encode(hashlib.sha256(b"content").digest()).decode().rstrip("=")


def compare(row: str) -> list[str]:
    """What is said of one row about a file of 7 bytes."""
    return list(disagreements(row.encode(), {"a.py": FILE}, names={"a.py"}, folder=INFO))


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), st.integers(0), max_size=5
    )
)
def test_any_path_survives_the_quoting(sizes: dict[str, int]) -> None:
    files = {f"site/{path}": Recorded.of_digest("00" * 32, size) for path, size in sizes.items()}
    data = write_record(files, site="site", record=f"site/{INFO}/RECORD")
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    assert {row[0]: row[2] for row in rows} == {
        **{path: str(size) for path, size in sizes.items()},
        f"{INFO}/RECORD": "",
    }


def test_files_outside_site_packages_are_relative_to_it() -> None:
    data = write_record(
        {"env/bin/tool": FILE}, site="env/lib/python3.11/site-packages", record=f"env/lib/{INFO}/RECORD"
    )
    assert data.splitlines()[0] == f"../../../bin/tool,sha256={HASH},7".encode()


def test_signatures_have_no_hash() -> None:
    data = write_record({f"s/{INFO}/RECORD.jws": FILE}, site="s", record=f"s/{INFO}/RECORD")
    assert data.decode().splitlines() == [f"{INFO}/RECORD,,", f"{INFO}/RECORD.jws,,"]


@pytest.mark.parametrize("row", [f"a.py,sha256={HASH},7", f"a.py,sha256={HASH}=,7", f'"a.py",sha256={HASH},'])
def test_a_right_row_is_nothing_to_speak_of(row: str) -> None:
    assert compare(row) == []


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (f"a.py,sha256={HASH},8", "7 bytes, RECORD says 8"),
        ("a.py,sha256=AAAA,7", "another hash"),
        ("a.py,md5=AAAA,7", "cannot be checked (md5)"),
        ("a.py,,", "cannot be checked (none)"),
        ("a.py", "cannot be checked (none)"),
        ("", "not in RECORD"),
        ('"a.py\n', "not in RECORD"),
    ],
)
def test_a_wrong_row_is_named(row: str, said: str) -> None:
    found = compare(row)
    assert any(said in line for line in found)
    assert all(":" in line for line in found)


def test_members_that_were_not_installed_are_not_missed() -> None:
    record = f"a.py,sha256={HASH},7\nleft_out.py,sha256=x,1\n".encode()
    names = {"a.py", "left_out.py", f"{INFO}/RECORD"}
    assert list(disagreements(record, {"a.py": FILE}, names=names, folder=INFO)) == []
