# SPDX-License-Identifier: BSD-3-Clause
"""Windows in the explanation of a prediction: where they are, and the picture."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import d2ke
from d2ke.explain.shapelets import find_shapelets
from d2ke.models.distance_blocks import FittedBlock
from d2ke.models.shapelets import KINDS, shapelets


def waves(n, rng, dim=1, length=60):
    """Return noise, with a wave in the last channel of every second series, and its places."""
    X = 0.1 * rng.normal(size=(n, length, dim))
    places = rng.integers(length - 12, size=n)
    for x, place in zip(X[::2], places[::2], strict=True):
        x[place : place + 12, -1] += np.sin(np.arange(12) / 2)
    return d2ke.pack(X, channels_first=False), places


def trained(X, views=(), normalize=True, kinds=KINDS, R=240):
    sampler = partial(shapelets, normalize=normalize, kinds=kinds)
    blocks = [d2ke.Block("pieces", "dtw", sampler, R, views)]
    return d2ke.d2ke_train(["wave", "noise"] * (len(X) // 2), X, blocks=blocks, seed=0)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("slope", [True, False])
def test_a_window_is_as_near_as_its_place(normalize, slope):
    X, _ = waves(24, np.random.default_rng(0), 2)
    views = (d2ke.views.standardize,) + (d2ke.views.difference, d2ke.views.standardize) * slope
    model = trained(X, views, normalize)
    (block,) = model.blocks
    x = waves(1, np.random.default_rng(1), 2)[0]
    why = d2ke.d2ke_explain(x, model, limit=model.R)
    seen = d2ke.models.views.apply_views(block.views, x)[0].astype(float)
    base = np.diff(x[0], axis=0) if slope else x[0]
    near = 0
    for one in why.omegas:
        window, place = one["object"], one["place"]
        assert len(place) == len(window.values)
        assert place.step == window.dilation
        assert one["slope"] == slope
        assert one["values"].shape == window.values.shape
        piece = seen[place][:, window.channels]
        # What it asks for, in the units of x, is as far from x as it is from what the views show.
        asked = base[place][:, window.channels] - one["values"]
        scale = seen.std(axis=0) / base.std(axis=0)
        if normalize:
            scale = 1 / base[place].std(axis=0)
            piece = (piece - piece.mean(axis=0)) / piece.std(axis=0)
        D = ((piece - window.values) ** 2).mean(axis=0).sum()
        np.testing.assert_allclose(
            ((asked * scale[list(window.channels)]) ** 2).mean(axis=0).sum(), D, rtol=1e-3
        )
        if window.kind in ("rare", "longest"):
            power = 1 if window.kind == "rare" else 2
            assert one["frequency"] == pytest.approx((1 - one["distance"]) ** power)
            assert window.threshold >= D or one["frequency"] == 0
        else:
            assert one["frequency"] is None
            assert np.sqrt(D) == pytest.approx(one["distance"], rel=1e-3)
        near += one["nearer"]
    assert 0 < near < len(why.omegas)
    assert "from step " in str(why)
    assert ", at " in str(why)
    assert ", in a run of" in str(why)
    assert "% of the places" in str(why)


def test_steps_add_up():
    X, _ = waves(24, np.random.default_rng(0))
    for views in [(), (d2ke.views.standardize, d2ke.views.difference)]:
        why = d2ke.d2ke_explain(waves(1, np.random.default_rng(3))[0], trained(X, views), limit=240)
        present = [one for one in why.omegas if one["nearer"] and one["frequency"] != 0]
        assert why.steps.shape == (60, 1)
        assert why.steps.sum() == pytest.approx(sum(one["share"] for one in present))


@pytest.mark.parametrize("kind", ["rare", "longest"])
def test_steps_are_those_within_thresholds(kind):
    """One window of one value: all places at which it is, or those of the longest run."""
    x = np.zeros(30)
    x[[3, 4, 5, 9, 10, 11, 12, 20, 21, 22, 23]] = 1
    X = d2ke.pack([np.ones(1), np.ones(1), x])
    omega, _ = shapelets(1, X, normalize=False, kinds=(kind,), seed=0)
    omega = replace(omega, values=np.ones(len(omega.values), np.float32))
    omega.thresholds[:] = 0.1
    block = FittedBlock("window", omega, np.ones(1), name="pieces")
    (place,), steps = find_shapelets(block, X[2:], np.ones(1))
    expected = x if kind == "rare" else np.where(np.isin(np.arange(30), [9, 10, 11, 12]), 1, 0)
    np.testing.assert_allclose(steps[:, 0], expected / expected.sum())
    assert x[place].all()


def test_the_recipe_shows_the_wave_and_its_channel():
    X, _ = waves(40, np.random.default_rng(0), 2)
    recipe = d2ke.models.recipe(X, R=1600)
    blocks = [block for block in recipe if block.family != "whole course"]
    model = d2ke.d2ke_train(["wave", "noise"] * 20, X, blocks=blocks)
    new, places = waves(1, np.random.default_rng(5), 2)
    why = d2ke.d2ke_explain(new, model, limit=3)
    assert why.label == "wave"
    by_step, place = why.steps[:, 1], places[0]
    others = np.delete(by_step, np.r_[max(0, place - 8) : place + 20])
    assert by_step[place : place + 12].mean() > 2 * abs(others.mean())
    for one, other in [(0, 1), (0, 2), (1, 2)]:
        a, b = (set(range(w["place"][0], w["place"][-1] + 1)) for w in
                (why.windows[one], why.windows[other]))  # fmt: skip
        channels = [set(why.windows[i]["object"].channels) for i in (one, other)]
        assert len(a & b) < 0.5 * len(a | b) or not channels[0] & channels[1]
    assert all(one["nearer"] and one["share"] > 0 for one in why.windows)


def test_short_series_are_one_place():
    X, _ = waves(24, np.random.default_rng(0))
    model = trained(X)
    why = d2ke.d2ke_explain([0.0, 1.0, 0.5], model, limit=240)
    long = [one for one in why.omegas if len(one["object"].values) > 3]
    assert {one["place"] for one in long} == {range(3)}
    assert why.steps.shape == (3, 1)


def test_a_training_object_does_not_explain_itself():
    X, _ = waves(24, np.random.default_rng(0))
    model = trained(X, kinds=("nearest", "nearby"))
    naive = d2ke.d2ke_explain(X[0], model, limit=240)
    why = d2ke.d2ke_explain(X[0], model, limit=240, training_object=0)
    own = [one for one in why.omegas if one["training_object"] == 0]
    assert own
    assert all(one["distance"] > 1e-3 and one["place"] is None for one in own)
    assert not [one for one in why.windows if one["training_object"] == 0]
    assert [one for one in naive.windows if one["training_object"] == 0]
    Z = model.features(X, 1, np.arange(model.n_train))
    decision = (Z @ model.linear.weights[0] + model.linear.bias[0])[0]
    assert abs(why.decision) == pytest.approx(abs(decision), rel=1e-5)


def test_views_that_move_steps_have_no_places():
    X, _ = waves(24, np.random.default_rng(0))
    model = trained(X, (partial(d2ke.views.part, start=0.2),))
    why = d2ke.d2ke_explain(X[0], model)
    assert why.steps is None
    assert not why.windows
    assert all(one["place"] is None and one["values"] is None for one in why.omegas)


class TestPicture:
    @pytest.fixture(autouse=True)
    def pyplot(self):
        pytest.importorskip("matplotlib").use("agg")
        from matplotlib import pyplot

        yield pyplot
        pyplot.close("all")

    @pytest.mark.parametrize("slope", [True, False])
    def test_of_windows(self, slope, pyplot):
        X, _ = waves(24, np.random.default_rng(0), 2)
        views = (d2ke.views.standardize,) + (d2ke.views.difference,) * slope
        why = d2ke.d2ke_explain(X[0], trained(X, views))
        _, ax = pyplot.subplots()
        assert why.plot(limit=2, ax=ax) is ax
        assert len(ax.lines) <= 2
        assert ax.get_title().startswith("wave: decision")
        assert ax.get_ylabel() == "channel 1"
        one = next(w for w in why.windows if 1 in w["object"].channels)
        if not slope:
            line = ax.lines[0].get_xydata()
            np.testing.assert_allclose(line[:, 0], list(one["place"]))
            column = one["object"].channels.index(1)
            np.testing.assert_allclose(line[:, 1], one["values"][:, column])
        ax.figure.canvas.draw()
        assert why.plot(channel=0).get_ylabel() == "channel 0"
        with pytest.raises(ValueError, match="channel must be"):
            why.plot(channel=2)

    def test_of_a_regression(self):
        X, _ = waves(24, np.random.default_rng(0))
        sampler = partial(shapelets, kinds=KINDS)
        blocks = [d2ke.Block("pieces", "dtw", sampler, 60)]
        y = X.values.reshape(24, 60).max(axis=1)
        model = d2ke.d2ke_train(y, X, blocks=blocks, task="regression")
        assert d2ke.d2ke_explain(X[0], model).plot().get_title().startswith("predicted")

    @pytest.mark.parametrize("distance", ["dtw", lambda x, y: float(np.abs(x - y).sum())])
    def test_without_windows(self, distance):
        X, _ = waves(24, np.random.default_rng(0))
        blocks = [d2ke.Block("whole", distance, d2ke.samplers.training_objects, 12)]
        model = d2ke.d2ke_train(["wave", "noise"] * 12, X, blocks=blocks)
        why = d2ke.d2ke_explain(X[0], model)
        axes = why.plot(limit=2)
        *near, line = axes.lines
        assert [len(one.get_xdata()) for one in (*near, line)] == [60] * 3
        np.testing.assert_array_equal(line.get_ydata(), X[0][:, 0])
        assert axes.get_title().startswith(why.title)
        assert axes.get_ylabel() == "value"
        with pytest.raises(ValueError, match="channel must be below 1, got 1"):
            why.plot(channel=1)

    def test_of_other_objects(self):
        X = [[0.0, 1.0], [1.0, 0.0, 2.0]] * 9
        model = d2ke.d2ke_train(["x", "y"] * 9, X, distance=lambda x, y: abs(len(x) - len(y)), R=32)
        with pytest.raises(ValueError, match=r"x has no series.*print\(explanation\)"):
            d2ke.d2ke_explain(X[0], model).plot()
