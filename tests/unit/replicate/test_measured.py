"""What a publisher attests to have measured stands in verify's table, a row a task; whether it must, is required apart."""

from pathlib import Path

import pytest

from reprobridge.replicate.answers import Verification, verification_lines
from reprobridge.store.store import Store
from reprobridge_launcher.evidence import Comparison
from support.publishing import failed
from support.signed_image import OTHER, Published, attest_measurements, published

COMPATIBLE = Comparison(published=1.17, verdict="compatible", low=98.0, high=99.0, n=5, kind="prediction")


@pytest.fixture
def image(store_folder: Path) -> Published:
    return published(Store(store_folder))


def values(verification: Verification) -> list[str]:
    """The rows of the table."""
    return [line for line in verification_lines(verification) if line.startswith("value")]


def test_a_measurement_is_a_row_with_value_published_number_and_verdict(image: Published) -> None:
    attest_measurements(image, comparison=COMPATIBLE)
    verification = image.verify()
    assert verification.held
    assert len(verification.points) == 6
    assert values(verification) == [
        "value  deviation  standard deviation 98.8764 percent, published 1.17: compatible"
    ]


def test_the_json_form_holds_the_measurements(image: Published) -> None:
    assert image.verify().to_json()["measured"] == []
    attest_measurements(image, comparison=COMPATIBLE)
    assert image.verify().to_json()["measured"] == [
        {
            "task": "deviation",
            "value": "98.8764",
            "unit": "percent",
            "failure": None,
            "published": "1.17",
            "verdict": "compatible",
        }
    ]


def test_a_value_that_was_not_compared_has_no_verdict(image: Published) -> None:
    attest_measurements(image, comparison=Comparison(published=1.17))
    assert values(image.verify())[0].endswith("percent, published 1.17")


def test_a_task_that_failed_says_how(image: Published) -> None:
    attest_measurements(image, **failed("execution_blocked"))
    assert "no value (execution_blocked), published" in values(image.verify())[0]


def test_what_is_said_twice_is_one_row_and_another_value_is_another(image: Published) -> None:
    attest_measurements(image)
    bundles = image.bundles()
    assert len(values(image.verify(bundles=[*bundles, *bundles]))) == 1
    attest_measurements(image, value=97.5)
    assert len(values(image.verify(bundles=[*bundles, *image.bundles()]))) == 2


def test_what_nobody_trusted_says_or_does_not_count_is_no_row(image: Published) -> None:
    attest_measurements(image, mode="smoke")
    assert image.verify().held
    assert values(image.verify()) == []
    attest_measurements(image)
    bundles = image.bundles()
    image.key = OTHER
    assert values(image.verify(bundles=[*bundles[:-1], image.bundles()[-1]])) == []


def test_of_an_image_that_cannot_be_read_no_value_is_told(image: Published) -> None:
    attest_measurements(image)
    image.store.path(image.parts.layers[2].digest).write_bytes(b"other")
    assert values(image.verify()) == []
