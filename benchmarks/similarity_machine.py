# SPDX-License-Identifier: BSD-3-Clause
"""The Similarity Machine against LIBSVM on repaired Gram matrices of three real distances.

    python -m benchmarks.similarity_machine [--data auslan ...] [--divisions 5]

DTW on 20 signs of Auslan, the modified Hausdorff distance on flower, and the Levenshtein distance
on 1000 strings of splice, as the similarities exp(-gamma d^2), -d^2 ("nd"), or -d^2 / 2
double-centred by the means of the training part ("centred"). The folder of the original data files
is needed in D2KE_DATA.

All methods get the same matrices, and choose C (and gamma) from the same grid by 3-fold
cross-validation on the training part of each division. A repair is fitted to the training objects
alone, and in cross-validation to the kept folds alone; rows of other objects undergo the same
linear map (`SpectrumRepair.apply`): a row s becomes s P, where P, for clip, drops the training
matrix's eigenvectors of negative eigenvalues and, for flip, turns their sign; for shift it stays.
"indefinite" is LIBSVM on the matrix as it is.

The Similarity Machine has one machine for each class against the rest, and so have the others here;
"(pairs)" are LIBSVM's own machines for pairs of classes. "lam_minus" chooses the weight of the
negative part's penalty as well: a larger grid than the others have.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure
from d2ke.model_selection.folds import stratified_folds
from papers.datasets import load

COSTS = tuple(10.0**k for k in range(-1, 4))
GAMMAS = (0.3, 1.0, 3.0)  # in units of 1 / (median distance)^2
WEIGHTS = (0.3, 1.0, 10.0)  # lam_minus, for lam_plus = 1
NEIGHBORS = (1, 3, 5, 9)
N_FOLDS = 3
N_SIGNS, PART = 20, 0.3  # with a larger training part nearly all methods are perfect
N_STRINGS = 1000

# Labels of rows of new objects, one array for each candidate.
Candidates = Iterator[tuple[Any, np.ndarray]]


def main() -> None:
    """Print for each data set the accuracies of all methods, and what the spectrum is like."""
    parser = measure.parser(__doc__, threads=True)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA), metavar="NAME")
    parser.add_argument("--divisions", type=int, default=5)
    arguments = parser.parse_args()
    for name in arguments.data:
        begin = time.perf_counter()
        found = [compare(name, seed, arguments.threads) for seed in range(arguments.divisions)]
        negative = 100 * np.mean([one["negative"] for one in found], axis=0)
        print(
            f"\n{name}: {found[0]['sizes']}; {arguments.divisions} divisions; negative part of the "
            f"sum of |eigenvalues|: {', '.join(f'{part:.1f} %' for part in negative)}; "
            f"{time.perf_counter() - begin:.0f} s\n"
        )
        measure.header("method", "accuracy", "Similarity Machine - it")
        by_method = {
            method: np.array([one["accuracy"][method] for one in found])
            for method in found[0]["accuracy"]
        }
        for method, values in by_method.items():
            gap = measure.mean_and_sd(by_method["Similarity Machine"] - values, "+")
            measure.row(method, measure.mean_and_sd(values), gap)
        if stopped := sum(one["stopped"] for one in found):
            print(f"\nLIBSVM gave up {stopped} times at its limit of iterations.")


def compare(name: str, seed: int, n_threads: int | None) -> dict[str, Any]:
    """Return the test accuracies in percent on one division."""
    distances, similarities = DATA[name]
    D, D_test, y, y_test = distances(seed, n_threads)
    codes = np.unique(y, return_inverse=True)[1]
    folds = stratified_folds(codes, N_FOLDS, seed=seed)
    accuracies: dict[str, float] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for method, labels in METHODS.items():
            right: dict[Any, int] = {}
            for fold in range(N_FOLDS):
                kept, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
                parts = D[np.ix_(kept, kept)], D[np.ix_(out, kept)]
                for key, S, S_new in similarities(*parts):
                    for option, found in labels(S, y[kept], S_new, None):
                        score = int((found == y[out]).sum())
                        right[key, option] = right.get((key, option), 0) + score
            best = max(right, key=right.__getitem__)  # of equals, the first
            for key, S, S_new in similarities(D, D_test):
                if key == best[0]:
                    ((_, found),) = labels(S, y, S_new, best[1])
                    accuracies[method] = 100 * float((found == y_test).mean())
    accuracies["KNN"] = nearest_neighbors(D, D_test, y, y_test, folds)
    spectra = [np.linalg.eigvalsh(S) for _, S, _ in similarities(D, D_test)]
    return {
        "accuracy": accuracies,
        "sizes": f"train {len(y)}, test {len(y_test)}, classes {codes.max() + 1}",
        "negative": [float(-v[v < 0].sum() / np.abs(v).sum()) + 0.0 for v in spectra],
        "stopped": len(caught),
    }


def nearest_neighbors(
    D: np.ndarray, D_test: np.ndarray, y: np.ndarray, y_test: np.ndarray, folds: np.ndarray
) -> float:
    """Return the accuracy of KNN on the distances themselves, with k chosen on the same folds."""
    right = np.zeros(len(NEIGHBORS))
    for fold in range(N_FOLDS):
        kept, out = folds != fold, folds == fold
        for i, k in enumerate(NEIGHBORS):
            found = d2ke.knn_predict(y[kept], D[np.ix_(out, kept)], k)
            right[i] += (found == y[out]).sum()
    found = d2ke.knn_predict(y, D_test, NEIGHBORS[int(right.argmax())])
    return 100 * float((found == y_test).mean())


# The similarities.


def rbf(D: np.ndarray, D_new: np.ndarray) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Yield exp(-gamma d^2) for each gamma."""
    unit = np.median(D)
    for gamma in GAMMAS:
        yield gamma, *(d2ke.dsk_gram(values / unit, gamma=gamma) for values in (D, D_new))


def nd(D: np.ndarray, D_new: np.ndarray) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Yield -d^2, in units of the median distance."""
    unit = np.median(D)
    yield None, *(d2ke.dsk_gram(values / unit, kind="nd") for values in (D, D_new))


def centred(D: np.ndarray, D_new: np.ndarray) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Yield the products of pseudo-Euclidean vectors about the training objects' centre."""
    for key, S, S_new in nd(D, D_new):
        columns, mean = S.mean(axis=0), S.mean()
        own, new = (M - M.mean(axis=1, keepdims=True) - columns + mean for M in (S, S_new))
        yield key, (own + own.T) / 4, new / 2


# The methods: labels for rows S_new, of every option or of the one that is given.


def machine(weights: tuple[float, ...]) -> Callable[..., Candidates]:
    """Return the Similarity Machine with some weights of the negative part."""

    def labels(S: np.ndarray, y: np.ndarray, S_new: np.ndarray, given: Any) -> Candidates:
        pairs = [(C, weight) for C in COSTS for weight in weights]
        for C, weight in pairs if given is None else [given]:
            model = d2ke.similarity_machine_fit(S, y, C=C, lam_minus=weight)
            yield (C, weight), d2ke.similarity_machine_predict(model, S_new)[0]

    return labels


def repaired(kind: str | None, *, pairs: bool = False) -> Callable[..., Candidates]:
    """Return LIBSVM after a repair of the spectrum."""

    def labels(S: np.ndarray, y: np.ndarray, S_new: np.ndarray, given: Any) -> Candidates:
        if kind is not None:
            repair = d2ke.embedding.SpectrumRepair.fit(S, kind)
            S, S_new = repair.gram, repair.apply(S_new)
        for C in COSTS if given is None else [given]:
            options = f"-t 4 -c {C!r}"
            if pairs:
                yield C, d2ke.svmpredict(None, S_new, d2ke.svmtrain(y, S, options))[0]
                continue
            classes = np.unique(y)
            machines = [d2ke.svmtrain(y == label, S, options) for label in classes]
            values = [d2ke.svmpredict(None, S_new, one)[2][:, 0] for one in machines]
            yield C, classes[np.argmax(values, axis=0)]

    return labels


KINDS = ("clip", "flip", "shift", None)
METHODS: dict[str, Callable[..., Candidates]] = {
    "Similarity Machine": machine((1.0,)),
    **{kind or "indefinite": repaired(kind) for kind in KINDS},
    "Similarity Machine, lam_minus": machine(WEIGHTS),
    **{f"{kind or 'indefinite'} (pairs)": repaired(kind, pairs=True) for kind in KINDS},
}


# The data: the distances among and to the training objects, and the labels.


def auslan(seed: int, n_threads: int) -> tuple[np.ndarray, ...]:
    """Return DTW distances of the first signs, standardised by the training part."""
    dataset = load("auslan")
    some = np.flatnonzero(np.isin(dataset.labels, dataset.classes[:N_SIGNS]))
    parts = [some[part] for part in d2ke.datasets.train_test_split(some, fraction=PART, seed=seed)]
    sides = d2ke.datasets.standardize(*(dataset.objects[part] for part in parts))
    return divided(dataset, parts, sides, n_threads)


def flower(seed: int, n_threads: int) -> tuple[np.ndarray, ...]:
    """Return modified Hausdorff distances of sets of SIFT descriptors."""
    dataset = load("flower")
    parts = dataset.split(seed)
    return divided(dataset, parts, [dataset.objects[part] for part in parts], n_threads)


def splice(seed: int, n_threads: int) -> tuple[np.ndarray, ...]:
    """Return Levenshtein distances of random strings, one half for training."""
    dataset = load("splice")
    some = np.random.default_rng(seed).permutation(len(dataset.labels))[:N_STRINGS]
    parts = np.split(some, 2)
    return divided(dataset, parts, [dataset.objects[part] for part in parts], n_threads)


def divided(dataset: Any, parts: Any, sides: Any, n_threads: int) -> tuple[np.ndarray, ...]:
    """Return the distances among and to the training objects, and the labels of both parts."""
    X, X_new = sides
    D = d2ke.distance_matrix(X, distance=dataset.distance, n_threads=n_threads)
    D_new = d2ke.distance_matrix(X_new, X, dataset.distance, n_threads=n_threads)
    return D, D_new, *(dataset.labels[part] for part in parts)


DATA = {
    "auslan": (auslan, rbf),
    "auslan-centred": (auslan, centred),
    "flower": (flower, rbf),
    "flower-nd": (flower, nd),
    "splice-centred": (splice, centred),
    "splice-nd": (splice, nd),
}


if __name__ == "__main__":
    main()
