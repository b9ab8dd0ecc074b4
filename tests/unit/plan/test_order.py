"""The canonical order of wheels."""

from hypothesis import given
from hypothesis import strategies as st

from reprobridge.plan.order import LayerOrder, wheel_layers
from support.specs import sample_wheel

ORDER = LayerOrder(
    base_python=("python3*",),
    groups=(("cuda", ("nvidia-*",)), ("frameworks", ("torch",))),
    own_layer_from=1000,
    small_buckets=3,
    budget=60,
)

names = st.lists(st.sampled_from([f"p{number}" for number in range(40)] + ["torch", "nvidia-x"]), unique=True)


def titles(*wheels: tuple[str, int], room: int = 50) -> list[str]:
    """Titles of the layers that these wheels make."""
    return [layer.title for layer in wheel_layers([sample_wheel(*wheel) for wheel in wheels], ORDER, room)]


def test_cuda_comes_before_frameworks_before_the_rest_and_big_before_small() -> None:
    shown = titles(("scipy", 5000), ("numpy", 9000), ("torch", 2000), ("nvidia-cublas", 1500))
    assert shown == [
        "python: nvidia-cublas 1.0",
        "python: torch 1.0",
        "python: numpy 1.0",
        "python: scipy 1.0",
    ]


def test_small_wheels_share_layers_after_the_big_ones() -> None:
    shown = titles(("six", 10), ("torch", 2000), ("idna", 10), ("attrs", 10), ("click", 10))
    assert shown[0] == "python: torch 1.0"
    assert 2 <= len(shown) <= 1 + ORDER.small_buckets


def test_too_many_big_wheels_share_until_they_fit() -> None:
    assert len(titles(*((f"big{number}", 1000 + number) for number in range(90)), room=20)) <= 20


@given(names, st.sampled_from(["p1", "p2", "p39"]))
def test_another_small_wheel_touches_one_layer(packages: list[str], added: str) -> None:
    before = wheel_layers([sample_wheel(name, 10) for name in packages], ORDER, 50)
    after = wheel_layers([sample_wheel(name, 10) for name in {*packages, added}], ORDER, 50)
    unchanged = {layer.wheels for layer in before} & {layer.wheels for layer in after}
    assert len(after) - len(unchanged) <= 1


@given(names)
def test_the_order_of_the_lock_does_not_matter(packages: list[str]) -> None:
    wheels = [sample_wheel(name, 10 * len(name)) for name in packages]
    shuffled = sorted(wheels, key=lambda wheel: wheel.file.sha256)
    assert wheel_layers(wheels, ORDER, 50) == wheel_layers(shuffled, ORDER, 50)
