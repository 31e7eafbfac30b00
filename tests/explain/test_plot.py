# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of models: `D2KEModel.plot`."""

import sys

import numpy as np
import pytest

import d2ke

Y, X = ["up", "down"] * 9, ["aab", "bba"] * 9


@pytest.fixture(autouse=True)
def pyplot():
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_confusion():
    model = d2ke.d2ke_train(Y, X, R=32)
    axes, reliability, roc = model.plot()
    assert [label.get_text() for label in axes.get_xticklabels()] == ["down", "up"]
    assert [text.get_text() for text in axes.texts] == ["9", "9"]
    assert reliability.get_title().startswith("calibration error")
    assert roc.get_title() == "area under the curve 1.000"
    assert roc.lines[1].get_xydata().tolist() == [[0, 0], [0, 1], [1, 1]]
    axes.figure.canvas.draw()


def test_three_classes_have_no_roc_curve():
    model = d2ke.d2ke_train(["a", "b", "c"] * 6, ["aab", "bba", "ccc"] * 6, R=32)
    _, reliability = model.plot()
    dots = reliability.containers[0][0].get_xydata()
    confidence, share, _ = model.calibration.reliability()
    assert (dots == np.stack([confidence, share], axis=1)).all()


def test_bars_are_two_standard_errors_long():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ab" if i % 2 else "cd"), 5)) for i in range(90)]
    y = [str((i % 2 == 1) ^ (rng.random() < 0.15)) for i in range(90)]
    model = d2ke.d2ke_train(y, X, R=32)
    _, share, counts = model.calibration.reliability()
    (bars,) = model.plot()[1].containers[0][2]
    low, high = np.array(bars.get_segments())[:, :, 1].T
    errors = 2 * np.sqrt(share * (1 - share) / counts)
    np.testing.assert_allclose(low, np.maximum(share - errors, 0), atol=1e-12)
    np.testing.assert_allclose(high, np.minimum(share + errors, 1), atol=1e-12)
    assert ((share > 0) & (share < 1)).any()


def test_training_objects():
    model = d2ke.d2ke_train(Y, X, R=32)
    objects, confusion, _, _, curve = model.plot(X, Y)
    assert objects.figure is confusion.figure is curve.figure
    assert len(objects.collections[0].get_offsets()) == 18
    assert curve.lines[0].get_xydata()[-1].tolist() == [model.R, model.accuracy]
    objects.figure.canvas.draw()


def test_regression():
    values = np.arange(18) + 0.5
    model = d2ke.d2ke_train(values, [[float(value)] * 4 for value in values], R=1000)
    objects, values_drawn, curve = model.plot([[float(value)] * 4 for value in values], values)
    assert objects.get_legend() is not None
    assert curve.get_ylabel() == "cross-validated R^2"
    assert len(values_drawn.collections[0].get_offsets()) == 18
    (alone,) = model.plot()
    assert alone.get_ylabel() == "predicted value"


@pytest.mark.parametrize(
    ("objects", "labels", "problem"),
    [
        (None, Y, "X is needed with y"),
        (X[:2], Y[:2], "X must be the 18 training objects"),
        (X, Y[:2], "y has 2 labels, but X has 18 rows"),
        (X, ["x"] * 18, "is 'x', which is not one of the model's 2 classes"),
        (X, None, "y must be a sequence of labels"),
        ([[1.0]], Y, "X holds series"),
    ],
)
def test_other_objects(objects, labels, problem):
    with pytest.raises((ValueError, TypeError), match=problem):
        d2ke.d2ke_train(Y, X, R=32).plot(objects, labels)


def test_without_matplotlib(monkeypatch):
    model = d2ke.d2ke_train(Y, X, R=32)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install .d2ke\[demo\]"):
        model.plot()
