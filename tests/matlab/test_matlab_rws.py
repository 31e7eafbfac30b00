# SPDX-License-Identifier: BSD-3-Clause
"""Random Warping Series by the authors' names, against plain loops and their stored results."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import dtw

from d2ke._ext import trust_region
from d2ke.io import load_mat, save_mat
from d2ke.learners.linear_model import one_vs_rest_signs
from d2ke.learners.solvers.liblinear import train
from matlab_compat import (
    dtw_c,
    dtw_m,
    dtw_similarity_cell,
    dtw_similarity_cell_mulvar,
    rng,
    rws_GenFea,
    rws_GenFea_mulvar,
    rws_gridsearch_CV,
    rws_gridsearch_CV_mulvar,
    rws_VaryingR_CV,
    rws_VaryingR_CV_mulvar,
)
from matlab_compat._newton_solvers import trainer
from matlab_compat.rand_stream import RandStream
from matlab_compat.random import global_stream
from papers.datasets import load

HISTORY = ("DMaxHist", "sigmaHist", "lambda_invHist")


def cell(seed, n, d, longest=30):
    """Make a column cell of d x L matrices."""
    generator = np.random.default_rng(seed)
    out = np.empty((n, 1), dtype=object)
    for i in range(n):
        out[i, 0] = generator.standard_normal((d, generator.integers(1, longest + 1)))
    return out


@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(-1, 12))
def test_dtw_c_has_time_in_rows_and_widens_the_window(seed, k, w):
    generator = np.random.default_rng(seed)
    s, t = (generator.standard_normal((generator.integers(1, 15), k)) for _ in range(2))
    window = None if w == -1 else w
    assert dtw_c(s, t, w) == pytest.approx(dtw(s, t, window=window), rel=1e-12)
    assert dtw_m(s, t, w) == dtw_c(s, t, w)


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_similarity_of_cells_has_the_growing_window(seed, d):
    new, base = cell(seed, 4, d, 60), cell(seed + 1, 5, d, 12)
    K, seconds = dtw_similarity_cell_mulvar(new, base)
    expected = [[dtw(x.T, y.T, window="rws") for y in base[:, 0]] for x in new[:, 0]]
    np.testing.assert_allclose(K, expected, rtol=1e-12)
    assert seconds > 0


@given(st.integers(0, 2**32))
def test_similarity_of_one_channel_has_window_0(seed):
    generator = np.random.default_rng(seed)
    new, base = generator.standard_normal((4, 20)), cell(seed, 5, 1)
    K, _ = dtw_similarity_cell(new, base)
    expected = [[dtw(x[:, None], y.T, window=0) for y in base[:, 0]] for x in new]
    np.testing.assert_allclose(K, expected, rtol=1e-12)


def naive_features(new, sigma, R, DMin, DMax, window):
    """Follow the authors' function with one loop after another; `new` has time in rows."""
    stream = RandStream(0)
    base = []
    for _ in range(R):
        D = stream.randi([DMin, DMax])
        base.append(stream.randn(new[0].shape[1], D) / sigma)
    return np.array([[dtw(x, y.T, window=window) for y in base] for x in new]) / np.sqrt(R)


@pytest.fixture(params=["random walks", pytest.param("auslan", marks=pytest.mark.slow)])
def two_parts(request):
    """Series of several channels, channels first, and classes, to train and to test with."""
    if request.param == "auslan":
        dataset = load("auslan", request.getfixturevalue("data_dir"))
        rows, others = dataset.split(0)
        chosen = [rows[:60], others[:40]]
        return [([x.T for x in dataset.objects[i]], dataset.labels[i]) for i in chosen]
    return [(list(cell(n, n, 3)[:, 0]), np.arange(n) % 4) for n in (12, 8)]


def test_features_of_several_channels_equal_the_naive_computation(tmp_path, two_parts):
    (tmp_path / "auslan").mkdir()
    parts = {}
    for name, (drawn, labels) in zip(("train", "test"), two_parts, strict=True):
        series = np.empty((len(drawn), 1), dtype=object)
        series[:, 0] = drawn
        parts[f"{name}_X"] = series
        _, numbers = np.unique(labels, return_inverse=True)
        parts[f"{name}_Y"] = numbers[:, np.newaxis] + 1.0
    save_mat(tmp_path / "auslan" / "auslan.mat", parts)
    Train, Test, Runtime = rws_GenFea_mulvar(tmp_path, "auslan", 0.79, 12, 1, 25)
    for table, name in ((Train, "train"), (Test, "test")):
        new = [x.T for x in parts[f"{name}_X"][:, 0]]
        np.testing.assert_array_equal(table[:, :1], parts[f"{name}_Y"])
        expected = naive_features(new, 0.79, 12, 1, 25, "rws")
        np.testing.assert_allclose(table[:, 1:], expected, rtol=1e-12)
    assert set(Runtime) == {
        "real_total_dtw_time",
        "user_dtw_time",
        "user_train_dtw_time",
        "user_test_dtw_time",
    }
    info = rws_VaryingR_CV_mulvar(
        tmp_path, "auslan", 0.79, 25, 10.0, R_list=[4, 12], save_dir=tmp_path
    )
    assert info.Accu_best.shape == (2, 2)
    stored = load_mat(tmp_path / "auslan_rws_VaryingR_CV_R128.mat")["info"]
    np.testing.assert_array_equal(stored["Accu_best"], info.Accu_best)
    np.testing.assert_array_equal(stored["R"], [[4.0, 12.0]])


@pytest.fixture
def gun_point(tmp_path, data_dir):
    folder = tmp_path / "Gun_Point"
    folder.mkdir()
    for part in ("TRAIN", "TEST"):
        (folder / f"Gun_Point_{part}").symlink_to(data_dir / "gunpoint" / f"Gun_Point_{part}")
    return tmp_path


def test_features_of_gun_point_equal_the_naive_computation(gun_point):
    Train, Test, _ = rws_GenFea(gun_point, "Gun_Point", 4.46, 8, 1, 25)
    assert Train.shape == (50, 9)
    assert Test.shape == (150, 9)
    values = np.loadtxt(gun_point / "Gun_Point" / "Gun_Point_TRAIN", delimiter=",")
    np.testing.assert_array_equal(Train[:, 0], values[:, 0])
    expected = naive_features([row[1:, None] for row in values[:5]], 4.46, 8, 1, 25, 0)
    np.testing.assert_allclose(Train[:5, 1:], expected, rtol=1e-12)


@pytest.mark.slow
def test_grid_search_reproduces_the_authors_stored_file(gun_point, data_dir, tmp_path):
    stored = load_mat(data_dir / "authors" / "Gun_Point_rws_R128_10fold_CV.mat")["info"]
    rng("default")
    info = rws_gridsearch_CV(gun_point, "Gun_Point", R=128, save_dir=tmp_path)
    assert list(info) == list(stored)
    for name in ("sigma", "DMax", "lambda_inverse", "aveAccu_best", "R", "DMin", "stdAccu"):
        assert info[name] == stored[name], name
    np.testing.assert_array_equal(info.valAccu, stored["valAccu"])
    rows = {
        tuple(float(info[name][i, 0]) for name in HISTORY): info.valAccuHist[i]
        for i in range(len(info.sigmaHist))
    }
    same = [
        np.allclose(rows.get(tuple(float(stored[name][i, 0]) for name in HISTORY), -1), percents)
        for i, percents in enumerate(stored["valAccuHist"])
    ]
    assert len(same) == 14
    assert sum(same) >= 11
    # The first setting's order of the series depends on what the authors' session had drawn.
    assert not any(same[:2])
    written = load_mat(tmp_path / "Gun_Point_rws_R128_10fold_CV.mat")["info"]
    assert list(written) == list(info)
    np.testing.assert_array_equal(written["valAccuHist"], info.valAccuHist)


def naive_grid_search(X, y, R, DMin, DMax_list, sigma_list, lambda_inverse, CV, solver):
    """Follow the authors' script step by step, every setting and fold."""
    n = len(y)
    best, history = 0.0, []
    train = trainer(solver)
    for DMax in DMax_list:
        for sigma in sigma_list:
            order = global_stream().randperm(n)[0].astype(int) - 1
            rng("default")
            base = []
            for _ in range(R):
                D = global_stream().randi([DMin, DMax])
                base.append(global_stream().randn(1, D) / sigma)
            F = dtw_similarity_cell(X[order], base)[0] / np.sqrt(R)
            labels = np.where(y[order] == y.min(), -1.0, 1.0)
            for C in lambda_inverse:
                percents = []
                for cv in range(1, CV + 1):
                    start = (cv - 1) * (n // CV)
                    if n % CV >= cv:
                        start, stop = start + cv, start + cv + n // CV
                    else:
                        start, stop = start + n % CV + 1, start + n % CV + n // CV
                    test = np.arange(start, stop + 1) - 1
                    rest = np.setdiff1d(np.arange(n), test)
                    right = train(labels[rest], F[rest], C)(F[test]) == labels[test]
                    percents.append(100 * np.mean(right))
                if best + 0.1 < np.mean(percents):
                    best = np.mean(percents)
                    history.append((DMax, sigma, C, *percents))
    return best, np.array(history), global_stream().State


@pytest.mark.parametrize("solver", ["trust-region", "line-search"])
def test_grid_search_equals_the_naive_script(tmp_path, solver):
    generator = np.random.default_rng(3)
    X = np.cumsum(generator.standard_normal((33, 25)), axis=1)
    y = np.where(generator.random(33) < 0.5, 2, 5)
    X[y == 5] += np.linspace(0, 3, 25)
    (tmp_path / "Walks").mkdir()
    np.savetxt(tmp_path / "Walks" / "Walks_TRAIN", np.c_[y, X], fmt="%.17g")
    settings = {"DMax_list": [4, 9], "sigma_list": [0.1, 1.0, 10.0], "R": 16}
    settings |= {"lambda_inverse": [0.01, 1.0, 100.0], "CV": 7, "solver": solver}
    rng(11)
    info = rws_gridsearch_CV(tmp_path, "Walks", **settings)
    state = global_stream().State
    rng(11)
    best, history, expected_state = naive_grid_search(X, y, DMin=1, **settings)
    assert info.aveAccu_best == pytest.approx(best)
    ours = np.hstack([info[name] for name in (*HISTORY, "valAccuHist")])
    np.testing.assert_allclose(ours, history)
    np.testing.assert_array_equal(state, expected_state)


def test_a_perfect_setting_ends_the_search_where_the_script_would(tmp_path):
    (tmp_path / "Easy").mkdir()
    values = np.repeat([[1, 0, 0, 0], [2, 9, 9, 9]], 8, axis=0).astype(float)
    np.savetxt(tmp_path / "Easy" / "Easy_TRAIN", values, fmt="%g")
    settings = {"DMax_list": [2, 3], "sigma_list": [1.0, 2.0], "R": 8, "CV": 4}
    rng("default")
    info = rws_gridsearch_CV(tmp_path, "Easy", lambda_inverse=[1.0, 10.0], **settings)
    assert info.aveAccu_best == 100
    assert len(info.sigmaHist) == 1
    state = global_stream().State
    rng("default")
    settings |= {"lambda_inverse": [1.0], "solver": "line-search"}
    naive_grid_search(values[:, 1:], values[:, 0], DMin=1, **settings)
    np.testing.assert_array_equal(state, global_stream().State)


def test_a_grid_without_any_winner_has_empty_histories(tmp_path):
    (tmp_path / "Bad").mkdir()
    (tmp_path / "Bad" / "Bad_TRAIN").write_text("1 0 0\n2 0 0\n", "utf-8")
    rng("default")
    info = rws_gridsearch_CV(
        tmp_path, "Bad", DMax_list=[2], sigma_list=[1.0], lambda_inverse=[1.0], R=2, CV=2,
        solver="line-search",
    )  # fmt: skip
    assert info.aveAccu_best == 0
    assert info.valAccuHist.size == 0


def test_varying_R_on_gun_point(gun_point):
    info = rws_VaryingR_CV(gun_point, "Gun_Point", 4.46, 25, 10.0)
    assert info.Accu_best.shape == (2, 5)
    assert info.Accu_best[1, -1] > 90
    assert info.R.tolist() == [[4, 8, 16, 32, 64]]


def test_errors(tmp_path):
    (tmp_path / "One").mkdir()
    (tmp_path / "One" / "One_TRAIN").write_text("1 0 0\n2 1 0\n1 0 1\n", "utf-8")
    (tmp_path / "One" / "One_TEST").write_text("3 0 0\n", "utf-8")
    with pytest.raises(ValueError, match=r"y\[0\] is 3.0, a class without training series"):
        rws_VaryingR_CV(tmp_path, "One", 1.0, 3, 1.0, R_list=[2])
    assert dtw_c([[0.0]], [[1.0]], np.inf) == 1
    with pytest.raises(ValueError, match="cells are for dtw_similarity_cell_mulvar"):
        dtw_similarity_cell(cell(0, 3, 2), cell(1, 2, 1))
    (tmp_path / "two").mkdir()
    save_mat(tmp_path / "two" / "two.mat", {"train_X": [np.ones((1, 2))] * 2, "train_Y": [1.0]})
    with pytest.raises(ValueError, match="train_Y must hold one number for each of the 2 series"):
        rws_gridsearch_CV_mulvar(tmp_path, "two")


def test_doubles_and_matrices_of_one_number_are_taken(gun_point, tmp_path):
    rng(np.array([[5.0]]))
    info = rws_gridsearch_CV(
        gun_point, "Gun_Point", DMax_list=[5.0], sigma_list=1.0, R=4.0, CV=3.0, save_dir=tmp_path
    )
    stored = load_mat(tmp_path / "Gun_Point_rws_R4_3fold_CV.mat")["info"]
    for found in (info, stored):
        Train, _, _ = rws_GenFea(
            gun_point, "Gun_Point", found["sigma"], found["R"], found["DMin"], found["DMax"]
        )
        assert Train.shape == (50, 5)
        varied = rws_VaryingR_CV(
            gun_point, "Gun_Point", found["sigma"], found["DMax"], found["lambda_inverse"],
            R_list=found["R"],
        )  # fmt: skip
        assert varied.R.tolist() == [[4.0]]


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
def test_trust_region_stops_where_scikit_learns_does(k, C):
    svm = pytest.importorskip("sklearn.svm")
    generator = np.random.default_rng(k)
    y = generator.integers(0, k, 90) * 2.0 - 1
    F = generator.standard_normal((90, 17)) + y[:, np.newaxis] * np.linspace(0, 0.4, 17)
    expected = svm.LinearSVC(dual=False, tol=1e-4, C=C, fit_intercept=False).fit(F, y)
    signs = one_vs_rest_signs(np.unique(y, return_inverse=True)[1], k).T
    for row, s in zip(expected.coef_, signs, strict=True):
        smaller = min((s > 0).sum(), (s < 0).sum())
        w = trust_region.fit(F, s.copy(), C, 1e-4 * smaller / 90)
        np.testing.assert_allclose(w, row, rtol=1e-9, atol=1e-12)
    found = trainer("trust-region")(y, F, C)(F)
    np.testing.assert_array_equal(found, expected.predict(F))


# Of larger features, or with a larger C, it would stop after its 1000 steps.
@given(st.integers(0, 2**32), st.sampled_from([(1e-3, 10.0), (1.0, 0.1), (1.0, 1.0), (100.0, 0.1)]))
def test_trust_region_finds_the_minimum(seed, C_and_scale):
    C, scale = C_and_scale
    generator = np.random.default_rng(seed)
    n, R = generator.integers(2, 30, 2)
    F = scale * generator.standard_normal((n, R))
    s = generator.permutation(np.where(np.arange(n) % 2, 1.0, -1.0))

    def value(w):
        return w @ w / 2 + C * np.sum(np.maximum(1 - s * (F @ w), 0) ** 2)

    other = train(s, F, f"-s 2 -e 1e-9 -c {C} -q").weights[0]
    assert value(trust_region.fit(F, s, C, 1e-9)) <= value(other) * (1 + 1e-9)


def test_trust_region_of_values_beyond_all_scales_ends():
    for scale in (1e-320, 1e-200, 1e155, 1e300):
        F = scale * np.array([[1.0, 2.0], [3.0, -1.0]])
        w = trust_region.fit(F, np.array([1.0, -1.0]), 1e5, 0.1)
        assert w.shape == (2,)
