"""The inventory's text form and the digest of a tree."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge_launcher import inventory
from reprobridge_launcher.fields import FormatError

ZEROS = "0" * 64
names = st.binary(min_size=1, max_size=20).filter(lambda raw: b"\0" not in raw and b"/" not in raw)
entries = st.builds(
    lambda raw, mode, digest: inventory.Entry(
        path="/rra/code/" + raw.decode("utf-8", "surrogateescape"), mode=mode, sha256=digest.hex()
    ),
    names,
    st.sampled_from(["0644", "0755", "4755", "link"]),
    st.binary(min_size=32, max_size=32),
)


@given(st.lists(entries, max_size=8, unique_by=lambda entry: entry.path))
def test_entries_survive_the_text_form_whatever_their_names_are(listed: list[inventory.Entry]) -> None:
    text = inventory.write(listed)
    assert sorted(map(repr, inventory.read(text))) == sorted(map(repr, listed))
    assert inventory.write(list(reversed(listed))) == text


def test_the_text_form_is_what_the_docstring_says() -> None:
    made = [
        inventory.link_entry("/rra/code/l", "run.py"),
        inventory.file_entry("/rra/code/a b\n\\", 0o100755, "0" * 64),
    ]
    target = hashlib.sha256(b"run.py").hexdigest()
    lines = ["reprobridge.inventory/1", f"0755 {ZEROS} /rra/code/a b\\x0a\\x5c", f"link {target} /rra/code/l"]
    assert inventory.write(made) == "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "something\n",
        "reprobridge.inventory/1\n0644 abc /x\n",
        f"reprobridge.inventory/1\n0944 {ZEROS} /x\n",
        f"reprobridge.inventory/1\n0644 {ZEROS} /x",
        f"reprobridge.inventory/1\n0644 {ZEROS} /\\xzz\n",
    ],
)
def test_a_broken_inventory_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="inventory"):
        inventory.read(text)


class TestTreeDigest:
    def test_it_does_not_depend_on_place_order_or_umask(self) -> None:
        here = [inventory.file_entry("/a/x", 0o644, "1" * 64), inventory.file_entry("/a/y", 0o755, "2" * 64)]
        there = [
            inventory.file_entry("/b/c/y", 0o700, "2" * 64),
            inventory.file_entry("/b/c/x", 0o600, "1" * 64),
        ]
        assert inventory.tree_digest(here, "/a") == inventory.tree_digest(there, "/b/c/")

    @pytest.mark.parametrize(
        "changed", [("/a/x", 0o755, "1" * 64), ("/a/x", 0o644, "3" * 64), ("/a/z", 0o644, "1" * 64)]
    )
    def test_it_follows_names_contents_and_executable_bits(self, changed: tuple[str, int, str]) -> None:
        before = inventory.tree_digest([inventory.file_entry("/a/x", 0o644, "1" * 64)], "/a")
        assert inventory.tree_digest([inventory.file_entry(*changed)], "/a") != before

    def test_its_value_is_fixed(self) -> None:
        line = "0644 " + "1" * 64 + " x\n"
        entry = inventory.file_entry("/a/x", 0o644, "1" * 64)
        assert inventory.tree_digest([entry], "/a") == hashlib.sha256(line.encode()).hexdigest()

    def test_an_entry_outside_of_the_root_is_refused(self) -> None:
        with pytest.raises(ValueError, match="isn't below"):
            inventory.tree_digest([inventory.file_entry("/ab/x", 0o644, "1" * 64)], "/a")
