# SPDX-License-Identifier: BSD-3-Clause
"""Regression on strings: the slant of handwritten digits from their outlines alone.

The objects are chain codes, strings of the eight directions that a walk along a digit's outline
takes; the target is the slant of the ink in the image, in degrees. Four predictors use the same
training objects, on which their parameters are chosen:

- the mean;
- linear regression on the length of the string;
- the mean of the k nearest neighbours by Levenshtein distance;
- D2KE: linear regression (LIBLINEAR's ``-s 11``) on features exp(-gamma d(x, omega)).

    python examples/regression.py            # five divisions, under a minute
    python examples/regression.py --small    # one division, fewer features
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_digits

import d2ke
from d2ke.embedding.scaling import Scaling

LENGTHS = ((10, 40), (40, 90))  # of the random strings
COSTS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
GAMMAS = (0.3, 1.0, 3.0)  # in units of 1 / (median distance)
NEIGHBORS = (1, 2, 3, 5, 7, 10, 15, 20)
N_FOLDS = 3


def main(n_divisions: int = 5, R: int = 512) -> dict[str, tuple[float, float]]:
    """Print a table of errors, and return (RMSE, R^2) of each predictor."""
    digits = d2ke.datasets.load("digits-str8")
    target = slant(load_digits().images)
    results: dict[str, list[tuple[float, float]]] = {}
    for seed in range(n_divisions):
        train, test = digits.split(seed)
        mean, sd = target[train].mean(), target[train].std()
        y = (target[train] - mean) / sd  # one range of C suits every target
        X, X_test = digits.objects[train], digits.objects[test]
        predictions = {
            "mean": np.zeros(len(test)),
            "string length": by_length(X, y, X_test),
            "KNN": by_neighbors(X, y, X_test),
            "D2KE": by_features(X, y, X_test, R, seed),
        }
        for name, predicted in predictions.items():
            error = np.mean((mean + sd * predicted - target[test]) ** 2)
            results.setdefault(name, []).append((np.sqrt(error), 1 - error / target[test].var()))
    print(f"slant: mean {target.mean():.1f}, deviation {target.std():.1f} degrees")
    print(f"{'':14} {'RMSE':>14} {'R^2':>16}")
    for name, values in results.items():
        (rmse, r2), (rmse_sd, r2_sd) = np.mean(values, axis=0), np.std(values, axis=0)
        print(f"{name:14} {rmse:6.2f} ± {rmse_sd:4.2f}  {r2:7.3f} ± {r2_sd:.3f}")
    return {name: tuple(np.mean(values, axis=0)) for name, values in results.items()}


def slant(images: np.ndarray) -> np.ndarray:
    """Return the angle, in degrees, by which the ink leans to the right as it goes up."""
    share = images / images.sum(axis=(1, 2), keepdims=True)
    row, column = np.indices(images.shape[1:])
    row = row - (share * row).sum(axis=(1, 2), keepdims=True)
    column = column - (share * column).sum(axis=(1, 2), keepdims=True)
    variance = (share * row**2).sum(axis=(1, 2))
    covariance = (share * row * column).sum(axis=(1, 2))
    return np.degrees(np.arctan(-covariance / variance))


def by_features(X: d2ke.Objects, y: np.ndarray, X_test: d2ke.Objects, R: int, seed: int):
    """Predict by D2KE, with p(omega), gamma and C chosen by cross-validation."""
    candidates = []
    for length in LENGTHS:
        omega = d2ke.samplers.random_strings(R, "01234567", length=length, seed=seed)
        D = d2ke.distance_matrix(X, omega, "levenshtein")  # once, for every gamma
        D_test = d2ke.distance_matrix(X_test, omega, "levenshtein")
        for gamma in np.array(GAMMAS) / np.median(D):
            Z, Z_test = d2ke.d2ke_features(D, gamma), d2ke.d2ke_features(D_test, gamma)
            scaling = Scaling.fit(Z)
            candidates.append((scaling.apply(Z), scaling.apply(Z_test)))
    return regress(candidates, y)


def by_length(X: d2ke.Objects, y: np.ndarray, X_test: d2ke.Objects):
    """Predict by the length of the string."""
    lengths, lengths_test = (np.array([[len(x)] for x in part], float) for part in (X, X_test))
    scaling = Scaling.fit(lengths)
    return regress([(scaling.apply(lengths), scaling.apply(lengths_test))], y)


def by_neighbors(X: d2ke.Objects, y: np.ndarray, X_test: d2ke.Objects):
    """Predict by the mean of the nearest neighbours, with k chosen by leaving one out."""
    D = d2ke.distance_matrix(X, distance="levenshtein")
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")
    k = min(NEIGHBORS, key=lambda k: np.mean((y[order[:, :k]].mean(axis=1) - y) ** 2))
    D_test = d2ke.distance_matrix(X_test, X, "levenshtein")
    return y[np.argsort(D_test, axis=1, kind="stable")[:, :k]].mean(axis=1)


def regress(candidates: list[tuple[np.ndarray, np.ndarray]], y: np.ndarray):
    """Choose among features (training, test) and C by cross-validation; predict the test part."""
    folds = np.arange(len(y)) % N_FOLDS  # a division is in random order

    def error(F: np.ndarray, C: float) -> float:
        squares = 0.0
        for fold in range(N_FOLDS):
            kept = folds != fold
            model = d2ke.train(y[kept], F[kept], options(C))
            _, (_, mse, _), _ = d2ke.predict(y[~kept], F[~kept], model)
            squares += mse * (~kept).sum()
        return squares

    settings = [(F, F_test, C) for F, F_test in candidates for C in COSTS]
    F, F_test, C = min(settings, key=lambda setting: error(setting[0], setting[2]))
    return d2ke.predict(None, F_test, d2ke.train(y, F, options(C)))[0]


def options(C: float) -> str:
    """Return LIBLINEAR's options: squared loss, every error counts, with a bias."""
    return f"-s 11 -p 0 -e 0.01 -B 1 -c {C}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="one division, 128 features")
    main(*((1, 128) if parser.parse_args().small else ()))
