# SPDX-License-Identifier: BSD-3-Clause
"""What scikit-learn's checks ask for, of objects that no table of numbers holds."""

import pickle

import numpy as np
import pytest
import tqdm

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils import shuffle

import d2ke
from d2ke import estimators as est
from d2ke.samplers import training_objects

pytestmark = pytest.mark.filterwarnings("ignore:.*nothing was learned")
N = 24


def drawn(kind):
    """Draw objects of two classes, and their labels."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    lengths = rng.integers(5, 12, N)
    if kind in ("strings", "bytes"):
        letters = [("aab", "bcc")[code] for code in y]
        X = ["".join(rng.choice(list(s), n)) for s, n in zip(letters, lengths, strict=True)]
        return ([s.encode() for s in X] if kind == "bytes" else X), y
    dim = 1 if kind == "series" else 2
    X = [rng.standard_normal((n, dim)) + 3 * code for n, code in zip(lengths, y, strict=True)]
    if kind == "series":
        return [x.ravel() for x in X], y
    if kind == "weighted":
        return d2ke.pack(X, weights=[rng.random(n) + 0.1 for n in lengths]), y
    return X, y


def block(kind, R=16):
    return d2ke.Block("own", distance_of(kind) or usual(kind), training_objects, R)


def usual(kind):
    return "levenshtein" if kind in ("strings", "bytes") else "dtw"


def distance_of(kind):
    return {"sets": "mhd", "weighted": "emd"}.get(kind)


def made(name, kind):
    """Return an estimator for objects of a kind."""
    options = {"n_threads": 1}
    if name.startswith("D2KE"):
        return getattr(est, name)(blocks=[block(kind)], random_state=0, **options)
    options["distance"] = distance_of(kind)
    if name in ("RSMTransformer", "CDSK"):
        options["random_state"] = 0
    if name in ("RSMTransformer", "PseudoEuclidean"):
        options["R"] = 8
    return getattr(est, name)(**options)


KINDS = ("strings", "bytes", "series", "multivariate", "sets", "weighted")
CLASSIFIERS = (
    "D2KEClassifier", "DistanceKNeighborsClassifier", "LPDSK", "SimilarityMachineClassifier",
)  # fmt: skip
TRANSFORMERS = ("D2KETransformer", "RSMTransformer", "PseudoEuclidean")
EVERY = (*CLASSIFIERS, *TRANSFORMERS, "D2KERegressor", "CDSK")
METHODS = ("predict", "decision_function", "predict_proba", "transform")


def outputs(model, X):
    """Return what all methods of a fitted estimator give."""
    if isinstance(model, est.CDSK):
        return [model.labels_]
    return [getattr(model, name)(X) for name in METHODS if hasattr(model, name)]


def same(one, other):
    assert len(one) == len(other) > 0
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EVERY)
def test_clone_pickle_and_parts(name, kind):
    X, y = drawn(kind)
    estimator = made(name, kind)
    with pytest.raises(AttributeError if name == "CDSK" else NotFittedError):
        outputs(estimator, X)
    model = clone(estimator).fit(X, y)
    assert not hasattr(model, "n_features_in_")
    whole = outputs(model, X)
    same(whole, outputs(clone(model).fit(X, y), X))
    same(whole, outputs(pickle.loads(pickle.dumps(model)), X))
    assert repr(clone(model)) == repr(estimator)
    if name != "CDSK":
        same([part[3:7] for part in whole], outputs(model, X[3:7]))
        same([part[[5]] for part in whole], outputs(model, X[5:6]))
        back = X[::-1]
        same([part[::-1] for part in whole], outputs(model, back))
    if kind != "weighted":
        same(whole, outputs(clone(model).fit(d2ke.pack(X), y), tuple(X)))
    same(whole, outputs(clone(model).fit(list(X), y), X))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_pipelines_and_grids(name, kind):
    X, y = drawn(kind)
    transformer = made(name, kind)
    Z = transformer.fit_transform(X)
    same([Z], [transformer.transform(X)])
    names = transformer.get_feature_names_out()
    assert names.dtype == object
    assert names.shape == (Z.shape[1],)
    pipeline = make_pipeline(clone(transformer), LogisticRegression(C=100.0))
    grid = {f"{name.lower()}__R": [4, 8]}
    if name == "D2KETransformer":
        grid = {f"{name.lower()}__blocks": [[block(kind, 4)], [block(kind, 8)]]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.8
    assert search.predict(X[:3]).shape == (3,)


def test_shares_of_votes():
    X, y = ["aab", "aba", "abb", "ccb", "cbc"], ["p", "p", "q", "r", "r"]
    model = est.DistanceKNeighborsClassifier(3).fit(X, y)
    shares = model.predict_proba(["aab", "ccc"])
    assert shares.tolist() == [[2 / 3, 1 / 3, 0.0], [1 / 3, 0.0, 2 / 3]]
    assert model.classes_[shares.argmax(axis=1)].tolist() == model.predict(["aab", "ccc"]).tolist()


@pytest.mark.parametrize("name", EVERY)
def test_progress(name, monkeypatch):
    X, y = drawn("strings")
    bars = []

    class Bar(tqdm.tqdm):
        def __init__(self, *arguments, **options):
            bars.append(options["desc"])
            super().__init__(*arguments, **options, disable=True)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    for progress in (False, True):
        model = clone(made(name, "strings").set_params(progress=progress))
        model = pickle.loads(pickle.dumps(model)).fit(X, y)
        outputs(model, X)
        assert bool(bars) == progress


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_outputs_are_frames(name):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, _ = drawn("strings")
    transformer = made(name, "strings").set_output(transform="pandas")
    column = pd.DataFrame({"word": X}, index=np.arange(N) + 100)
    frame = transformer.fit_transform(column)
    assert list(frame.columns) == list(transformer.get_feature_names_out())
    assert list(frame.index) == list(column.index)
    assert isinstance(transformer.set_output(transform="polars").transform(X), pl.DataFrame)


def test_precomputed_in_cross_validation():
    X, y = drawn("strings")
    D = d2ke.distance_matrix(X, distance="levenshtein")
    for name in ("DistanceKNeighborsClassifier", "SimilarityMachineClassifier"):
        precomputed, matrix = "distance", D
        if name == "SimilarityMachineClassifier":
            precomputed, matrix = "affinity", np.exp(-0.2 * D)
        model = getattr(est, name)(**{precomputed: "precomputed"})
        own = made(name, "strings")
        if precomputed == "affinity":
            own.set_params(gamma=0.2)
        expected = cross_val_predict(own, X, y, cv=3)
        assert (cross_val_predict(model, matrix, y, cv=3) == expected).all()
        with pytest.raises(ValueError, match="square"):
            clone(model).fit(matrix[:, 1:], y)
    assert est.PseudoEuclidean(R=4, distance="precomputed").fit_transform(D).shape == (N, 4)


def test_unknown_labels():
    X, y = drawn("strings")
    few = np.where(np.arange(N) < 6, y, -1)
    model = made("LPDSK", "strings").fit(X, few)
    assert model.classes_.tolist() == [0, 1]
    assert (model.transduction_ == y).mean() > 0.8
    words = np.array(["x", "y", ""])[few]
    assert made("LPDSK", "strings").fit(X, words).classes_.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="no label"):
        made("LPDSK", "strings").fit(X, np.full(N, -1))


def test_features_in_the_place_of_objects():
    X, y = drawn("strings")
    Z = made("RSMTransformer", "strings").set_params(R=24).fit_transform(X)
    assert (
        d2ke.discriminative.clustering_accuracy(y, est.CDSK(affinity="features").fit_predict(Z))
        > 0.8
    )
    few = np.where(np.arange(N) < 6, y, -1)
    model = est.LPDSK(affinity="features").fit(Z, few)
    assert (model.predict(Z) == y).mean() > 0.8


@pytest.mark.parametrize("name", ["D2KEClassifier", "RSMTransformer", "CDSK", "D2KETransformer"])
def test_random_state(name):
    X, y = drawn("strings")

    def fitted(state):
        return outputs(made(name, "strings").set_params(random_state=state).fit(X, y), X)

    same(fitted(3), fitted(3))
    same(fitted(np.random.RandomState(3)), fitted(np.random.RandomState(3)))
    assert fitted(None)
    with pytest.raises(ValueError, match="seed"):
        fitted("three")


def test_integers_are_the_seeds_of_the_plain_functions():
    X, y = drawn("strings")
    own = [block("strings")]
    model = est.D2KEClassifier(blocks=own, random_state=5).fit(X, y)
    plain = d2ke.d2ke_train(y, X, blocks=own, seed=5)
    decisions = d2ke.d2ke_predict(None, X, plain)[2]
    np.testing.assert_allclose(model.decision_function(X), decisions[:, 0], rtol=1e-6)
    features = est.D2KETransformer(blocks=own, random_state=5).fit(X)
    np.testing.assert_allclose(features.transform(X), d2ke.d2ke_transform(X, plain), rtol=1e-5)
    assert list(features.get_feature_names_out()) == plain.feature_names()
    chosen = est.RSMTransformer(R=4, random_state=5).fit(X).representatives_
    assert chosen == d2ke.samplers.training_objects(4, d2ke.pack(X), seed=5)[0]


def test_weights_survive_a_split():
    X, y = drawn("weighted")
    for way in (X, list(X)):
        mixed, labels = shuffle(way, y, random_state=0)
        mixed = d2ke.pack(mixed)
        order = shuffle(np.arange(N), random_state=0)
        assert mixed == X[order]
        assert (labels == y[order]).all()
    # Other weights give other distances: without them, predictions would be the same.
    model = made("DistanceKNeighborsClassifier", "weighted").fit(X, y)
    assert model.objects_.weights is not None


def test_python_functions():
    model = est.DistanceKNeighborsClassifier(distance=lambda a, b: abs(a - b))
    assert model.fit([1, 2, 8, 9], list("aabb")).predict([0, 10]).tolist() == ["a", "b"]
    transformer = est.RSMTransformer(R=2, distance=lambda a, b: abs(a - b), random_state=0)
    assert transformer.fit_transform([1, 2, 8, 9]).shape == (4, 2)
    D2KE = est.D2KEClassifier(distance=lambda a, b: abs(a - b), R=8, random_state=0)
    assert D2KE.fit([1, 2, 8, 9] * 3, list("aabb") * 3).predict([0, 10]).tolist() == ["a", "b"]
