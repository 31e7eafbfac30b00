# SPDX-License-Identifier: BSD-3-Clause
"""Unknown keywords: what was meant is named; `test_every_argument` asks all functions."""

import inspect
import pickle

import pytest

import d2ke
from d2ke._base.keywords import hinted, meant

WORDS = ["ACGT", "AGT", "TTTT", "CA"]


@pytest.mark.parametrize(
    ("name", "known", "ours"),
    [
        ("random_state", ["X", "seed"], "seed"),
        ("metric", ["distance", "metrics"], "distance"),
        ("n_treads", ["n_threads", "seed"], "n_threads"),
        ("numneighbors", ["NumNeighbors"], "NumNeighbors"),
        ("colour", ["X", "seed"], None),
    ],
)
def test_what_a_name_stands_for(name, known, ours):
    assert meant(name, known) == ours


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: d2ke.nearest(WORDS, n_neighbors=1), r"nearest: .*'n_neighbors' .*mean k=\?\)"),
        (lambda: d2ke.pack(WORDS, colour=1), "^pack: unknown keyword 'colour'$"),
        (lambda: d2ke.nearest(WORDS, k=1, colour=1), "'levenshtein' has no parameter 'colour'"),
        (lambda: d2ke.distance_matrix(WORDS, mod="infix"), r"mean mode=\?"),
        (lambda: d2ke.nearest(WORDS, k=1, metric="osa"), r"^metric .*'osa' \(.*distance=\?\)"),
        (lambda: d2ke.d2ke_train([0, 1], WORDS[:2], n_jobs=2), r"d2ke_train: .*n_threads=\?"),
        (lambda: d2ke.nearest(), "missing"),
    ],
)
def test_errors(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_estimators():
    estimators = pytest.importorskip("d2ke.estimators")
    with pytest.raises(TypeError, match=r"^D2KEClassifier: unknown .*'seed' .*random_state=\?"):
        estimators.D2KEClassifier(seed=1)


def test_parameters_of_a_function_of_the_users_own():
    def distance(x, y, n_jobs):
        return abs(len(x) - len(y)) * n_jobs

    assert d2ke.distance_matrix(WORDS, distance=distance, n_jobs=2)[0, 1] == 2


def test_errors_within_keep_their_trace():
    @hinted
    def fails(x):
        raise TypeError("x is wrong")

    with pytest.raises(TypeError, match=r"^x is wrong$"):
        fails(x=1)


def test_functions_stay_what_they_are():
    assert pickle.loads(pickle.dumps(d2ke.nearest)) is d2ke.nearest
    assert list(inspect.signature(d2ke.nearest).parameters)[:3] == ["X", "Y", "k"]
