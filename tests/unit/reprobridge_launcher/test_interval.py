"""Compatibility intervals as the measurement rules define them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge_launcher.interval import Policy, compare, derive, is_stable, t_quantile

observed = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12).map(tuple)


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [
        (1, 12.706204736174704),
        (2, 4.302652729749462),
        (3, 3.182446305283708),
        (4, 2.7764451051977934),
        (5, 2.570581835636314),
        (10, 2.2281388519862744),
        (29, 2.045229642132703),
        (100, 1.983971518523552),
        (999, 1.9623414611334487),
    ],
)
def test_quantiles_are_those_of_the_published_tables(freedom: int, expected: float) -> None:
    assert t_quantile(0.95, freedom) == pytest.approx(expected, rel=1e-12)


@given(st.floats(0.01, 0.999), st.integers(1, 1000))
def test_more_confidence_or_fewer_observations_widen(confidence: float, freedom: int) -> None:
    assert t_quantile(confidence, freedom) > t_quantile(confidence, freedom + 1) > 0
    assert t_quantile((1 + confidence) / 2, freedom) > t_quantile(confidence, freedom)


def test_five_observations_have_the_multiplier_of_the_rules() -> None:
    span = derive((1.0, 2.0, 3.0, 4.0, 5.0), Policy())
    # Four degrees of freedom are one of the few numbers with a closed form: 2·√(cos(arccos(√α)/3)/√α − 1), α = 4p(1−p).
    root = math.sqrt(4 * 0.975 * 0.025)
    quantile = 2 * math.sqrt(math.cos(math.acos(root) / 3) / root - 1)
    assert span.half_width / math.sqrt(2.5) == pytest.approx(quantile * math.sqrt(1.2), rel=1e-12)
    assert span.half_width / math.sqrt(2.5) == pytest.approx(3.0414432276, abs=5e-11)
    assert (span.mean, span.n, span.kind, span.cut) == (3.0, 5, "prediction", False)


def test_the_floor_is_one_percent_of_the_mean() -> None:
    span = derive((98.88,) * 5, Policy())
    assert (span.low, span.high) == (98.88 - 0.01 * 98.88, 98.88 + 0.01 * 98.88)
    assert not span.low_power


@given(observed)
def test_ends_are_inclusive_and_better_values_fail_too(observations: tuple[float, ...]) -> None:
    span = derive(observations, Policy())
    assert compare(span.low, span).compatible
    assert compare(span.high, span).compatible
    assert compare(math.nextafter(span.high, math.inf), span).verdict == "incompatible"
    assert compare(math.nextafter(span.low, -math.inf), span).verdict == "incompatible"


@given(observed)
def test_an_interval_can_be_derived_again_from_its_policy(observations: tuple[float, ...]) -> None:
    span = derive(observations, Policy(confidence=0.8, floor=0.005))
    assert derive(observations, span.policy) == span


def test_a_single_observation_gives_the_floor_labelled() -> None:
    span = derive((50.0,), Policy())
    assert (span.kind, span.low, span.high, span.deviation) == ("floor_only", 49.5, 50.5, None)


def test_equal_observations_have_themselves_as_mean_and_no_deviation() -> None:
    value = 715827883.3600156  # the sum of three, rounded, is less than three times it
    span = derive((value,) * 3, Policy())
    assert (span.mean, span.deviation) == (value, 0.0)


def test_zero_everywhere_is_degenerate() -> None:
    span = derive((0.0, 0.0, 0.0), Policy())
    assert (span.low, span.high, span.degenerate, span.relative_half_width) == (0.0, 0.0, True, None)
    assert compare(0, span).compatible
    assert not compare(1e-300, span).compatible


def test_bounds_cut_the_interval_and_say_so() -> None:
    span = derive((1.0, 2.0, 9.0), Policy(lower=0.0))
    assert (span.low, span.cut) == (0.0, True)
    assert not derive((99.0, 99.5, 98.7), Policy(lower=0.0)).cut
    high = derive((99.0, 97.0, 99.9), Policy(lower=0.0, upper=100.0))
    assert (high.high, high.cut) == (100.0, True)
    assert not compare(100.5, high).compatible


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, False, None, "98.9", 10**400])
def test_what_is_no_finite_number_is_invalid_and_never_compatible(value: object) -> None:
    verdict = compare(value, derive((0.0, 1.0, 2.0), Policy()))
    assert (verdict.verdict, verdict.compatible, verdict.value) == ("invalid", False, None)


@pytest.mark.parametrize("bad", [(), (1.0, math.nan), (True, 1.0), (math.inf,)])
def test_observations_must_be_finite_numbers(bad: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="finite observations"):
        derive(bad, Policy())


@pytest.mark.parametrize(
    "policy", [Policy(lower=0.0, upper=1.0), Policy(lower=98.6), Policy(lower=200.0, upper=0.0)]
)
def test_observations_lie_within_the_bounds_or_there_is_no_interval(policy: Policy) -> None:
    with pytest.raises(ValueError, match="not within the bounds"):
        derive((98.5, 98.7), policy)


@pytest.mark.parametrize("huge", [(1e200, -1e200), (1.7e308, 1.7e308), (1.79e308,)])
def test_an_interval_beyond_all_numbers_is_refused(huge: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="beyond all numbers"):
        derive(huge, Policy())


@pytest.mark.parametrize(
    "policy", [Policy(confidence=1.0), Policy(floor=-0.1), Policy(floor_basis="published")]
)
def test_a_policy_that_means_nothing_is_refused(policy: Policy) -> None:
    with pytest.raises(ValueError, match="policy"):
        derive((1.0, 2.0), policy)


def test_rounding_alone_is_noted_but_does_not_make_it_compatible() -> None:
    span = derive((98.0,), Policy(floor=0.0))
    verdict = compare(98.04, span, 1)
    assert (verdict.verdict, verdict.rounding_only) == ("incompatible", True)
    assert not compare(98.06, span, 1).rounding_only
    assert not compare(98.0, span, 1).rounding_only


def test_wide_intervals_are_flagged_as_low_power() -> None:
    assert derive((80.0, 100.0, 120.0), Policy()).low_power
    assert derive((-1.0, 1.0), Policy()).low_power
    assert not derive((99.0, 100.0, 101.0), Policy()).low_power


def test_stability_is_a_tenth_of_the_published_value_inclusive() -> None:
    assert is_stable((95.0, 105.0), -100.0)
    assert not is_stable((94.9, 105.0), 100.0)
    assert is_stable((0.0, 0.0), 0.0)
    assert not is_stable((0.0, 0.1), 0.0)
