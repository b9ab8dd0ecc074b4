"""Leave-one-out accuracy of the nearest neighbour on a few points: an example to replace."""

import argparse
import csv
import math
import pathlib


def read_points():
    """All points as (place, class)."""
    path = pathlib.Path(__file__).with_name("points.csv")
    with path.open(newline="", encoding="utf-8") as stream:
        return [((float(row["x"]), float(row["y"])), row["class"]) for row in csv.DictReader(stream)]


def nearest(place, points):
    """Class of the point that is nearest to a place."""
    return min(points, key=lambda point: math.hypot(point[0][0] - place[0], point[0][1] - place[1]))[1]


def main():
    """Print the percentage of points whose class the other points tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="leave out every nth point only")
    arguments = parser.parse_args()
    points = read_points()
    chosen = range(0, len(points), arguments.every)
    right = sum(nearest(points[i][0], points[:i] + points[i + 1 :]) == points[i][1] for i in chosen)
    print("accuracy: %.4f" % (100 * right / len(chosen)))


if __name__ == "__main__":
    main()
