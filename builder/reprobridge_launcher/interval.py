"""Compatibility intervals: is a measured value what independent reproductions would lead one to expect?

Observations x1 ... xn with mean m and standard deviation s (n - 1 in the denominator) give the half-width
h = max(t * s * sqrt(1 + 1/n), floor * |m|), t being Student's quantile at n - 1 degrees of freedom that leaves
`confidence` in the middle: a prediction interval for one more reproduction, never narrower than the floor.
A value v is compatible when m - h <= v <= m + h: inclusive and two-sided.

Pure: numbers in, records out.  A verdict is a value, never an exception.
"""

import math

from reprobridge_launcher.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Literal, Sequence

LARGEST = 1.7976931348623157e308
"""Greatest finite double: whole numbers beyond it aren't comparable."""
REFERENCE_MEAN = "reference_mean"
"""The only floor basis of this release: the floor is a fraction of |m|."""


class Policy(Record):
    """How an interval is derived from its observations; stored with them, so that it can be derived again."""

    confidence: "float" = 0.95
    """Probability in the middle of the prediction interval, between 0 and 1."""
    floor: "float" = 0.01
    """Least half-width as a fraction of the floor basis."""
    floor_basis: "str" = REFERENCE_MEAN
    """What the floor is a fraction of."""
    lower: "float | None" = None
    """Least value that the quantity can have (0 for counts, errors, rates), in the task's unit."""
    upper: "float | None" = None
    """Greatest value that the quantity can have (1 or 100 for rates), in the task's unit."""


class Interval(Record):
    """An interval with what it came from."""

    policy: "Policy"
    """How it was derived."""
    n: "int"
    """Number of observations."""
    mean: "float"
    """Mean of the observations."""
    deviation: "float | None"
    """Standard deviation (n - 1), None for a single observation."""
    half_width: "float"
    """Half-width h before any cut."""
    low: "float"
    """Lower end, inclusive, after the cut."""
    high: "float"
    """Upper end, inclusive, after the cut."""
    kind: "str"
    """`prediction`, or `floor_only` where fewer than two observations give no prediction interval."""
    cut: "bool"
    """Was an end moved to the quantity's bound?"""
    degenerate: "bool"
    """Mean and deviation are both 0, so that the interval is the single point 0."""
    relative_half_width: "float | None"
    """Half-width / |mean|; None for a mean of 0."""
    low_power: "bool"
    """Half-width over 10 % of |mean|: wrong procedures pass easily."""


class Verdict(Record):
    """What a comparison found."""

    verdict: "Literal['compatible', 'incompatible', 'invalid']"
    """`invalid`: the value is no finite number."""
    value: "float | None"
    """The value that was compared, unrounded; None where it is invalid."""
    interval: "Interval"
    """What it was compared with."""
    rounding_only: "bool"
    """Incompatible, but compatible when rounded to the published number of decimals."""

    @property
    def compatible(self) -> bool:
        """Does the value lie in the interval?"""
        return self.verdict == "compatible"


def mean_of(values: "Sequence[float]") -> float:
    """Mean of at least one value, never outside them: sum and quotient are both rounded, also of equal values."""
    return min(max(math.fsum(values) / len(values), min(values)), max(values))


def derive(observations: "tuple[float, ...]", policy: Policy) -> Interval:
    """Interval of at least one finite observation within the quantity's bounds; ValueError for anything else."""
    n = len(observations)
    if n == 0 or not all(is_number(x) for x in observations):
        raise ValueError("expected finite observations, found {!r}".format(observations))
    if not 0.0 < policy.confidence < 1.0 or policy.floor < 0.0 or policy.floor_basis != REFERENCE_MEAN:
        raise ValueError("no interval has the policy {!r}".format(policy))
    bounds = [bound for bound in (policy.lower, policy.upper) if bound is not None]
    if bounds != sorted(bounds) or any(clipped(x, policy) != x for x in observations):
        raise ValueError("{!r} are not within the bounds of the policy {!r}".format(observations, policy))
    try:
        return _prediction(observations, policy)
    except OverflowError:
        raise ValueError("the interval of {!r} is beyond all numbers".format(observations)) from None


def clipped(x: float, policy: Policy) -> float:
    """Move a number to the bound of the quantity that it lies beyond."""
    x = x if policy.lower is None else max(x, policy.lower)
    return x if policy.upper is None else min(x, policy.upper)


def _prediction(observations: "tuple[float, ...]", policy: Policy) -> Interval:
    n = len(observations)
    mean = mean_of(observations)
    half = policy.floor * abs(mean)
    deviation = None
    if n > 1:
        deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in observations) / (n - 1))
        half = max(t_quantile(policy.confidence, n - 1) * deviation * math.sqrt(1.0 + 1.0 / n), half)
    low, high = clipped(mean - half, policy), clipped(mean + half, policy)
    if not is_number(low) or not is_number(high):
        raise OverflowError
    relative = half / abs(mean) if mean else None
    return Interval(
        policy=policy,
        n=n,
        mean=mean,
        deviation=deviation,
        half_width=half,
        low=low,
        high=high,
        kind="prediction" if n > 1 else "floor_only",
        cut=(low, high) != (mean - half, mean + half),
        degenerate=half == 0.0 and mean == 0.0,
        relative_half_width=relative,
        low_power=half > 0.0 if relative is None else relative > 0.1,
    )


def compare(value: object, interval: Interval, decimals: "int | None" = None) -> Verdict:
    """Judge a value; `decimals` are those of the published value, None where it isn't rounded."""
    if not is_number(value):
        return Verdict(verdict="invalid", value=None, interval=interval, rounding_only=False)
    number = float(value)  # type: ignore[arg-type]
    inside = interval.low <= number <= interval.high
    rounds_in = decimals is not None and interval.low <= round(number, decimals) <= interval.high
    return Verdict(
        verdict="compatible" if inside else "incompatible",
        value=number,
        interval=interval,
        rounding_only=rounds_in and not inside,
    )


def is_stable(observations: "tuple[float, ...]", published: float) -> bool:
    """Do the observations differ by at most 10 % of |published|?  Published zero: only if they are equal."""
    return max(observations) - min(observations) <= 0.1 * abs(published)


def is_number(value: object) -> bool:
    """Is it a finite number?  Booleans, texts, NaN and infinities aren't."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return -LARGEST <= value <= LARGEST


def t_quantile(confidence: float, freedom: int) -> float:
    """Return t with P(|T| <= t) = confidence for Student's T with `freedom` degrees of freedom.

    The probability is a finite sum in theta = atan(t / sqrt(freedom)) (Abramowitz and Stegun 26.7.3 and
    26.7.4), which grows with theta from 0 to 1: bisection on theta ends at the last bit.
    """
    low, high = 0.0, math.pi / 2
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return math.sqrt(freedom) * math.tan(middle)
        if _t_probability(middle, freedom) < confidence:
            low = middle
        else:
            high = middle


def _t_probability(theta: float, freedom: int) -> float:
    sine, cosine = math.sin(theta), math.cos(theta)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 or not odd else 0.0
    for k in range(2 + odd, freedom, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    if odd:
        return 2.0 / math.pi * (theta + sine * (total if freedom > 1 else 0.0))
    return sine * total
