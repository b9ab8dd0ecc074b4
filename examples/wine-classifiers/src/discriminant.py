"""Regularised discriminant analysis (Friedman 1989, JASA 84:165-175) over a grid of its two parameters.

Lambda moves each class covariance towards the pooled one (0: quadratic, 1: linear analysis), gamma
moves the result towards a multiple of the identity. With n_k members and scatter matrix S_k of class k,
S the sum of all S_k, n the sample size, p the number of features and pi_k the prior:

    C_k(lambda)        = ((1 - lambda) S_k + lambda S) / ((1 - lambda) n_k + lambda n)
    C_k(lambda, gamma) = (1 - gamma) C_k(lambda) + gamma trace(C_k(lambda)) / p I
    score_k(x)         = (x - m_k)' C_k^-1 (x - m_k) + log det C_k - 2 log pi_k      (smallest wins)

This module knows nothing of scaling or cross-validation: run.py does both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


class Sample(NamedTuple):
    """Training data: features of shape (n, p), labels of shape (n,), prior of each class or None.

    None means the classes' shares in this sample.
    """

    features: Floats
    labels: Labels
    priors: Floats | None = None


def grid_predictions(sample: Sample, point: Floats, steps: int) -> Labels:
    """The class of one point for each lambda (rows) and gamma (columns) of 0, 1 / steps, …, 1.

    One eigendecomposition serves all gammas: shrinking to the identity keeps the eigenvectors.
    Raises ValueError when a class covariance is singular, which gamma = 0 does not repair.
    """
    grid = np.linspace(0, 1, steps + 1)
    classes, sizes = np.unique(sample.labels, return_counts=True)
    groups = [sample.features[sample.labels == kind] for kind in classes]
    eigenvalues, eigenvectors = np.linalg.eigh(_covariances(groups, grid))
    deviations = np.stack([point - group.mean(axis=0) for group in groups])
    coordinates = np.einsum("kp,klpe->kle", deviations, eigenvectors)
    shrunk = _shrink(eigenvalues, grid)
    negligible = len(point) * np.finfo(np.float64).eps * shrunk.max(axis=-1)
    if (shrunk.min(axis=-1) <= negligible).any():
        raise ValueError("a class covariance is singular: too few members for gamma = 0")
    distances = (coordinates[:, :, None, :] ** 2 / shrunk).sum(axis=-1)
    priors = sizes / sizes.sum() if sample.priors is None else sample.priors
    scores = distances + np.log(shrunk).sum(axis=-1) - 2 * np.log(priors)[:, None, None]
    return np.asarray(classes[scores.argmin(axis=0)], dtype=np.int64)


def _covariances(groups: list[Floats], grid: Floats) -> Floats:
    """C_k(lambda), shape (classes, lambdas, p, p)."""
    centred = [group - group.mean(axis=0) for group in groups]
    scatters = np.stack([deviations.T @ deviations for deviations in centred])[:, None]
    sizes = np.array([len(group) for group in groups])[:, None, None, None]
    lambdas = grid[:, None, None]
    mixed = (1 - lambdas) * scatters + lambdas * scatters.sum(axis=0)
    return np.asarray(mixed / ((1 - lambdas) * sizes + lambdas * sizes.sum()))


def _shrink(eigenvalues: Floats, grid: Floats) -> Floats:
    """Eigenvalues of C_k(lambda, gamma) from those of C_k(lambda), shape (classes, lambdas, gammas, p)."""
    gammas = grid[:, None]
    spherical = eigenvalues.mean(axis=-1)[:, :, None, None]
    return np.asarray((1 - gammas) * eigenvalues[:, :, None, :] + gammas * spherical)
