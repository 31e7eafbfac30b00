# SPDX-License-Identifier: BSD-3-Clause
"""What letters, vectors and columns add to a decision, and their pictures."""

import pickle

import numpy as np
import pytest

import d2ke

RNG = np.random.default_rng(0)
Y = ["a", "b"] * 15


def words(alphabet, ends):
    """Return strings that end in a letter of their class."""
    return ["".join(RNG.choice(list(alphabet), 6)) + ends[i % 2] for i in range(30)]


def sets():
    """Return sets with a group of vectors that is elsewhere in each class, at its beginning."""
    result = []
    for i in range(30):
        group = 0.1 * RNG.normal(size=(3, 2)) + [4 * (i % 2), 3]
        result.append(np.concatenate([group, RNG.normal(size=(6, 2))]))
    return d2ke.pack(result, kind="sets")


def explained(X, i=0, R=64, **options):
    model = d2ke.d2ke_train(Y, X, R=R, seed=0, **options)
    return d2ke.d2ke_explain(X[i], model), model


@pytest.mark.parametrize("form", ["str", "bytes", "tokens", "integers"])
def test_the_letter_of_the_class_adds_most(form):
    X = words("uvw", "xy")
    if form == "bytes":
        X = [word.encode() for word in X]
    elif form == "tokens":
        X = [[f"_{letter}" for letter in word] for word in X]
    elif form == "integers":
        X = d2ke.pack([[ord(letter) for letter in word] for word in X], kind="strings")
    why, _ = explained(X)
    assert why.label == "a"
    assert why.parts.shape == (7,)
    assert why.parts.argmax() == 6
    assert why.columns == {}


def test_a_share_is_what_the_decision_loses():
    X = words("uvw", "xy")
    why, model = explained(X, 1)
    k = 1 if why.label == "b" else -1
    with pytest.warns(UserWarning, match="letters"):
        without = d2ke.d2ke_predict(None, [X[1][:-1] + "?"], model)[2][0, 0]
    np.testing.assert_allclose(why.parts[-1], why.decision - k * without, atol=1e-6)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(why)).parts, why.parts)


def test_long_strings_are_changed_in_runs():
    X = ["".join(RNG.choice(list("uv"), 600)) + "xy"[i % 2] * 30 for i in range(30)]
    why, _ = explained(X)
    assert why.parts.shape == (630,)
    assert len(np.unique(why.parts)) <= 315
    assert why.parts[600:].sum() > why.parts[:600].sum()


def test_bytes_that_use_all_letters():
    X = [bytes(range(256)) + b"xy"[i % 2 : i % 2 + 1] * 20 for i in range(30)]
    why, _ = explained(X, distance="bag")
    assert np.isfinite(why.parts).all()


@pytest.mark.filterwarnings("ignore:every")
def test_vectors_of_sets():
    why, model = explained(sets(), R=128)
    assert why.parts.shape == (9,)
    assert why.parts[:3].min() > why.parts[3:].max()
    one = d2ke.d2ke_explain(d2ke.pack([[[0.0, 3.0]]], kind="sets"), model)
    np.testing.assert_allclose(one.parts, [one.decision - one.offset], atol=1e-6)


def test_other_kinds_have_none():
    X = [np.sin(np.arange(30) / (2 + i % 2)) + 0.1 * RNG.normal(size=30) for i in range(30)]
    assert explained(X)[0].parts is None


def records():
    return d2ke.pack_records(
        {
            "a word": words("uvw", "xy"),
            "age": RNG.normal(size=30) + np.arange(30) % 2,
            "noise": RNG.normal(size=30),
        }
    )


def test_times_in_a_picture():
    pytest.importorskip("matplotlib").use("agg")
    days = np.datetime64("2020-01-01") + np.arange(30)
    X = d2ke.pack_records({"word": words("uvw", "xy"), "day": days, "hour": days.astype("M8[s]")})
    why, _ = explained(X, slice(3, 4))
    texts = {text.get_text() for text in why.plot().get_yticklabels()}
    assert {"day: 2020-01-04", "hour: 2020-01-04 00:00:00"} < texts


def test_columns_sum_to_the_decision():
    why, _ = explained(records(), 3)
    assert list(why.columns) == ["a word", "age", "noise"]
    assert abs(why.offset + sum(why.columns.values()) - why.decision) < 1e-9


class TestPictures:
    @pytest.fixture(autouse=True)
    def pyplot(self):
        pyplot = pytest.importorskip("matplotlib.pyplot")
        pyplot.switch_backend("agg")
        yield pyplot
        pyplot.close("all")

    def test_letters(self):
        X = words("uv$", "xy")
        why, _ = explained(X)
        axes = why.plot()
        assert [text.get_text() for text in axes.texts] == list(X[0])
        assert axes.get_title() == f"a: decision {why.decision:+.2f}"
        last = axes.patches[-1].get_facecolor()
        assert last[0] > 0.6 > last[2]  # red

    def test_tokens_are_wrapped(self):
        X = [["word"] * 40 + ["xy"[i % 2], "a\nb", ""] for i in range(30)]
        why, _ = explained(X)
        axes = why.plot()
        assert axes.texts[-2].get_text() == "a·b"
        assert len({patch.get_y() for patch in axes.patches}) == 4
        axes.figure.canvas.draw()

    @pytest.mark.parametrize("dim", [1, 2, 3])
    def test_points(self, dim):
        X = d2ke.pack([RNG.normal(size=(5, dim)) + 2 * (i % 2) for i in range(30)], kind="sets")
        why, _ = explained(X)
        axes = why.plot()
        assert axes.collections[0].get_offsets().shape == (5, 2)

    def test_weighted_sets(self):
        X = d2ke.pack(sets(), weights=[np.arange(1.0, 10)] * 30)
        why, _ = explained(X, distance="emd")
        sizes = why.plot().collections[0].get_sizes()
        assert sizes.max() == 9 * sizes.min()

    def test_columns(self, pyplot):
        why, _ = explained(records(), 3)
        axes = pyplot.figure().subplots()
        assert why.plot(ax=axes) is axes
        assert len(axes.patches) == 4
        assert axes.get_yticklabels()[0].get_text() == "always"
        widths = [abs(patch.get_width()) for patch in axes.patches[1:]]
        assert widths == sorted(widths) == sorted(map(abs, why.columns.values()))
        with pytest.raises(ValueError, match="x has no series"):
            why.plot(channel=0)

    def test_text_has_the_colours_of_the_style(self, pyplot):
        with pyplot.style.context("dark_background"):
            axes = explained(records(), 3)[0].plot()
            assert axes.texts[0].get_color() == "white"
            assert axes.figure.get_facecolor() == (0, 0, 0, 1)
