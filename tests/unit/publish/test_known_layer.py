"""What is known of a layer: told and learned without loss, and nothing else is believed."""

import json
import zlib
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.assemble.composition import Composed, composed, composition_of, remember_composition
from reprobridge.assemble.elsewhere import Place, is_had, place_of, remember_place
from reprobridge.assemble.index import IndexEntry, in_order, write_index
from reprobridge.assemble.model import Layer
from reprobridge.assemble.workshop import Workshop
from reprobridge.digest import Digest
from reprobridge.errors import TrustError
from reprobridge.frozen import replace
from reprobridge.oci import members
from reprobridge.oci.model import Descriptor
from reprobridge.plan.model import BytecodeRecipe, FilesRecipe, InventoryRecipe, LayerPlan, PlannedFile
from reprobridge.publish.known_layer import KnownLayer, KnownPart, known_of, learn, tell
from reprobridge.publish.known_layers import joined, read_list, write_list
from reprobridge.publish.known_source import require_true
from reprobridge.store.store import Store
from reprobridge.system.files import delete

FIRST = FilesRecipe(files=(PlannedFile(path="opt/a", data=b"a"),))
SECOND = FilesRecipe(files=(PlannedFile(path="opt/b", data=b"b" * 5000),))
PLAN = LayerPlan(title="two files", parts=(FIRST, SECOND))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def other(tmp_path: Path) -> Store:
    return Store(tmp_path / "other")


def made(store: Store, plan: LayerPlan = PLAN) -> KnownLayer:
    """What is known of a layer that is made here."""
    workshop = Workshop(store)
    for part in plan.parts:
        workshop.make_fragment(part)
    workshop.make_layer(plan)
    known = known_of(store, composed(plan))
    assert known is not None
    return known


class NoArrivals:
    """Nothing needs to be fetched."""

    def bring(self, wanted: Iterable[Digest]) -> Generator[Digest]:
        """Nothing is asked for."""
        yield from wanted

    def compile(self, recipes: Sequence[BytecodeRecipe], store: Store) -> None:
        """There must be nothing to compile."""
        assert not recipes


digests = st.binary(max_size=4).map(Digest.of)
parts = st.builds(
    KnownPart,
    kind=st.sampled_from(["wheel", "deb"]),
    key=digests,
    index=st.lists(
        st.builds(IndexEntry, st.text(min_size=1), st.just("file"), st.just(0o644), st.just(1), st.just("c")),
        max_size=3,
    ).map(lambda rows: write_index(in_order(rows))),
    facts=st.none() | st.binary(),
)


@given(
    st.builds(
        KnownLayer,
        key=digests,
        layer=st.builds(Layer, blob=digests, size=st.just(1), diff_id=digests, tar_size=st.just(2)),
        parts=st.lists(parts, max_size=4).map(tuple),
    )
)
def test_what_is_known_reads_back_from_its_bytes(known: KnownLayer) -> None:
    assert KnownLayer.from_bytes(known.to_bytes()) == known


def test_what_was_told_is_learned_and_counts_as_made_where_layers_may_lie_elsewhere(
    store: Store, other: Store
) -> None:
    known = made(store)
    blob = tell(store, composed(PLAN))
    assert blob is not None
    assert KnownLayer.from_bytes(store.read(blob.digest)) == known
    learn(other, known, PLAN.title)
    assert Workshop(other, elsewhere=True).known_layer(PLAN) is None
    remember_place(other, known.layer.blob, Place("registry.test", "papers/one"))
    assert Workshop(other, elsewhere=True).known_layer(PLAN) == known.layer
    assert Workshop(other).known_layer(PLAN) is None
    assert Workshop(other, elsewhere=True).index(FIRST) == Workshop(store).index(FIRST)


def test_what_was_learned_is_not_used_by_a_build_without_known_layers_and_not_told_on(
    store: Store, other: Store
) -> None:
    known = made(store)
    learn(other, known, PLAN.title)
    other.add(store.read(known.layer.blob))
    assert Workshop(other, elsewhere=True).known_layer(PLAN) == known.layer
    assert Workshop(other).known_layer(PLAN) is None
    assert Workshop(other).known_fragment(FIRST) is None
    assert known_of(other, composed(PLAN)) is None
    assert tell(other, composed(PLAN)) is None


def test_what_is_derived_from_what_was_learned_is_kept_apart_too(store: Store, other: Store) -> None:
    listing = InventoryRecipe(of=(FIRST,), path="rra/inventory")
    lie = replace(made(store).parts[0], index=write_index([IndexEntry("opt/lie", "0", 0o644, 1, "c" * 64)]))
    learn(other, replace(made(store), parts=(lie, made(store).parts[1])), PLAN.title)
    plan = LayerPlan(title="inventory", parts=(listing,))
    misled = Workshop(other, elsewhere=True)
    misled.claims(FIRST)
    wrong = misled.make_layer(plan)
    Workshop(other).make_fragment(FIRST)
    assert Workshop(other).known_layer(plan) is None
    assert Workshop(other).known_fragment(listing) is None
    Workshop(store).make_layer(plan)
    right = Workshop(store).known_layer(plan)
    assert Workshop(other).make_layer(plan) == right != wrong
    assert Workshop(other).claims(FIRST) == Workshop(store).claims(FIRST)


def test_telling_twice_makes_the_blob_once(store: Store) -> None:
    made(store)
    assert tell(store, composed(PLAN)) == tell(store, composed(PLAN))


def test_of_a_layer_whose_index_is_gone_nothing_is_told(store: Store) -> None:
    fragment = Workshop(store)
    known = made(store)
    record = fragment.known_fragment(FIRST)
    assert record is not None
    delete(store.path(record.index))
    assert known.parts
    assert tell(store, composed(PLAN)) is None


def test_what_contradicts_what_was_made_here_is_not_learned(store: Store) -> None:
    known = made(store)
    lie = replace(known, layer=replace(known.layer, blob=Digest.of(b"another layer")))
    with pytest.raises(TrustError, match="two files: what is known of a layer contradicts"):
        learn(store, lie, PLAN.title)
    part = replace(known.parts[0], index=write_index([]))
    with pytest.raises(TrustError, match="two files: files"):
        learn(store, replace(known, parts=(part, known.parts[1])), PLAN.title)
    assert known_of(store, composed(PLAN)) == known


def test_two_who_contradict_each_other_are_not_both_learned(store: Store, other: Store) -> None:
    known = made(store)
    learn(other, known, PLAN.title)
    learn(other, known, PLAN.title)
    with pytest.raises(TrustError, match="with an empty store"):
        learn(other, lies(known)["bytes"], PLAN.title)


def lies(known: KnownLayer) -> dict[str, KnownLayer]:
    entry = IndexEntry("opt/a", "file", 0o755, 1, Digest.of(b"a").hex)
    return {
        "bytes": replace(known, layer=replace(known.layer, blob=Digest.of(b"another layer"))),
        "size": replace(known, layer=replace(known.layer, size=1)),
        "diff_id": replace(known, layer=replace(known.layer, diff_id=Digest.of(b"another"))),
        "paths": replace(known, parts=(replace(known.parts[0], index=write_index([entry])), known.parts[1])),
        "facts": replace(known, parts=(replace(known.parts[0], facts=b"{}"), known.parts[1])),
    }


@pytest.mark.parametrize("lie", ["bytes", "size", "diff_id", "paths", "facts"])
def test_making_a_layer_again_finds_every_lie_and_names_the_layer(
    store: Store, other: Store, lie: str
) -> None:
    known = made(store)
    require_true(other, PLAN, known, NoArrivals())
    with pytest.raises(TrustError, match="two files: a known layer is not what its packages give"):
        require_true(other, PLAN, lies(known)[lie], NoArrivals())


def test_making_a_layer_again_does_not_use_what_the_store_knows(store: Store) -> None:
    known = made(store)
    learned = Store(store.root.parent / "learned")
    lie = lies(known)["bytes"]
    learn(learned, lie, PLAN.title)
    with pytest.raises(TrustError, match="not what its packages give"):
        require_true(learned, PLAN, lie, NoArrivals())


def changed_head(**changes: object) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        head, _, body = data.partition(b"\n")
        return json.dumps({**json.loads(head), **changes}).encode() + b"\n" + body

    return change


@pytest.mark.parametrize(
    "change",
    [
        changed_head(schema="reprobridge.known-layer/2"),
        changed_head(key="sha256:0"),
        changed_head(layer={}),
        changed_head(parts=[]),
        changed_head(parts=[{"kind": "files", "key": f"sha256:{'0' * 64}", "index": -1, "facts": None}]),
        changed_head(parts=[{"kind": "files", "key": f"sha256:{'0' * 64}", "index": 10**9, "facts": None}]),
        changed_head(parts=[{"kind": "files", "key": f"sha256:{'0' * 64}", "index": True, "facts": None}]),
        changed_head(parts=3),
        lambda data: data + b"more",
        lambda data: data[:-1],
        lambda data: b"",
        lambda data: b"[" * 100_000 + b"\n",
        lambda data: b"\xff\n" + data,
    ],
)
def test_anything_else_is_refused(store: Store, change: Callable[[bytes], bytes]) -> None:
    data = change(zlib.decompress(made_alone(store), zlib.MAX_WBITS | 16))
    with pytest.raises(TrustError, match="cannot be read"):
        KnownLayer.from_bytes(members.chain(data))


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_what_was_cut_short_is_refused(store: Store, cut: int) -> None:
    with pytest.raises(TrustError, match="cannot be read"):
        KnownLayer.from_bytes(made_alone(store)[:-cut])


def made_alone(store: Store) -> bytes:
    """The bytes of a layer of which little is known: one gzip member."""
    return made(store).to_bytes()


class TestList:
    BLOB = Descriptor("application/vnd.reprobridge.known-layer.v1+gzip", Digest.of(b"x"), 1)
    OTHER = replace(BLOB, digest=Digest.of(b"y"))
    KEYS = (Digest.of(b"1"), Digest.of(b"2"), Digest.of(b"3"))

    def test_a_list_reads_back_and_does_not_depend_on_order(self) -> None:
        known = dict.fromkeys(self.KEYS, self.BLOB)
        data = write_list(known)
        assert read_list(data) == known
        assert write_list(dict(reversed(known.items()))) == data

    def test_two_lists_are_joined_unless_they_contradict_each_other(self) -> None:
        one, two, three = self.KEYS
        both = joined({one: self.BLOB, two: self.BLOB}, {two: self.BLOB, three: self.OTHER}, "here")
        assert sorted(both) == sorted(self.KEYS)
        with pytest.raises(TrustError, match=f"here: layer {one}"):
            joined({one: self.BLOB}, {one: self.OTHER}, "here")

    @pytest.mark.parametrize(
        "data", [b"", b"[]", b"{}", b"null", b'{"artifactType": "another", "layers": []}', b"[" * 100_000]
    )
    def test_anything_else_is_no_list(self, data: bytes) -> None:
        with pytest.raises(TrustError, match=r"the list of known layers is (broken|something else)"):
            read_list(data)

    def test_a_blob_without_a_key_makes_a_list_broken(self) -> None:
        value = json.loads(write_list({self.KEYS[0]: self.BLOB}))
        del value["layers"][0]["annotations"]
        with pytest.raises(TrustError, match="broken"):
            read_list(json.dumps(value).encode())


def test_an_images_composition_is_remembered_by_its_manifest(store: Store) -> None:
    image = Digest.of(b"manifest")
    assert composition_of(store, image) is None
    remember_composition(store, image, [PLAN])
    (layer,) = composition_of(store, image) or ()
    assert layer == Composed(
        title="two files", key=PLAN.key(), parts=(("files", FIRST.key()), ("files", SECOND.key()))
    )


def test_a_blob_is_had_here_or_where_that_counts_elsewhere(store: Store) -> None:
    here, there = store.add(b"here"), Digest.of(b"there")
    blobs = ((here, 4), (there, 5), (here, 5))  # the last one was cut off
    remember_place(store, there, Place("registry.test", "papers/one"))
    assert place_of(store, there) == Place("registry.test", "papers/one")
    assert [is_had(store, blob, size, elsewhere=False) for blob, size in blobs] == [True, False, False]
    assert [is_had(store, blob, size, elsewhere=True) for blob, size in blobs] == [True, True, False]
