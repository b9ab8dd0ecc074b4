"""Standard deviation of the sleep gained by one drug over another, for Student's ten patients (1908)."""

import argparse
import statistics

DEXTRO_AND_LAEVO = [
    (0.7, 1.9), (-1.6, 0.8), (-0.2, 1.1), (-1.2, 0.1), (-0.1, -0.1),
    (3.4, 4.4), (3.7, 5.5), (0.8, 1.6), (0.0, 4.6), (2.0, 3.4),
]
DEVIATION = {0: statistics.pstdev, 1: statistics.stdev}


def main() -> None:
    """Print the deviation in hours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ddof", type=int, choices=[0, 1], default=0, help="divide by n - ddof")
    parser.add_argument("--patients", type=int, default=10, help="only the first ones: a quick trial")
    options = parser.parse_args()
    gains = [laevo - dextro for dextro, laevo in DEXTRO_AND_LAEVO[: options.patients]]
    print(f"deviation: {DEVIATION[options.ddof](gains):.4f}")


if __name__ == "__main__":
    main()
