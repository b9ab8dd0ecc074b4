"""A lock pins what of ReproBridge reaches an image's bytes, and a refusal names a way out that works."""

import json
from pathlib import Path

import pytest

from reprobridge import RELEASE
from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.frozen import replace
from reprobridge.lock.file import lock_bytes, parse_lock, read_lock
from reprobridge.lock.staleness import tool_changes
from reprobridge.lock.tools import current_tools, layer_order, layer_order_digest, require_tools
from support.artifacts import MINIMAL

OTHER = Digest.of(b"another")


@pytest.mark.parametrize(
    ("pinned", "named"),
    [
        ({"encoder": "another"}, "encoder"),
        ({"codec": "another"}, "codec"),
        ({"launcher": OTHER}, "launcher"),
        ({"converters": {**current_tools().converters, "wheel": 99}}, "converters.wheel"),
        ({"converters": {**current_tools().converters, "conda": 1}}, "converters.conda"),
        ({"converters": {**current_tools().converters, "conda": 0}}, "converters.conda"),
        ({"plan": 99}, "plan"),
        ({"assembly": 99}, "assembly"),
        ({"layer_order": OTHER}, "layer_order"),
    ],
)
def test_whatever_a_lock_pins_otherwise_is_refused_by_name(pinned: dict[str, object], named: str) -> None:
    tools = replace(current_tools(), **pinned)
    with pytest.raises(LockError) as caught:
        require_tools(tools, "reprobridge.lock")
    assert caught.value.found == f"another {named} in release {RELEASE}"
    (line,) = tool_changes(tools)
    assert line.startswith(f"tools.{named}: the lock pins ")


def test_the_tools_of_this_release_are_accepted() -> None:
    require_tools(current_tools(), "reprobridge.lock")
    assert tool_changes(current_tools()) == []


@pytest.mark.parametrize(("key", "value"), [("small_buckets", 3), ("budget", 61), ("base_python", [])])
def test_another_order_of_layers_is_another_pin(key: str, value: object) -> None:
    edited = json.dumps({**json.loads(layer_order()), key: value}).encode()
    assert layer_order_digest(edited) != layer_order_digest(layer_order())


def test_what_the_table_says_about_itself_is_not_pinned() -> None:
    edited = json.dumps({**json.loads(layer_order()), "about": "Other words."}).encode()
    assert layer_order_digest(edited) == layer_order_digest(layer_order())


def test_a_lock_that_does_not_pin_plan_assembly_and_order_is_read_as_it_is_and_refused() -> None:
    lock = read_lock(MINIMAL / "reprobridge.lock")
    older = replace(lock, tools=replace(current_tools(), plan=0, assembly=0, layer_order=None))
    data = lock_bytes(older)
    assert not [key for key in (b'"plan"', b'"assembly"', b'"layer_order"') if key in data]
    assert parse_lock(data, "reprobridge.lock") == older
    with pytest.raises(LockError, match="another plan, another assembly, another layer_order"):
        require_tools(older.tools, "reprobridge.lock")
    assert all("the lock pins nothing, this release has " in line for line in tool_changes(older.tools))


@pytest.mark.parametrize("release", ["0.0.9", "99.0.0"])
def test_a_lock_of_an_older_or_newer_release_names_that_release(release: str) -> None:
    tools = replace(current_tools(), release=release, plan=99)
    with pytest.raises(LockError) as caught:
        require_tools(tools, "reprobridge.lock", Path("my paper"))
    assert caught.value.expected == f"what release {release} pinned"
    assert caught.value.hint == (
        f"install reprobridge {release}, which wrote the lock, or accept a new digest: "
        "`reprobridge lock 'my paper' --upgrade-tools`"
    )


def test_a_lock_of_the_same_number_is_one_of_a_state_of_development() -> None:
    with pytest.raises(LockError) as caught:
        require_tools(replace(current_tools(), plan=99), "reprobridge.lock", Path())
    assert caught.value.hint == (
        f"lock and installation both say {RELEASE}, so that one of them is a state of its development: install the "
        "one that wrote the lock, or accept a new digest: `reprobridge lock . --upgrade-tools`"
    )


def test_a_reader_who_cannot_change_the_lock_is_told_only_what_to_install() -> None:
    with pytest.raises(LockError) as caught:
        require_tools(replace(current_tools(), release="99.0.0", plan=99), "the image's lock")
    assert caught.value.hint == "install reprobridge 99.0.0, which wrote the lock"
