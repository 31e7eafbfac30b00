# SPDX-License-Identifier: BSD-3-Clause
"""Models of every size: any R from 1 up, for each kind of objects."""

import warnings

import numpy as np
import pytest

import d2ke
from d2ke.models import recipes
from d2ke.models.distance_blocks import FittedBlock

N = 40
RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=N)
STRINGS = ["".join(RNG.choice(list("abc"), 8)) + "ab" * label for label in Y]
SERIES = [RNG.normal(size=20) + 3 * label * np.arange(20) / 20 for label in Y]
SETS = d2ke.pack([RNG.normal(size=(5, 2)) + label for label in Y], kind="sets")
DESCRIPTORS = d2ke.pack(list(RNG.random((N, 4, 20))), kind="sets", channels_first=False)
CASES = {
    "strings": (STRINGS, {}),
    "words": ([list(x) for x in STRINGS], {}),
    "osa": (STRINGS, {"distance": "osa"}),
    "function": (STRINGS, {"distance": lambda x, y: abs(len(x) - len(y))}),
    "series": (SERIES, {}),
    "short series": ([x[:2] for x in SERIES], {}),
    "channels": ([np.outer(x, [1, 2, 3]) for x in SERIES], {}),
    "dtw": (SERIES, {"distance": "dtw"}),
    "several": (SERIES, {"distance": ["dtw", "msm", "twe"]}),
    "sets": (SETS, {}),
    "descriptors": (DESCRIPTORS, {}),
    "records": ({"word": STRINGS, "walk": SERIES, "age": RNG.normal(size=N)}, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_any_R_is_a_model(name):
    X, options = CASES[name]
    for R in (1, 2, 3, 5, 9, 14, 26):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # few features learn little
            model = d2ke.d2ke_train(Y, X, R=R, n_threads=1, **options)
            features = d2ke.d2ke_transform(X, model)
        random_objects = sum(one.R for one in model.blocks if isinstance(one, FittedBlock))
        # Of records, plain columns alone may have all of the kernel.
        assert (name != "records") <= random_objects <= R
        assert features.shape == (N, model.n_unsupervised)


@pytest.mark.filterwarnings("ignore:little or nothing was learned")
def test_many_equal_strings_have_no_random_object():
    with np.errstate(divide="raise"):
        model = d2ke.d2ke_train(np.arange(4500) % 2, ["ab"] * 4499 + ["c"], R=16)
    assert model.n_train == 4500


def test_scores_stand_beside_R_random_objects(monkeypatch):
    """Of strings that are enough for scores of pieces, a given R is that of the other blocks."""
    monkeypatch.setattr(recipes, "_SCORED", (0, 0))
    X = ["".join(RNG.choice(list("abcd"), 7)) for _ in range(120)]
    y = [x.count("a") + x.count("b") > 3 for x in X]
    for R in (2, 3, 9, 24):
        model = d2ke.d2ke_train(y, X, R=R, n_threads=1)
        scores = [block for block in model.blocks if block.supervised]
        assert R + len(scores) == model.R
        assert model.n_unsupervised == R
