# SPDX-License-Identifier: BSD-3-Clause
"""Peaks of the resident set: `python tests/base/memory_cases.py /tmp distance_matrix-12000-1000`.

The arguments are a folder for files and the names of cases. Each case is measured in this one
process, the peak being reset before, once a small call has loaded what it needs. Prints a line of
JSON for each: the case, the function and its case in the table of d2ke._base.memory, bytes by the
formula, bytes measured.
"""

import ctypes
import gc
import json
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

import d2ke
from d2ke._base import memory
from d2ke.io.store.writer import Content
from d2ke.learners.losses import LOSSES
from d2ke.neighbors.block_search import RowNeighbors
from d2ke.neighbors.store import GraphFile
from d2ke.neighbors.strategies import BOUNDS

CASES = []
FOLDER = sys.argv[1] if __name__ == "__main__" else ""
ONE = {"n_threads": 1}
LEVENSHTEIN = {"distance": "levenshtein", **ONE}


def at(*sizes, tiny, **options):
    """Measure the decorated function, which makes a call of these sizes, at each of them."""

    def add(make):
        for given in sizes:
            variant = {**given, **options}
            name = "-".join([make.__name__, *(str(value) for value in variant.values())])
            CASES.append((name, make, variant, {**variant, **tiny}))
        return make

    return add


def variants(name, *values):
    """Measure the same for several values of an option."""
    return lambda *sizes, tiny: (
        lambda make: [at(*sizes, tiny=tiny, **{name: value})(make) for value in values]
    )


def points(n, d):
    return np.random.default_rng(0).standard_normal((n, d))


def symmetric(n):
    S = points(n, n)
    S += S.T
    return S


def distances(n):
    return cdist(points(n, 3), points(n, 3))


def kernel(n):
    return d2ke.gaussian_gram(points(n, 3), h=1.0)


def labels(n, k):
    return np.arange(n) % k


def some_labels(n):
    y = np.full(n, -1)
    y[:9] = labels(9, 3)
    return y


def words(n, length, letters="ACGT"):
    return d2ke.random_strings(n, letters, length=length, seed=0)


def series(n, length, dim=1):
    return d2ke.random_series(n, dim, length=length, sigma=1.0, seed=0)


# A case returns the call and, of functions that do not ask by themselves, what they would ask.


@at({"n": 12000, "m": 1000}, {"n": 1000, "m": 12000}, tiny={"n": 30, "m": 20})
def distance_matrix(n, m):
    X, Y = words(n, 5), words(m, 5, "ACGTX")
    return partial(d2ke.distance_matrix, X, Y, "levenshtein", **ONE)


@variants("distance", "mhd", "emd", "kernel", "twe", "ddtw", "dtw")({"n": 300_000}, tiny={"n": 30})
def of_large_objects(n, distance):
    X, Y = series(n // 10, 20, 2), series(2, 3, 2)
    if distance == "mhd":
        X, Y = series(n // 2, 20), series(2, 3)
    params = {"sigma": 1.0} if distance == "kernel" else {}
    if distance == "dtw":
        first = np.vstack([np.full((1, 2), np.nan), X[0][1:]])
        X = d2ke.concatenate([d2ke.pack([first], missing=True, channels_first=False), X[1:]])
        params = {"missing": "arow"}
    return partial(d2ke.distance_matrix, X, Y, distance, **ONE, **params)


@variants(
    "distance",
    *("levenshtein", "damerau_levenshtein", "hamming", "jaccard", "weighted_levenshtein"),
)({"n": 300_000}, tiny={"n": 30})
def of_large_strings(n, distance):
    out = np.empty((n, 2))
    given = words(n, 20), words(2, 20, "ACGTX"), distance
    return partial(d2ke.distance_matrix, *given, out=out, **ONE)


@at({"n": 12_000, "d": 1}, {"n": 12_000, "d": 40}, tiny={"n": 30})
def align_series(n, d):
    x, y = points(2 * n, d).reshape(2, n, d)
    return partial(d2ke.align, x, y, "dtw")


@variants("distance", "wdtw", "erp", "ddtw")(
    {"n": 12_000, "d": 1}, {"n": 12_000, "d": 40}, tiny={"n": 30}
)
def align_elastic(n, d, distance):
    x, y = points(2 * n, d).reshape(2, n, d)
    return partial(d2ke.align, x, y, distance)


@variants("distance", "osa", "weighted_levenshtein")(
    {"n": 50_000, "m": 1000}, {"n": 1000, "m": 50_000}, tiny={"n": 300, "m": 20}
)
def align_edits(n, m, distance):
    x, y = words(2, max(n, m))
    return partial(d2ke.align, x[:n], y[:m], distance)


@at({"n": 300_000, "m": 2000}, {"n": 50_000, "m": 50_000}, tiny={"n": 300, "m": 20})
def align_strings(n, m):
    x, y = words(2, max(n, m))
    return partial(d2ke.align, x[:n], y[:m])


@variants("distance", "emd", "mhd")({"n": 3000, "d": 3}, {"n": 2000, "d": 300}, tiny={"n": 30})
def align_sets(n, d, distance):
    n *= 1 if distance == "emd" else 4
    return partial(d2ke.align, points(n, d), points(n // 2, d), distance)


@at({"n": 12000, "m": 1000}, tiny={"n": 30, "m": 20})
def rsm_embed(n, m):
    X = words(n, 5)
    given = {"distance": "levenshtein", "gamma": 1.0, **ONE}
    return partial(d2ke.rsm_embed, X, X[:m], **given)


@at({"n": 100_000, "k": 40}, tiny={"n": 30, "k": 3})
def nearest(n, k):
    X = d2ke.pack(points(n, 1)[:, :, None])
    return partial(d2ke.nearest, X, X[:100], k=k, distance="mhd", **ONE)


@at({"n": 3000}, tiny={"n": 30})
def within(n):
    X = series(n, 5)
    call = partial(d2ke.within, X, radius=1e9, distance="mhd", **ONE)
    return call, ("within", "", {"E": n * (n - 1), "B": min(2**26, 8 * n * n), "W": 92 * n})


@at({"n": 100_000, "k": 20}, tiny={"n": 30, "k": 3})
def nearest_strings(n, k):
    X = words(n // 2, 20)
    return partial(d2ke.nearest, d2ke.concatenate([X, X]), X[:1000], k=k, **LEVENSHTEIN)


def walks(n):
    return d2ke.pack(points(n, 100).cumsum(axis=1)[:, :, None], channels_first=False)


@at({"n": 40_000, "k": 200}, tiny={"n": 400, "k": 3})
def nearest_series(n, k):
    X = walks(n)
    return partial(d2ke.nearest, X, X[:1000], k=k, distance="dtw", window=2, **ONE)


@at({"n": 1500}, tiny={"n": 400})
def within_series(n):
    call = partial(d2ke.within, walks(n), radius=70, distance="dtw", window=2, **ONE)
    entries = call().nnz
    sizes = {"n": n, "m": n, "E": entries, "B": 8 * n * n, "W": 32 * n + 1200 * n, "T": 1}
    return call, ("within", BOUNDS, sizes | {"J": 1600 * n})


@at({"n": 40_000, "k": 100}, tiny={"n": 400, "k": 3})
def nearest_sets(n, k):
    X = d2ke.pack(points(n, 1)[:, :, None])
    return partial(d2ke.nearest, X, X[:1000], k=k, distance="hausdorff", **ONE)


@at({"n": 2000}, tiny={"n": 400})
def within_sets(n):
    X = d2ke.pack(points(n, 1)[:, :, None])
    call = partial(d2ke.within, X, radius=0.3, distance="hausdorff", **ONE)
    sizes = {"n": n, "m": n, "E": call().nnz, "B": 8 * n * n, "W": 44 * n, "T": 1}
    return call, ("within", BOUNDS, sizes | {"J": 48 * n * min(32, n // 100)})


@at({"n": 300_000}, tiny={"n": 30})
def within_strings(n):
    return partial(d2ke.within, words(n, 40), radius=2, **LEVENSHTEIN)


@at({"n": 100_000}, tiny={"n": 30})
def neighbors_to_a_file(n):
    X = d2ke.pack(points(n, 1)[:, :, None])
    path = Path(FOLDER, f"near-{n}.h5")
    return partial(d2ke.nearest, X, X[:100], k=min(60, n), distance="mhd", out=path, **ONE)


@at({"n": 300_000}, tiny={"n": 400})
def strings_to_a_file(n):
    path = Path(FOLDER, f"near-strings-{n}.h5")
    return partial(d2ke.within, words(n, 40), radius=1, out=path, **LEVENSHTEIN)


@at({"n": 40_000}, tiny={"n": 400})
def sets_to_a_file(n):
    X, path = d2ke.pack(points(n, 1)[:, :, None]), Path(FOLDER, f"near-sets-{n}.h5")
    return partial(d2ke.nearest, X, X[:4000], k=400, distance="hausdorff", out=path, **ONE)


@at({"n": 1_000_000, "k": 10}, tiny={"n": 30, "k": 3})
def load_neighbors(n, k):
    path = Path(FOLDER, f"loaded-{n}.h5")
    shape, content = (n, n), Content({}, {})
    file = GraphFile(path, shape, np.dtype(np.float64), content, resume=False)
    indices = np.tile(np.arange(k, dtype=np.int32), n)
    file.put(slice(0, n), RowNeighbors(np.full(n, k), indices, np.zeros(n * k)))
    file.finish()
    return partial(d2ke.load_neighbors, path)


@at({"n": 30000, "m": 1000}, tiny={"n": 30, "m": 20})
def to_a_file(n, m):
    X = words(n, 5)
    path = Path(FOLDER, f"streamed-{n}.h5")
    given = {"distance": "levenshtein", "gamma": 1.0, "out": path, **ONE}

    def call():
        d2ke.d2ke_embed(X, X[:m], **given).close()

    return call


@at({"n": 12000, "m": 1000}, tiny={"n": 30, "m": 20})
def d2ke_features(n, m):
    return partial(d2ke.d2ke_features, np.abs(points(n, m)), 1.0, **ONE)


@at({"n": 8000, "m": 1000}, tiny={"n": 30, "m": 20})
def d2ke_features_of_columns(n, m):
    return partial(d2ke.d2ke_features, np.abs(points(m, n)).T, 1.0, **ONE)


@at({"n": 3000, "R": 50, "m": 0}, {"n": 3000, "R": 3000, "m": 0}, {"n": 3000, "R": 50, "m": 3000},
    tiny={"n": 30, "R": 20})  # fmt: skip
def d2ke_gram(n, R, m):
    X, Y = words(n, 5), words(m, 5) if m else None
    given = {"omega": words(R, 5), "distance": "levenshtein", "gamma": 1.0, **ONE}
    return partial(d2ke.d2ke_gram, X, Y, **given)


@variants("repair", None, "clip", "flip", "shift")({"n": 1500}, tiny={"n": 30})
def dsk_gram(n, repair):
    D = distances(n if repair else 2 * n)
    return partial(d2ke.dsk_gram, D, kind="nd", repair=repair)


@at({"n": 1000, "m": 6000}, tiny={"n": 30, "m": 20})
def dsk_gram_of_others(n, m):
    repair = d2ke.SpectrumRepair.fit(symmetric(n), "flip")
    return partial(d2ke.dsk_gram, np.abs(points(m, n)), gamma=1.0, repair=repair)


@at({"n": 1500}, tiny={"n": 30})
def repair_fit(n):
    return partial(d2ke.SpectrumRepair.fit, symmetric(n), "flip")


@at({"n": 1000, "m": 6000}, tiny={"n": 30, "m": 20})
def repair_apply(n, m):
    return partial(d2ke.SpectrumRepair.fit(symmetric(n), "flip").apply, points(m, n))


@at({"n": 1500, "R": 700, "t": "f8"}, {"n": 3500, "R": 10, "t": "f8"},
    {"n": 3500, "R": 10, "t": "f4"}, tiny={"n": 30, "R": 5})  # fmt: skip
def gdk_led(n, R, t):
    return partial(d2ke.gdk_led, distances(n).astype(t), R)


@at({"n": 1000, "m": 12000}, tiny={"n": 30, "m": 20})
def led_project(n, m):
    return partial(d2ke.gdk_led(distances(n), 5).project, np.abs(points(m, n)))


@at({"n": 6000, "m": 2000, "d": 20}, {"n": 50000, "m": 50, "d": 100},
    tiny={"n": 30, "m": 20})  # fmt: skip
def gaussian_gram(n, m, d):
    return partial(d2ke.gaussian_gram, points(n, d), points(m, d), h=1.0)


@at({"n": 4000}, tiny={"n": 30})
def gaussian_gram_without_h(n):
    return partial(d2ke.gaussian_gram, points(n, 3))


@at({"n": 12000}, tiny={"n": 30})
def bandwidth(n):
    return partial(d2ke.bandwidth, points(n, 20))


@at({"n": 1700}, tiny={"n": 30})
def psd_split(n):
    return partial(d2ke.psd_split, symmetric(n))


@at({"n": 40000, "t": "f8"}, {"n": 40000, "t": "f4"}, tiny={"n": 30})
def kernel_error(n, t):
    Z = np.abs(points(n, 64)).astype(t)[:2000] if n > 2000 else points(n, 64).astype(t)
    return partial(d2ke.kernel_error, Z, features=Z, n_threads=2, sizes=[8, 64])


@at({"n": 20000, "t": "f8"}, {"n": 20000, "t": "f4"}, tiny={"n": 30})
def kernel_error_centred(n, t):
    Z = np.abs(points(min(n, 2000), 64)).astype(t)
    call = partial(d2ke.kernel_error, Z, features=Z, n_threads=2, sizes=[8, 64], centred=True)
    return call, ("kernel_error", "centred", {"n": len(Z), "L": 64, "T": 2})


@at({"n": 1000}, tiny={"n": 30})
def bootstrap_kernel_error(n):
    Z = points(n, 2000 if n > 30 else 5)
    call = partial(d2ke.bootstrap_kernel_error, Z, max_objects=n, n_resamples=20, n_threads=2)
    return call, ("bootstrap_kernel_error", "", {"n": n, "R": Z.shape[1], "T": 2})


@at({"n": 5000, "m": 2000}, tiny={"n": 30, "m": 20})
def soft_min_distance(n, m):
    return partial(d2ke.soft_min_distance, points(n, 50), points(m, 50), gamma=1.0)


@at({"n": 2000, "R": 1000}, tiny={"n": 30, "R": 5})
def lipschitz_constant(n, R):
    call = partial(d2ke.lipschitz_constant, points(n, R), 1.0)
    return call, ("lipschitz_constant", "", {"k": n, "R": R})


@at({"n": 4000, "m": 2000}, tiny={"n": 30, "m": 20})
def kernel_standard_error(n, m):
    return partial(d2ke.kernel_standard_error, points(n, 50), points(m, 50))


@at({"n": 200_000}, tiny={"n": 30})
def select_features(n):
    call = partial(d2ke.select_features, points(n, 20), labels(n, 50 if n > 50 else 3), 10)
    return call, ("select_features", "", {"n": n, "k": 50})


@variants("order", "C", "F")({"n": 3500}, tiny={"n": 30})
def simplex_qp(n, order):
    H = kernel(n).astype("f4" if order == "C" else "f8", order=order)
    return partial(d2ke.simplex_qp, H, np.ones(n), max_steps=10)


@at({"n": 1600, "variant": "hard"}, {"n": 1300, "variant": "relaxed"},
    {"n": 1400, "variant": "hard", "similarity": "general"}, tiny={"n": 30})  # fmt: skip
def cdsk(n, variant, similarity="psd"):
    how = {"variant": variant, "similarity": similarity, "max_iter": 2, "trace_weight": 1.0}
    return partial(d2ke.cdsk, kernel(n), n_clusters=3, **how)


@variants("risk", "margin", "ise")({"n": 1400}, tiny={"n": 30})
def cdsk_of_points(n, risk):
    how = {"risk": risk, "max_iter": 2, "trace_weight": 1.0}
    return partial(d2ke.cdsk, points=points(n, 3), h=1.0, n_clusters=3, **how)


@variants("variant", "hard", "relaxed")({"n": 1400, "similarity": "psd"}, tiny={"n": 30})
def lpdsk(n, variant, similarity):
    how = {"variant": variant, "similarity": similarity, "max_iter": 2}
    return partial(d2ke.lpdsk, kernel(n), some_labels(n), **how)


@at({"n": 1400}, tiny={"n": 30})
def lpdsk_general(n):
    return partial(d2ke.lpdsk, kernel(n), some_labels(n), similarity="general", max_iter=2)


@variants("risk", "margin", "ise")({"n": 1400}, tiny={"n": 30})
def lpdsk_of_points(n, risk):
    how = {"risk": risk, "max_iter": 2, "h": 1.0}
    return partial(d2ke.lpdsk, points=points(n, 3), y=some_labels(n), **how)


@variants("form", "points", "distances")({"n": 1400}, tiny={"n": 30})
def lpdsk_of_neighbors(n, form):
    objects = points(n, 3) if form == "points" else np.abs(symmetric(n))
    return partial(d2ke.lpdsk, y=some_labels(n), **{form: objects})


@at({"n": 60_000, "d": 3}, {"n": 8000, "d": 20}, tiny={"n": 30})
def neighbor_similarities(n, d):
    return partial(d2ke.neighbor_similarities, points(n, d))


@at({"n": 2000}, tiny={"n": 30})
def neighbor_similarities_of_distances(n):
    return partial(d2ke.neighbor_similarities, distances=np.abs(symmetric(n)))


@at({"n": 40_000}, tiny={"n": 30})
def cdsk_of_neighbors(n):
    return partial(d2ke.cdsk, points=points(n, 3), n_clusters=3, smoothing=0, max_iter=2)


@at({"n": 40_000}, tiny={"n": 30})
def cdsk_of_a_sparse_matrix(n):
    K = d2ke.neighbor_similarities(points(n, 3))
    return partial(d2ke.cdsk, K, n_clusters=3, smoothing=0, max_iter=2)


@at({"n": 2000, "h": None}, {"n": 1400, "h": 1.0}, tiny={"n": 30})
def cdsk_of_distances(n, h):
    D = np.abs(symmetric(n))
    how = {"max_iter": 2, "trace_weight": 1.0}
    return partial(d2ke.cdsk, distances=D, h=h, n_clusters=3, smoothing=0, **how)


@at({"n": 2000}, tiny={"n": 30})
def discriminative_predict(n):
    Z = np.abs(points(n, 5))
    result = d2ke.cdsk(features=Z, n_clusters=3, smoothing=0, max_iter=1)
    return partial(d2ke.discriminative_predict, result, features=np.abs(points(n, 5)) + 1)


@at({"n": 8000, "R": 250}, tiny={"n": 30, "R": 5})
def cdsk_of_features(n, R):
    Z = np.abs(points(n, R))
    return partial(d2ke.cdsk, features=Z, n_clusters=3, smoothing=0, max_iter=2)


@at({"n": 8000, "R": 300}, tiny={"n": 30, "R": 5})
def lpdsk_of_features(n, R):
    Z = np.abs(points(n, R))
    return partial(d2ke.lpdsk, features=Z, y=some_labels(n), variant="hard", max_iter=2)


@at({"n": 3000, "similarity": "psd"}, {"n": 1500, "similarity": "general"}, tiny={"n": 30})
def kernel_classifier_fit(n, similarity):
    how = {"similarity": similarity}
    return partial(d2ke.kernel_classifier_fit, kernel(n).astype("f4"), labels(n, 3), **how)


@at({"n": 8000, "R": 300}, tiny={"n": 30, "R": 5})
def kernel_classifier_of_features(n, R):
    Z = np.abs(points(n, R))
    return partial(d2ke.kernel_classifier_fit, features=Z, y=labels(n, 3))


@at({"n": 12000, "m": 1000}, tiny={"n": 30, "m": 20})
def kernel_classifier_predict(n, m):
    model = d2ke.kernel_classifier_fit(kernel(m), labels(m, 3))
    return partial(d2ke.kernel_classifier_predict, model, points(n, m).astype("f4"))


@at({"n": 1500}, tiny={"n": 30})
def similarity_machine_fit(n):
    return partial(d2ke.similarity_machine_fit, symmetric(n), labels(n, 2), tol=0.1)


@at({"n": 1500}, tiny={"n": 30})
def similarity_machine_bound(n):
    S, y = symmetric(n), labels(n, 2)
    model = d2ke.SimilarityMachine(np.arange(2), np.full((n, 1), 1 / n), np.zeros(1))
    return partial(d2ke.similarity_machine_bound, model, S, y)


@at({"n": 12000, "m": 1000}, tiny={"n": 30, "m": 20})
def similarity_machine_predict(n, m):
    model = d2ke.similarity_machine_fit(kernel(m), labels(m, 2), tol=0.1)
    return partial(d2ke.similarity_machine_predict, model, points(n, m).astype("f4"))


@variants("function", "kernel_risk_bound", "kernel_similarity_bound", "similarity_risk_bound")(
    {"n": 1500}, tiny={"n": 30}
)
def risk_bounds(n, function):
    n *= 1 if function.startswith("similarity") or n < 100 else 2
    K = kernel(n).astype("f4")
    return partial(getattr(d2ke, function), K, labels(n, 3), np.full(n, 1 / n))


@at({"n": 3000}, tiny={"n": 30})
def density_error_bound(n):
    return partial(d2ke.density_error_bound, points(n, 3), labels(n, 2), np.full(n, 1 / n), h=1.0)


@variants("function", "clustering_accuracy", "normalized_mutual_information")(
    {"n": 3_000_000}, tiny={"n": 30}
)
def comparisons(n, function):
    call = partial(getattr(d2ke, function), labels(n, 7), labels(n, 5))
    return call, (function, "", {"n": n, "s": 8})


@at({"n": 10000, "R": 800, "t": "f8"}, {"n": 50000, "R": 160, "t": "f4"}, tiny={"n": 30, "R": 5})
def train(n, R, t):
    return partial(d2ke.train, labels(n, 3), points(n, R).astype(t), "-s 2 -e 10", **ONE)


@at({"n": 5000, "R": 800}, tiny={"n": 30, "R": 5})
def train_sparse(n, R):
    return partial(d2ke.train, labels(n, 2), sparse.csr_array(points(n, R)), "-s 2 -e 10", **ONE)


@at({"n": 60000, "R": 100, "k": 20, "t": "f8"}, {"n": 5000, "R": 2000, "k": 2, "t": "f4"},
    {"n": 10000, "R": 400, "k": 100, "t": "f8"}, tiny={"n": 30, "R": 5, "k": 3})  # fmt: skip
def train_block(n, R, k, t):
    given = labels(n, k), points(n, R).astype(t), "-s 2 -e 1"
    return partial(d2ke.train, *given, solver="block", **ONE)


@variants("solver", "liblinear", "block")({"n": 100000, "R": 100}, tiny={"n": 30, "R": 5})
def train_from_a_file(n, R, solver):
    path = Path(FOLDER, f"features-{n}.h5")
    d2ke.io.save_features(path, points(n, R))
    return partial(d2ke.train, labels(n, 10), path, "-s 2 -e 0.1", solver=solver, **ONE)


@at({"n": 3000, "R": 2000}, {"n": 2000, "R": 3000}, tiny={"n": 30, "R": 5})
def train_least_squares(n, R):
    return partial(d2ke.train_least_squares, labels(n, 3), points(n, R), **ONE)


@at({"n": 2000, "R": 4000}, tiny={"n": 5, "R": 30})
def least_squares_from_a_file(n, R):
    path = Path(FOLDER, f"wide-{n}.h5")
    d2ke.io.save_features(path, points(n, R))
    return partial(d2ke.train_least_squares, labels(n, 3), path, **ONE)


@variants("loss", "squared", "squared_hinge")({"n": 8000, "R": 1200}, tiny={"n": 30, "R": 5})
def train_classifier(n, R, loss):
    return partial(d2ke.train_classifier, labels(n, 3), points(n, R), loss=loss, C=1.0, **ONE)


@variants("probability", False, True)({"n": 100_000}, tiny={"n": 300})
def predict(n, probability):
    Z, y = points(n, 10), labels(n, 50)
    model = d2ke.train(y[:100], Z[:100], "-s 0")
    Z, y = (np.tile(array, reps) for array, reps in ((Z, (1 + (not probability), 1)), (y, 2)))
    return partial(d2ke.predict, y[: len(Z)], Z, model, probability=probability)


@at({"n": 2500, "t": "f8"}, tiny={"n": 30})
def svmtrain(n, t):
    return partial(d2ke.svmtrain, labels(n, 2), kernel(n), "-t 4 -e 0.1")


@variants("make", np.asarray, sparse.csr_array)({"n": 300, "R": 12000}, tiny={"n": 30, "R": 5})
def svmtrain_of_vectors(n, R, make):
    return partial(d2ke.svmtrain, labels(n, 2), make(points(n, R)), "-t 2 -e 1")


@at({"n": 12000, "m": 1000, "t": "f8"}, {"n": 12000, "m": 1000, "t": "f4"},
    tiny={"n": 30, "m": 20})  # fmt: skip
def svmpredict(n, m, t):
    model = d2ke.svmtrain(labels(m, 3), kernel(m))
    return partial(d2ke.svmpredict, None, points(n, m).astype(t), model)


@at({"n": 5000, "m": 1000}, tiny={"n": 30, "m": 20})
def svmpredict_of_vectors(n, m):
    model = d2ke.svmtrain(labels(m, 3), points(m, 10), "-t 2")
    return partial(d2ke.svmpredict, None, points(n, 10), model)


@at({"n": 1_500_000}, tiny={"n": 30})
def knn_predict(n):
    call = partial(d2ke.knn_predict, np.abs(points(n, 8)), labels(8, 2), 3)
    return call, ("knn_predict", "", {"n": n, "m": 8})


@at({"n": 3000, "R": 500, "T": 1}, {"n": 3000, "R": 500, "T": 2}, {"n": 800, "R": 1600, "T": 1},
    {"n": 40_000, "R": 300, "T": 1}, {"n": 40_000, "R": 300, "loss": ["squared"]},
    tiny={"n": 40, "R": 20})  # fmt: skip
def search(n, R, T=1, loss=LOSSES, folder=None):
    grid = {"R": [R], "C": [1.0], "gamma_scale": [0.5, 1.0], "loss": loss}
    sampler = partial(d2ke.random_strings, alphabet="ACGT", length=5)
    how = {"distance": "levenshtein", "sampler": sampler, "grid": grid, "n_threads": T}
    return partial(d2ke.search, words(n, 5), labels(n, 2), n_folds=4, folder=folder, **how)


@at({"n": 3000, "R": 500}, {"n": 40_000, "R": 900}, tiny={"n": 40, "R": 20})
def search_in_a_folder(n, R):
    return search(n, R, folder=Path(FOLDER, f"search-{n}"))


@at({"n": 4000}, tiny={"n": 40})
def knn_of_a_file(n):
    path = Path(FOLDER, f"within-{n}.h5")
    X = words(n, 5)
    d2ke.distance_matrix(X, distance="levenshtein", out=path).close()
    how = {"distance": "levenshtein", "grid": {"k": [1]}, "within": path, **ONE}
    return partial(d2ke.search, X, labels(n, 2), "knn", **how)


@variants("method", "knn", "dsk_rbf", "gdk_led")({"n": 1400}, tiny={"n": 40})
def search_by_distances(n, method):
    n = n * 2 if method == "knn" else n
    grid = {"knn": {"k": [1]}, "dsk_rbf": {"C": [1.0], "gamma_scale": [1.0]}, "gdk_led": {}}
    if method == "gdk_led":
        grid[method] = {"R": [n // 3], "C_scale": [1.0], "loss": ["squared"]}
    how = {"distance": "levenshtein", "grid": grid[method], "n_folds": 10, **ONE}
    return partial(d2ke.search, words(n, 5), labels(n, 2), method, **how)


@variants("method", "exact", "rff")({"n": 3000, "m": 1500}, tiny={"n": 30, "m": 20})
def kernel_distance_matrix(n, m, method):
    how = {"method": method, "sigma": 1.0, **ONE}
    how |= {"n_features": 200} if method == "rff" else {}
    X, Y = points(2 * n, 2).reshape(n, 2, 2), points(2 * m, 2).reshape(m, 2, 2)
    return partial(d2ke.kernel_distance_matrix, X, Y, **how)


@at({"n": 300, "m": 3000, "size": 65}, tiny={"n": 3, "m": 4})
def of_large_sets(n, m, size):
    X, Y = points(n * size, 1).reshape(n, size, 1), points(m, 1).reshape(m, 1, 1)
    return partial(d2ke.kernel_distance_matrix, X, Y, sigma=1.0, **ONE)


@variants("kernel", "linear", "trivial")({"n": 150, "m": 50000}, tiny={"n": 3, "m": 4})
def by_closed_forms(n, m, kernel):
    X, Y = points(n, 2).reshape(n, 1, 2), points(m, 2).reshape(m, 1, 2)
    return partial(d2ke.kernel_distance_matrix, X, Y, kernel=kernel, **ONE)


@at({"n": 3000, "m": 1500}, tiny={"n": 30, "m": 20})
def kernel_neighbors(n, m):
    X, Y = points(2 * n, 2).reshape(n, 2, 2), points(2 * m, 2).reshape(m, 2, 2)
    return partial(d2ke.kernel_neighbors, X, Y, 3, sigma=1.0, **ONE)


@at({"n": 3000, "R": 3000}, {"n": 60, "R": 200_000}, tiny={"n": 30, "R": 20})
def kernel_features(n, R):
    X = points(2 * n, 2).reshape(n, 2, 2)
    return partial(d2ke.kernel_features, X, sigma=1.0, n_features=R, **ONE)


@at({"n": 3000}, tiny={"n": 3})
def kernel_features_of_taylor(n):
    X = np.random.default_rng(0).random((n, 2, 2))
    return partial(d2ke.kernel_features, X, sigma=0.11, eps=1e-10, method="ifgt", **ONE)


@at({"n": 500, "R": 400_000, "d": 20}, tiny={"n": 3, "R": 20})
def kernel_feature_map(n, R, d):
    X = points(2 * n, d).reshape(n, 2, d)
    return partial(d2ke.kernel_feature_map, X, sigma=1.0, n_features=R)


@at({"n": 60000}, tiny={"n": 30})
def of_many_sets(n):
    X = points(n, 1).reshape(n, 1, 1)
    return partial(d2ke.kernel_features, X, sigma=1.0, n_features=2, **ONE)


@at({"n": 1_000_000, "d": 1, "method": "dualtree"}, {"n": 400_000, "d": 3, "method": "ifgt"},
    {"n": 500_000, "d": 3, "method": "rff"}, {"n": 500_000, "d": 3, "method": "fourier"},
    tiny={"n": 30})  # fmt: skip
def kernel_norm(n, d, method):
    sigma = 1e4 if method == "dualtree" else 1.0
    P = np.random.default_rng(0).random((n, d))
    call = partial(d2ke.kernel_norm, P, sigma=sigma, method=method, eps=0.3, **ONE)
    return call, ("kernel_norm", "", {"N": n * d, "V": n})


@at({"n": 300_000, "d": 3}, tiny={"n": 30})
def kernel_distance(n, d):
    P, Q = np.random.default_rng(0).random((2, n, d))
    call = partial(d2ke.kernel_distance, P, Q, sigma=1.0, eps=0.3, **ONE)
    return call, ("kernel_distance", "", {"N": 2 * n * d, "V": 2 * n})


@variants("method", "zorder", "halving", "thinning")({"n": 200_000, "d": 2}, tiny={"n": 2000})
def kernel_coreset(n, d, method):
    P = np.random.default_rng(0).random((n, d))
    call = partial(d2ke.kernel_coreset, P, 32, sigma=1.0, method=method, evaluate=False, **ONE)
    return call, ("kernel_coreset", "", {"N": n * d, "V": n})


@at({"n": 200_000, "d": 2}, tiny={"n": 2000})
def kernel_coreset_by_eps(n, d):
    P = np.random.default_rng(0).random((n, d))
    call = partial(d2ke.kernel_coreset, P, sigma=1.0, eps=0.2, **ONE)
    return call, ("kernel_coreset", "", {"N": n * d, "V": n})


@at({"n": 100, "d": 3}, tiny={"n": 10})
def kernel_align(n, d):
    P = 6 * np.random.default_rng(0).random((n, d))
    call = partial(d2ke.kernel_align, P, P + 0.1, sigma=0.025, motion="translation", **ONE)
    return call, ("kernel_align", "", {"N": 2 * n * d, "V": 2 * n})


@variants("oriented", True, False)({"n": 500_000}, tiny={"n": 30})
def curve(n, oriented):
    return partial(d2ke.curve, points(n, 3), oriented=oriented)


@at({"n": 500_000}, tiny={"n": 30})
def curve_of_samples(n):
    return partial(d2ke.curve, points(100, 3), n_samples=n, oriented=False)


@at({"n": 400_000, "gap": None}, {"n": 1, "gap": 0.001}, tiny={"n": 3, "gap": None})
def mesh(n, gap):
    faces = labels(3 * n, 30).reshape(n, 3)
    return partial(d2ke.mesh, np.random.default_rng(0).random((30, 3)), faces, gap=gap)


@variants("oriented", True, False)({"n": 200_000}, tiny={"n": 3})
def mesh_in_five_dimensions(n, oriented):
    vertices = np.random.default_rng(0).random((30, 5))
    call = partial(d2ke.mesh, vertices, labels(3 * n, 30).reshape(n, 3), oriented=oriented)
    return call, ("mesh", "", {"S": n, "d": 5, "r": 10 if oriented else 55})


@at({"n": 1_000_000}, tiny={"n": 30})
def kernel_coordinates(n):
    call = partial(d2ke.kernel_coordinates, points(n, 3), np.eye(3))
    return call, ("kernel_coordinates", "", {"N": 3 * n, "V": n})


@at({"n": 1500}, tiny={"n": 30})
def kernel_two_sample_test(n):
    call = partial(d2ke.kernel_two_sample_test, points(n, 3), points(n, 3))
    return call, ("kernel_two_sample_test", "", {"n": 2 * n, "N": 6 * n})


@at({"n": 20_000}, tiny={"n": 30})
def two_sample_test_of_groups(n):
    P, Q = np.random.default_rng(0).standard_normal((2, n, 20))
    call = partial(d2ke.kernel_two_sample_test, P, Q, sigma=1.0, n_groups=16, **ONE)
    return call, ("kernel_two_sample_test", "n_groups", {"n": 2 * n, "N": 40 * n})


@at({"n": 3000}, tiny={"n": 30})
def gram_two_sample_test(n):
    return partial(d2ke.gram_two_sample_test, kernel(n), n // 2, n_permutations=100)


@at({"n": 40_000, "t": "f8"}, {"n": 40_000, "t": "f4"}, tiny={"n": 30})
def features_two_sample_test(n, t):
    Z = points(n, 64).astype(t)
    return partial(d2ke.features_two_sample_test, Z, n // 2, n_permutations=100)


@at({"n": 800_000}, tiny={"n": 30})
def mesh_of_samples(n):
    vertices = np.random.default_rng(0).random((30, 3))
    return partial(d2ke.mesh, vertices, labels(90, 30).reshape(30, 3), n_samples=n)


@variants("dtype", "f8", "f4")({"n": 100_000}, tiny={"n": 30})
def random_series(n, dtype):
    return partial(d2ke.random_series, n, 1, length=100, sigma=1.0, seed=0, dtype=dtype)


@variants("region", "sphere", "box")({"n": 8000}, tiny={"n": 30})
def random_sets(n, region):
    return partial(d2ke.random_sets, n, 10, size=100, seed=0, region=region)


@at({"n": 100_000}, tiny={"n": 30})
def random_strings(n):
    return partial(d2ke.random_strings, n, "ACGT", length=100, seed=0)


@at({"n": 80_000}, tiny={"n": 30})
def random_segments(n):
    return partial(d2ke.random_segments, n, series(100, 1000), length=100, seed=0)


@at({"n": 80_000, "x": 100}, {"n": 10, "x": 12000}, tiny={"n": 30, "x": 30})
def markov_strings(n, x):
    return partial(d2ke.markov_strings, n, words(x, 100), length=100, seed=0)


@at({"n": 100_000}, tiny={"n": 30})
def resampled_sets(n):
    return partial(d2ke.resampled_sets, n, series(100, 1000), size=100, seed=0)


@at({"n": 60_000}, tiny={"n": 30})
def representatives(n):
    call = partial(d2ke.representatives, series(n, 100), n, seed=0)
    return call, ("representatives", "", {"n": n, "N": n * 100, "b": 8})


@at({"n": 60_000}, tiny={"n": 30})
def concatenate(n):
    call = partial(d2ke.concatenate, [series(n, 100)] * 2)
    return call, ("concatenate", "vectors", {"n": 2 * n, "N": n * 200, "b": 8})


@at({"n": 30_000}, tiny={"n": 30})
def concatenate_strings(n):
    call = partial(d2ke.concatenate, [words(n, 100), words(n, 100, "XYZ")])
    return call, ("concatenate", "strings", {"n": 2 * n, "N": n * 200})


@at({"n": 1000, "length": 12000, "t": "f8"}, {"n": 1000, "length": 8000, "t": "i8"},
    {"n": 300_000, "length": 3, "t": "f8"}, tiny={"n": 30, "length": 4})  # fmt: skip
def pack(n, length, t):
    items = list(points(n, length).astype(t))
    sizes = {"n": n, "N": n * length, "b": 8, "c": 8 if t == "i8" else 0}
    return partial(d2ke.pack, items), ("pack", "vectors", sizes)


@at({"n": 1000}, tiny={"n": 30})
def pack_strings(n):
    items = ["ACGT" * 4000 + chr(300 + i % 10) for i in range(n)]
    return partial(d2ke.pack, items), ("pack", "str, bytes", {"n": n, "N": 16001 * n})


@variants("letters", 4, 100_000)({"n": 2_000_000}, tiny={"n": 30})
def pack_arrow_strings(n, letters):
    import pyarrow as pa

    text = "".join(chr(0x10000 + i) for i in range(letters)) * (1 if letters > 12 else 3)
    parts = pa.array([text[i : i + 12] for i in range(0, len(text) - 11, 12)], pa.large_string())
    column = parts.take(pa.array(np.arange(n) % len(parts)))
    case = "Arrow strings, " + ("more letters" if letters > 256 else "at most 256 letters")
    return partial(d2ke.pack, column), ("pack", case, {"n": n, "N": 12 * n})


@at({"n": 100_000, "t": "f8"}, {"n": 100_000, "t": "i8"}, tiny={"n": 30})
def pack_arrow_vectors(n, t):
    import pyarrow as pa

    values = pa.array(points(n, 200).astype(t).ravel())
    half = pa.LargeListArray.from_arrays(pa.array(np.arange(n // 2 + 1) * 200), values)
    sizes = {"n": n // 2 * 2, "N": n // 2 * 400, "b": 8, "c": 8 if t == "i8" else 0}
    call = partial(d2ke.pack, pa.chunked_array([half, half]))
    return call, ("pack", "Arrow lists of numbers, in chunks", sizes)


@at({"n": 1000}, tiny={"n": 30})
def pack_integers(n):
    items = list(np.random.default_rng(0).integers(0, 10**12, (n, 2000)))
    call = partial(d2ke.pack, items, kind="strings")
    return call, ("pack", "sequences of integers", {"n": n, "N": 2000 * n})


@at({"n": 1000}, tiny={"n": 30})
def pack_tokens(n):
    letters = [f"token {i}" for i in range(300)]
    items = [letters[i % 100 :] * 20 for i in range(n)]
    sizes = {"n": n, "N": sum(map(len, items))}
    return partial(d2ke.pack, items), ("pack", "sequences of tokens, few of them different", sizes)


@at({"n": 20_000}, tiny={"n": 30})
def scaling_fit(n):
    return partial(d2ke.Scaling.fit, points(n, 1500).astype("f4"))


@at({"n": 20_000}, tiny={"n": 30})
def scaling_apply(n):
    Z = points(n, 500)
    return partial(d2ke.Scaling.fit(Z).apply, Z)


@at({"n": 10_000}, tiny={"n": 30})
def load_features(n):
    path = Path(FOLDER, f"stored-{n}.h5")
    d2ke.io.save_features(path, points(n, 1000))
    return partial(d2ke.io.load_features, path)


@at({"n": 10_000}, tiny={"n": 30})
def save_features(n):
    path = Path(FOLDER, "saved.h5")
    return partial(d2ke.io.save_features, path, points(n, 1000)), ("save_features", "", {"n": n})


@at({"n": 10_000}, tiny={"n": 30})
def open_features(n):
    path = Path(FOLDER, f"stored-{n}.h5")
    d2ke.io.save_features(path, points(n, 1000))

    def call():
        d2ke.io.open_features(path).close()

    return call, ("open_features", "", {})


@variants("function", "save_mat", "load_mat", "load_objects")(
    {"n": 4000, "version": "5"}, {"n": 4000, "version": "7.3"}, tiny={"n": 10}
)
def mat_files(n, version, function):
    path = Path(FOLDER, f"{n}-{version}.mat")
    values = points(n, 1000)
    given, n_bytes = {"Z": values}, values.nbytes
    if function == "load_mat":  # sparse matrices take most
        given["Z"] = sparse.csc_array(np.maximum(values, 0.0))
        n_bytes = 12 * given["Z"].nnz
    if function == "load_objects":
        given["Z"] = np.empty((n // 10, 1), object)
        for i, rows in enumerate(np.split(values, n // 10)):
            given["Z"][i, 0] = rows
    d2ke.io.save_mat(path, given, version=version)
    call = partial(d2ke.io.save_mat, path, given, version=version)
    if function != "save_mat":
        call = partial(getattr(d2ke.io, function), path, *(["Z"] * (function != "load_mat")))
    return call, (function, "", {"F": n_bytes})


@variants("function", "save_model", "load_model")({"n": 400}, tiny={"n": 4})
def model_files(n, function):
    model = d2ke.LinearModel(points(n, 20000), None, np.arange(n), 2, "-s 2")
    path = Path(FOLDER, f"model-{n}.h5")
    d2ke.save_model(path, model)
    call = partial(d2ke.save_model, path, model)
    if function == "load_model":
        call = partial(d2ke.load_model, path)
    return call, (function, "", {"F": n * 20000 * 8})


@at({"n": 4000, "R": 3000}, {"n": 1200, "R": 8000}, tiny={"n": 20, "R": 20})
def d2ke_train(n, R):
    blocks = [d2ke.Block("noise", "dtw", d2ke.samplers.noise, R // 4)] * 4
    return partial(d2ke.d2ke_train, labels(n, 3), series(n, 8), blocks=blocks, **ONE)


@variants("function", "d2ke_predict", "d2ke_transform")({"n": 12000, "R": 2000},
                                                        tiny={"n": 20, "R": 20})  # fmt: skip
def models_of_objects(n, R, function):
    block = d2ke.Block("noise", "dtw", d2ke.samplers.noise, R)
    model = d2ke.d2ke_train(labels(40, 3), series(40, 8), blocks=[block])
    first = (None, series(n, 8)) if function == "d2ke_predict" else (series(n, 8),)
    return partial(getattr(d2ke, function), *first, model, **ONE)


@variants("out", "array", "path")({"n": 12000, "R": 2000}, tiny={"n": 20, "R": 20})
def features_of_models(n, R, out):
    block = d2ke.Block("noise", "dtw", d2ke.samplers.noise, R)
    model = d2ke.d2ke_train(labels(40, 3), series(40, 8), blocks=[block])
    X = series(n, 8)
    if out == "array":
        where = np.ones((n, R), np.float32)
        return partial(d2ke.d2ke_transform, X, model, out=where, **ONE)
    file = Path(FOLDER, f"transformed-{n}.h5")
    return lambda: d2ke.d2ke_transform(X, model, out=file, **ONE).close()


@at({"n": 100}, tiny={"n": 20})
def d2ke_explain(n):
    block = d2ke.Block("noise", "dtw", d2ke.samplers.noise, n)
    model = d2ke.d2ke_train(labels(40, 3), series(40, 8), blocks=[block])
    call = partial(d2ke.d2ke_explain, series(1, 8), model)
    return call, ("d2ke_explain", "", {"R": n, "W": 100})


@variants("function", "save_model", "load_model")({"n": 20}, tiny={"n": 2})
def files_of_objects(n, function):
    block = d2ke.Block(
        "noise", "dtw", partial(d2ke.samplers.noise, lengths=[(n * 1e3, n * 1e3)]), 64
    )
    model = d2ke.d2ke_train(labels(8, 2), d2ke.random_series(8, 1, length=n * 1000, sigma=1.0,
                                                             seed=0), blocks=[block])  # fmt: skip
    path = Path(FOLDER, f"objects-{n}.h5")
    d2ke.save_model(path, model)
    call = partial(d2ke.save_model, path, model)
    if function == "load_model":
        call = partial(d2ke.load_model, path)
    return call, (function, "a D2KEModel", {"F": path.stat().st_size})


@at({"n": 100_000}, tiny={"n": 4})
def read_objects(n):
    path = Path(FOLDER, f"objects-{n}.tsv")
    path.write_text(
        "label\tstring\n" + "".join(f"{i % 3}\t{x}\n" for i, x in enumerate(words(n, 30)))
    )
    call = partial(d2ke.io.read_objects, path)
    return call, ("read_objects", "other files", {"F": path.stat().st_size})


@variants("function", "read_ts", "read_objects")({"n": 300_000}, tiny={"n": 4})
def read_ts(n, function):
    path = Path(FOLDER, f"series-{n}.ts")
    path.write_text("@classLabel false\n@data\n" + "1,2,3,4\n" * n)
    case = ".ts" if function == "read_objects" else ""
    return partial(getattr(d2ke.io, function), path), (function, case, {"F": path.stat().st_size})


@variants("function", "read_arff", "read_objects")({"n": 300_000}, tiny={"n": 4})
def read_arff(n, function):
    path = Path(FOLDER, f"series-{n}.arff")
    head = "".join(f"@attribute t{i} real\n" for i in range(4))
    path.write_text(f"@relation r\n{head}@data\n" + "1,2,3,4\n" * n)
    case = ".arff" if function == "read_objects" else ""
    return partial(getattr(d2ke.io, function), path), (function, case, {"F": path.stat().st_size})


@at({"n": 100_000}, tiny={"n": 4})
def read_fasta(n):
    path = Path(FOLDER, f"strings-{n}.fasta")
    path.write_text("".join(f">{i}|{i % 3}\n{x}\n" for i, x in enumerate(words(n, 30))))
    return partial(d2ke.io.read_fasta, path), ("read_fasta", "", {"F": path.stat().st_size})


@at({"n": 100_000}, tiny={"n": 4})
def load_search(n):
    tried = [({"gamma": 0.1 + i, "R": 512, "C": 10.0, "loss": "squared"}, 50.0) for i in range(n)]
    path = Path(FOLDER, f"search-{n}.json")
    d2ke.Search.best_of(tried).save(path)
    call = partial(d2ke.load_search, path)
    return call, ("load_search", "", {"F": path.stat().st_size})


def status(name):
    """Return a number of bytes from /proc."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def measured(make, sizes):
    """Return what a call asks for, and by how much the resident set grows at most during it."""
    asked = []
    plain = memory.bytes_needed

    def remember(function, case="", **given):
        asked.append((function, case, plain(function, case, **given)))
        return asked[-1][-1]

    call = make(**sizes)
    if isinstance(call, tuple):
        call, (function, case, given) = call
        remember(function, case, **given)
    memory.bytes_needed = remember
    gc.collect()
    # Pages that were freed but kept would be reused unseen.
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # forgets the earlier peak
    before = status("VmRSS")
    result = call()
    peak = status("VmHWM") - before
    memory.bytes_needed = plain
    del result
    # Functions that call others come first, but those may ask for more than they need here.
    return *max(asked, key=lambda one: one[-1]), peak


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name, make, sizes, tiny in CASES:
        if name in sys.argv[2:]:
            measured(make, tiny)
            print(json.dumps([name, *measured(make, sizes)]), flush=True)
