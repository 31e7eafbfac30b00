# SPDX-License-Identifier: BSD-3-Clause
"""Label propagation by discriminative similarity."""

import numpy as np
import pytest
from discriminative_cases import blobs
from scipy.sparse import csr_array

import d2ke


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "bb", "c"], [1.5, 2.5, 3.5], [True, False]])
@pytest.mark.parametrize("variant", ["hard", "relaxed"])
def test_lpdsk(labels, variant):
    labels = np.array(labels)
    c = len(labels)
    X, y = blobs(60, c=c)
    truth = labels[y]
    unknown = {"U": "", "f": -1.0, "b": None}.get(labels.dtype.kind, -1)
    if unknown is None:  # both values are labels
        with pytest.raises(TypeError, match="unknown must be a label of y's type"):
            d2ke.lpdsk(points=X, y=truth, unknown="")
        return
    given_labels = np.where(np.arange(60) < c, truth, np.array(unknown, labels.dtype))
    found = d2ke.lpdsk(points=X, y=given_labels, unknown=unknown, variant=variant)
    assert found.labels.dtype == given_labels.dtype
    assert (found.labels == truth).all()
    assert found.reached.all()
    assert found.scores.sum(axis=1) == pytest.approx(np.ones(60))
    assert found.classes.tolist() == sorted(labels.tolist())


def test_lpdsk_balance():
    """Class mass normalisation by its definition, where the plain scores all favour one class."""
    X, y = blobs(60, c=2, spread=1.0)
    K = d2ke.discriminative.gaussian_gram(X, h=4.0)
    # Unequal numbers of labels must not decide where the scores are flat.
    labels = np.where((np.arange(60) < 2) | ((y == 1) & (np.arange(60) < 20)), y, -1)
    plain = d2ke.lpdsk(K, labels, balance=False, max_iter=1)
    found = d2ke.lpdsk(K, labels, max_iter=1)
    u = labels < 0
    assert (plain.labels[u] == plain.scores[u].argmax(axis=1)).all()
    mass = [sum(found.scores[i][k] for i in range(60) if u[i]) for k in range(2)]
    expected = [max(range(2), key=lambda k: found.scores[i][k] / mass[k]) for i in range(60)]
    assert found.labels[u].tolist() == [expected[i] for i in np.flatnonzero(u)]
    assert (found.scores == plain.scores).all()
    assert (found.labels == y).mean() > (plain.labels == y).mean() + 0.2


def test_labels_that_reach_nothing_are_said():
    y = [0, 1, -1, -1, -1]
    with pytest.warns(UserWarning, match=r"similar to one with a label.*keep the marker") as caught:
        assert d2ke.lpdsk(np.eye(5), y).labels.tolist() == y
    assert [one.filename for one in caught] == [__file__]
    with pytest.warns(UserWarning, match=r"are 0.5, by K: .* labels are arbitrary") as caught:
        d2ke.lpdsk((np.eye(5) + 1) / 2, y)
    assert len(caught) == 1


@pytest.mark.parametrize("form", ["K", "sparse K", "features"])
def test_component_without_labels_is_not_reached(form):
    Z = np.kron(np.eye(3), np.ones((4, 2))) * np.linspace(0.5, 1, 12)[:, None]
    y = np.full(12, "?", "U1")
    y[0], y[5] = "a", "b"
    K = csr_array(Z @ Z.T) if form == "sparse K" else Z @ Z.T
    data = {"features": Z} if form == "features" else {"K": K}
    found = d2ke.lpdsk(y=y, unknown="?", **data)
    assert found.labels.tolist() == ["a"] * 4 + ["b"] * 4 + ["?"] * 4
    assert found.reached.tolist() == [True] * 8 + [False] * 4
    assert (found.scores[8:] == 0).all()


@pytest.mark.parametrize("balance", [True, False])
@pytest.mark.parametrize("variant", ["hard", "relaxed"])
@pytest.mark.parametrize("form", ["points", "K", "features"])
def test_ties_do_not_depend_on_the_order_of_rows(form, variant, balance):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 14))
        points = rng.integers(0, 4, (n, int(rng.integers(1, 3)))).astype(float)
        points[0] = points[1] + 1
        y = rng.choice(["a", "b", "c", ""], n, p=[0.15, 0.15, 0.1, 0.6])
        y[0] = "a"
        gaps = np.abs(points[:, None] - points).sum(axis=2)
        features = np.exp(-np.abs(points[:, None] - rng.integers(0, 4, (6, 1))).sum(axis=2))
        rows = {"points": points, "K": np.exp(-gaps), "features": features}[form]
        order = rng.permutation(n)
        turned = rows[order][:, order] if form == "K" else rows[order]
        width = {"h": 1.0} if form == "points" else {}
        options = {"variant": variant, "balance": balance, "unknown": "", **width}
        first = d2ke.lpdsk(y=y, **{form: rows}, **options)
        second = d2ke.lpdsk(y=y[order], **{form: turned}, **options)
        np.testing.assert_array_equal(second.labels, first.labels[order])
        np.testing.assert_allclose(second.scores, first.scores[order], rtol=0, atol=1e-9)
