# SPDX-License-Identifier: BSD-3-Clause
"""The print of every result fits on a screen, however many objects it is about."""

from functools import cache

import numpy as np
import pytest

import d2ke

RNG = np.random.default_rng(0)
N = 900  # numpy prints whole arrays of up to 1,000 entries
WORDS = ["".join(RNG.choice(list("abcd"), 6)) for _ in range(N)]
LABELS = ["a" if "aa" in word or "bb" in word else "b" for word in WORDS]
SERIES = [RNG.normal(size=(5, 1)) for _ in range(N)]
POINTS = RNG.normal(size=(N, 3))
Z = RNG.random((N, N))
SIGNS = np.where(np.arange(N) % 2, 1, -1)


@cache
def distances():
    return d2ke.distance_matrix(WORDS, distance="levenshtein").astype(np.float64)


@cache
def model():
    return d2ke.d2ke_train([f"class {i % 300}" for i in range(N)], WORDS, R=64)


def columns():
    return {f"column {i}": WORDS for i in range(60)}


RESULTS = {
    "objects": lambda: d2ke.pack(WORDS, ids=[f"name {i}" for i in range(N)]),
    "records": lambda: d2ke.pack_records(columns()),
    "data set": lambda: d2ke.datasets.load("splice"),
    "model": model,
    "calibration": lambda: model().calibration,
    "explanation": lambda: d2ke.d2ke_explain(WORDS[0], model(), limit=500),
    "discriminative object": lambda: d2ke.explain.discriminative_objects(model())[0],
    "alignment": lambda: d2ke.align("ab" * 500, "ba" * 450),
    "alignment of series": lambda: d2ke.align(Z[0], Z[1]),
    "operations": lambda: d2ke.align("ab" * 500, "ba" * 450).operations,
    "shared words": lambda: d2ke.align("ab" * 500, "ba" * 450, "gapped").words,
    "tree": lambda: d2ke.spanning_tree(SERIES, distance="dtw"),
    "hdbscan": lambda: d2ke.hdbscan(WORDS, min_cluster_size=2, distance="levenshtein"),
    "dbscan": lambda: d2ke.dbscan(WORDS, 1, distance="levenshtein"),
    "medoids": lambda: d2ke.kmedoids(WORDS, 300, distance="levenshtein"),
    "barycenter": lambda: d2ke.barycenter(SERIES, distance="dtw", max_iter=1),
    "duplicates": lambda: d2ke.dedupe({"w": WORDS}, radius=1, distance="levenshtein"),
    "new rows": lambda: d2ke.dedupe({"w": WORDS}, radius=1).assign({"w": WORDS}),
    "links": lambda: d2ke.link({"w": WORDS}, {"w": WORDS}, radius=1, distance="levenshtein"),
    "clustering": lambda: d2ke.cdsk(distances=distances(), n_clusters=3, max_iter=1),
    "propagation": lambda: d2ke.lpdsk(distances=distances(), y=np.where(SIGNS > 0, 1, -1)),
    "similarity machine": lambda: d2ke.similarity_machine_fit(np.exp(-distances()), SIGNS),
    "two samples": lambda: d2ke.measures.gram_two_sample_test(np.exp(-distances()), N // 2),
    "coreset": lambda: d2ke.kernel_coreset(POINTS, N // 2, sigma=1.0),
    "kernel alignment": lambda: d2ke.kernel_align(POINTS[:20], POINTS[20:40], sigma=1.0),
    "repair": lambda: d2ke.psd_split(distances()),
    "scaling": lambda: d2ke.embedding.Scaling.fit(Z),
    "selection": lambda: d2ke.embedding.select_features(Z, LABELS, 500),
    "linear model": lambda: d2ke.train_classifier(LABELS, Z, loss="squared", C=1.0),
    "search": lambda: d2ke.search(LABELS, WORDS, "knn", distance="levenshtein"),
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.filterwarnings("ignore")
def test_print_fits_on_a_screen(name):
    found = RESULTS[name]()
    for text in (str(found), repr(found)):
        assert text.count("\n") < 28
        assert len(text) < 3000
