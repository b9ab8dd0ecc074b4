"""Leave-one-out accuracy of four classifiers on the Wine data, after Aeberhard, Coomans and de Vel (1992).

`python run.py --classifier lda` prints one line, `accuracy: <percent>`. The defaults are the procedure of
record; each other value of an option is another reading of what the published summary leaves open.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from discriminant import Floats, Labels, Sample, grid_predictions

Predictor = Callable[[Sample, Floats], Labels]
"""From training sample and one left-out point to its class: a number, or one for each pair of parameters."""

Scaling = Callable[[Floats], Floats]
"""Features of shape (n, 13) to features of the same shape, by the means and deviations of their own rows."""


def parse_arguments() -> argparse.Namespace:
    """The command line; every default belongs to the procedure of record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--classifier", choices=["lda", "qda", "rda", "1nn"], required=True)
    add("--scaling", choices=["whole", "fold", "none"], default="whole", help="z-transform: once, per fold")
    add("--ddof", type=int, choices=[0, 1], default=1, help="deviations are divided by n - ddof")
    add("--priors", choices=["shares", "equal"], default="shares", help="of the classes; not for 1nn")
    add("--metric", choices=["euclidean", "manhattan"], default="euclidean", help="for 1nn")
    add("--tuning", choices=["nested", "pooled"], default="nested", help="of rda: see evaluate_rda")
    add("--grid-steps", type=int, default=4, help="from 0 to 1 of rda's lambda and gamma")
    add("--ties", choices=["smooth", "flexible"], default="smooth", help="of rda: see best_pair")
    add("--every", type=int, default=1, help="leave out each n-th wine only: a quick trial, no result")
    return parser.parse_args()


def main() -> None:
    """Print the accuracy in percent."""
    options = parse_arguments()
    bunch = load_wine()
    features = np.asarray(bunch.data, dtype=np.float64)
    labels = np.asarray(bunch.target, dtype=np.int64)
    if options.scaling == "whole":
        features = z_transform(features, features, options.ddof)
    folds = np.arange(0, len(labels), options.every)
    sample = Sample(features, labels, np.full(3, 1 / 3) if options.priors == "equal" else None)
    evaluate = evaluate_rda if options.classifier == "rda" else evaluate_fixed
    print(f"accuracy: {100 * evaluate(sample, folds, options):.4f}")


def evaluate_fixed(sample: Sample, folds: Labels, options: argparse.Namespace) -> float:
    """Accuracy of a classifier without parameters to choose."""
    predictors = {"lda": predict_lda, "qda": predict_qda, "1nn": nearest_neighbour(options.metric)}
    predict = predictors[options.classifier]
    return float(np.mean([is_right(predict, sample, fold, options) for fold in folds]))


def evaluate_rda(sample: Sample, folds: Labels, options: argparse.Namespace) -> float:
    """Accuracy of regularised discriminant analysis, its parameters chosen by leave-one-out as well.

    nested: for each left-out wine the parameters that classify the other wines best, each of those left
    out in turn. pooled: the parameters with the best reported accuracy, which is optimistic.
    """

    def predict(training: Sample, point: Floats) -> Labels:
        return grid_predictions(training, point, options.grid_steps)

    outer = np.stack([is_right(predict, sample, fold, options) for fold in folds])
    if options.tuning == "pooled":
        return float(outer.mean(axis=0).max())
    choices = []
    for fold in folds:
        others = without(sample, fold)
        inner = [is_right(predict, others, other, options) for other in range(len(others.labels))]
        choices.append(best_pair(np.sum(inner, axis=0), options.ties))
    return float(np.mean([outer[index][choice] for index, choice in enumerate(choices)]))


def best_pair(hits: Labels, ties: str) -> tuple[int, int]:
    """Indices of lambda and gamma with most hits; of equals the largest (smooth) or smallest (flexible)."""
    pairs = np.argwhere(hits == hits.max())
    row, column = pairs[-1 if ties == "smooth" else 0]
    return int(row), int(column)


def is_right(predict: Predictor, sample: Sample, fold: int, options: argparse.Namespace) -> np.ndarray:
    """Whether the left-out wine gets its own class: a truth value, or one for each pair of parameters."""
    training, point = without(sample, fold), sample.features[fold]
    if options.scaling == "fold":
        point = z_transform(point, training.features, options.ddof)
        training = training._replace(features=z_transform(training.features, training.features, options.ddof))
    return np.asarray(predict(training, point) == sample.labels[fold])


def without(sample: Sample, fold: int) -> Sample:
    """The sample less one wine."""
    return sample._replace(
        features=np.delete(sample.features, fold, axis=0), labels=np.delete(sample.labels, fold)
    )


def z_transform(values: Floats, reference: Floats, ddof: int) -> Floats:
    """Values in units of the reference's standard deviations from its means, feature by feature."""
    return np.asarray((values - reference.mean(axis=0)) / reference.std(axis=0, ddof=ddof))


def predict_lda(sample: Sample, point: Floats) -> Labels:
    """Linear discriminant analysis: one pooled covariance."""
    model = LinearDiscriminantAnalysis(priors=sample.priors)
    return np.asarray(model.fit(sample.features, sample.labels).predict(point[None])[0])


def predict_qda(sample: Sample, point: Floats) -> Labels:
    """Quadratic discriminant analysis: a covariance for each class."""
    model = QuadraticDiscriminantAnalysis(priors=sample.priors)
    return np.asarray(model.fit(sample.features, sample.labels).predict(point[None])[0])


def nearest_neighbour(metric: str) -> Predictor:
    """The class of the nearest wine; of equally near ones the first in the file."""

    def predict(sample: Sample, point: Floats) -> Labels:
        model = KNeighborsClassifier(n_neighbors=1, metric=metric, algorithm="brute")
        return np.asarray(model.fit(sample.features, sample.labels).predict(point[None])[0])

    return predict


if __name__ == "__main__":
    main()
