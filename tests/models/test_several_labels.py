# SPDX-License-Identifier: BSD-3-Clause
"""Models of several labels an object."""

import numpy as np
import pandas as pd
import pytest
from reference import reloaded

import d2ke
import d2ke.dask
from d2ke.estimators import D2KEClassifier
from d2ke.learners.ridge import decompose
from d2ke.models import tasks
from d2ke.models.loo import OwnColumns
from d2ke.models.tasks import LabelSets

N = 120
BLOCKS = [d2ke.Block("words", "levenshtein", d2ke.samplers.training_objects, 40)]


def words(n=N, seed=0):
    """Return strings, and which of three letters each of them has."""
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, (n, 3))
    letters = [[c * 4 for c, has in zip("abc", row, strict=True) if has] for row in Y]
    X = ["".join(rng.permutation(list("xyzw" + "".join(some)))) for some in letters]
    return Y, X


@pytest.fixture(scope="module")
def model():
    Y, X = words()
    return d2ke.d2ke_train(Y, X, blocks=BLOCKS, groups="none")


def test_as_many_ridges_as_labels(model):
    Y, X = words()
    Z = model.features(d2ke.pack(X), None, np.arange(model.n_train)).astype(np.float64)
    for j in range(3):
        ridge, P = decompose(Z, 2.0 * Y[:, [j]] - 1, np.ones(model.R))
        weights, offset = ridge.weights(model.C)
        expected = (Z - ridge.mean) @ weights[0] + offset
        np.testing.assert_allclose(model.linear.decide(Z)[:, j], expected, atol=1e-4)
        own = OwnColumns.of(model.blocks)[:2]
        left_out = ridge.loo(P, 2.0 * Y[:, [j]] - 1, [model.C], exclusions=own)[:, 0, 0]
        np.testing.assert_allclose(model.calibration.decisions[:, j], left_out, atol=1e-3)


def test_predictions(model):
    Y, X = words(60, 1)
    labels, accuracy, decisions = d2ke.d2ke_predict(Y, X, model)
    assert labels.shape == decisions.shape == (60, 3)
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, decisions > 0)
    assert accuracy == 100 * (labels == Y).all(axis=1).mean() > 50
    P = d2ke.d2ke_predict(None, X, model, probability=True)[2]
    assert P.shape == (60, 3)
    assert (P >= 0).all()
    assert (P <= 1).all()
    np.testing.assert_array_equal(P > 0.5, labels == 1)
    assert -np.log(np.where(Y, P, 1 - P)).mean() < 0.5
    empty = d2ke.d2ke_predict(None, d2ke.pack(X)[:0], model)[0]
    assert empty.shape == (0, 3)


def test_left_out_scores_are_those_of_scikit_learn(model):
    metrics = pytest.importorskip("sklearn.metrics")
    Y, _ = words()
    left_out = (model.calibration.decisions > 0).astype(int)
    np.testing.assert_array_equal(model.confusion, metrics.multilabel_confusion_matrix(Y, left_out))
    micro, macro = tasks.f1(model.confusion)
    assert micro == pytest.approx(metrics.f1_score(Y, left_out, average="micro"))
    assert macro == pytest.approx(metrics.f1_score(Y, left_out, average="macro"))
    assert model.accuracy == pytest.approx(100 * metrics.accuracy_score(Y, left_out))
    text = str(model)
    assert f"F1 {micro:.3f} (micro), {macro:.3f} (macro)" in text
    assert "mean of labels: log-loss" in text
    _, counts = np.unique(Y, axis=0, return_counts=True)
    assert model.largest_class == pytest.approx(100 * counts.max() / N)


def test_more_objects_than_features_and_updates():
    Y, X = words()
    blocks = [d2ke.Block("words", "levenshtein", d2ke.samplers.training_objects, 20)]
    model = d2ke.d2ke_train(Y.astype(bool), X, blocks=blocks, keep_sums=True)
    assert model.linear.options.startswith("-s 11")
    more, new = words(40, 2)
    updated = d2ke.d2ke_update(more, new, model)
    assert updated.n_added == 40
    assert isinstance(updated.task, LabelSets)
    assert d2ke.d2ke_predict(more, new, updated)[1] > 50


def test_names_of_a_frame_and_files(model):
    Y, X = words()
    frame = pd.DataFrame(Y, columns=["has c", "has b", "has a"])
    named = d2ke.d2ke_train(frame, X, blocks=BLOCKS, sample_weight=np.arange(N) + 1.0)
    assert named.classes.tolist() == ["has c", "has b", "has a"]
    assert model.classes.tolist() == [0, 1, 2]
    for one in (model, named):
        loaded = reloaded(one)
        assert isinstance(loaded.task, LabelSets)
        assert loaded.classes.tolist() == one.classes.tolist()
        assert str(loaded) == str(one)
        for probability in (False, True):
            expected = d2ke.d2ke_predict(None, X, one, probability=probability)
            found = d2ke.d2ke_predict(None, X, loaded, probability=probability)
            np.testing.assert_array_equal(found[2], expected[2])
    assert d2ke.d2ke_predict(frame, X, named)[1] > 50
    with pytest.raises(ValueError, match=r"has columns .*'has a'.* the model's labels"):
        d2ke.d2ke_predict(frame[["has a", "has b", "has c"]], X, named)
    # Few objects of two kinds, and long names: they are not taken for swapped arguments.
    few = pd.DataFrame(np.eye(8, dtype=bool), columns=[f"{i}" * 20 for i in range(8)])
    with pytest.warns(UserWarning, match="nothing was learned"):
        few_labels = d2ke.d2ke_train(few, ["aab", "bba"] * 4, blocks=BLOCKS)
    assert isinstance(few_labels.task, LabelSets)
    assert {one.label for one in d2ke.explain.discriminative_objects(named)} == set(frame.columns)


def test_lists_of_rows_are_matrices():
    y, X = [[0, 1], [0, 0], [1, 1], [1, 0]] * 5, ["abab", "aabb", "ababab", "aaabbb"] * 5
    options = {"blocks": BLOCKS}
    one, other = (d2ke.d2ke_train(labels, X, **options) for labels in (y, np.array(y)))
    assert isinstance(one.task, LabelSets)
    np.testing.assert_array_equal(one.confusion, other.confusion)


def test_many_labels():
    rng = np.random.default_rng(1)
    X = ["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(60)]
    pairs = [a + b for a in "abcdefgh" for b in "abcdefgh"]
    Y = np.array([[pair in x for pair in pairs] for x in X])
    Y = Y[:, Y.any(axis=0)]
    block = d2ke.Block("pieces", "levenshtein", d2ke.samplers.training_objects, 16)
    with pytest.warns(UserWarning, match="nothing was learned"):
        model = d2ke.d2ke_train(Y, X, blocks=[block])
    assert len(model.classes) == Y.shape[1] > 50
    assert d2ke.d2ke_predict(None, X, model, probability=True)[2].shape == Y.shape


def test_weights_count_as_rows_and_groups_are_left_out():
    Y, X = words()
    weights = np.ones(N)
    weights[:3] = 0
    light = d2ke.d2ke_train(Y, X, blocks=BLOCKS, sample_weight=weights)
    rest = d2ke.d2ke_train(Y[3:], X[3:], blocks=BLOCKS)
    np.testing.assert_allclose(light.linear.weights, rest.linear.weights, atol=1e-4)
    grouped = d2ke.d2ke_train(Y, X, blocks=BLOCKS, groups=np.arange(N) // 4)
    assert grouped.accuracy > grouped.largest_class


Y3, _ = words()
SEVENTH = np.arange(3 * N).reshape(N, 3) == 7
FEW = pd.Series(Y3[:, 0], dtype="Int64").where(np.arange(N) != 5)
BAD = [
    (np.where(SEVENTH, 2, Y3), {}, r"y\[2\] is 2 in column 1; .* 0 or 1"),
    (np.where(SEVENTH, np.nan, Y3), {}, r"y\[2\] is nan in column 1"),
    (np.where(np.arange(3) == 1, 1, Y3), {}, "has 1 only in column 1"),
    (Y3.astype(str), {}, "a matrix of <U"),
    (Y3, {"task": "regression"}, "a regression has one target"),
    (Y3, {"class_weight": "balanced"}, "y has several labels an object"),
    (pd.DataFrame(Y3, columns=["a", "b", "a"]), {}, "two columns of one name"),
    (pd.DataFrame({"a": Y3[:, 0], "all": 1}), {}, "has 1 only in column 'all'"),
    (pd.DataFrame({"a": Y3[:, 0], "few": FEW}), {}, r"y\[5\] is <NA> in column 1"),
]


@pytest.mark.parametrize(("y", "options", "message"), BAD)
def test_bad_labels_are_refused(y, options, message):
    with pytest.raises(ValueError, match=message):
        d2ke.d2ke_train(y, words()[1], **options)


def test_columns_of_a_frame_may_be_of_two_types():
    Y, X = words()
    frame = pd.DataFrame({"a": Y[:, 0], "all": Y[:, 1].astype(bool)})
    assert d2ke.d2ke_train(frame, X, blocks=BLOCKS).classes.tolist() == ["a", "all"]


def test_functions_of_one_label_refuse(model):
    Y, X = words()
    calls = [
        lambda: d2ke.predict_set(X, model),
        lambda: d2ke.d2ke_importance(Y, X, model),
        lambda: d2ke.d2ke_explain(X[0], model),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="model has several labels an object"):
            call()
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="model has several labels an object"):
        model.plot()
    with pytest.raises(ValueError, match="use d2ke_predict"):
        d2ke.predict(None, np.zeros((2, model.R)), model.linear)
    with pytest.raises(ValueError, match="several labels: use d2ke_train"):
        D2KEClassifier().fit(X, Y)


@pytest.mark.parametrize("as_frame", [False, True])
def test_partitions_have_the_predictions_of_memory(as_frame):
    Y, X = words()
    y = pd.DataFrame(Y, columns=list("abc")) if as_frame else Y
    trained = d2ke.d2ke_train(y, X, blocks=BLOCKS)
    labels, accuracy, decisions = d2ke.d2ke_predict(y, X, trained)
    lazy = d2ke.dask.d2ke_predict(y, X, trained, chunks=50)
    assert lazy[0].shape == labels.shape
    computed = [value.compute(scheduler="sync") for value in lazy]
    np.testing.assert_array_equal(computed[0], labels)
    np.testing.assert_allclose(computed[1], accuracy, rtol=1e-12)
    np.testing.assert_allclose(computed[2], decisions, rtol=1e-9, atol=1e-9)
    P = d2ke.dask.d2ke_predict(None, X, trained, probability=True, chunks=50)[2]
    wanted = d2ke.d2ke_predict(None, X, trained, probability=True)[2]
    np.testing.assert_allclose(P.compute(scheduler="sync"), wanted, rtol=1e-9)
    with pytest.raises(ValueError, match="a matrix of 3 columns"):
        d2ke.dask.d2ke_predict(Y[:, 0], X, trained)
