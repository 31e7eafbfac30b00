# SPDX-License-Identifier: BSD-3-Clause
"""`search` with a checkpoint and with known distances: as without, and after kills."""

import os
from contextlib import suppress
from functools import partial

import kills
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples

import d2ke
from d2ke._base import memory
from d2ke.embedding.scaling import SCALINGS
from d2ke.learners.losses import LOSSES
from d2ke.model_selection import candidates, cross_validation, omegas
from d2ke.model_selection.cross_validation import cross_validate_hinge
from d2ke.model_selection.folds import stratified_folds
from d2ke.model_selection.search import search

COSTS = (0.01, 1.0, 100.0)


def words(n, seed=0):
    """Strings whose letters come with other shares in each of three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    shares = np.array([[4, 3, 2, 1], [1, 3, 3, 3], [3, 1, 1, 4]]) / np.array([[10], [10], [9]])
    X = ["".join(rng.choice(list("acgt"), rng.integers(5, 12), p=shares[c])) for c in y]
    return d2ke.pack(X), np.array(["one", "three", "two"])[y]


HOW = {
    "distance": "levenshtein",
    "sampler": partial(d2ke.samplers.random_strings, alphabet="acgt"),
    "grid": {"length": [(2, 4), (6, 9)], "R": [6, 20], "gamma_scale": [0.5, 2.0], "C": COSTS},
    "n_folds": 4,
    "n_threads": 2,
}
RSM = {"distance": "levenshtein", "grid": {"R": [9], "scaling": SCALINGS}, "n_folds": 4}


def open_files():
    count = 0
    for descriptor in range(1000):
        with suppress(OSError):
            os.fstat(descriptor)
            count += 1
    return count


# ---------------------------------------------------------------- as without a checkpoint


def test_the_same_as_without(tmp_path):
    X, y = words(120)
    before = open_files()
    for name, method, how in (("a", "d2ke", HOW), ("b", "rsm", RSM)):
        known = search(y, X, method, **how)
        folder = tmp_path / name
        found = search(y, X, method, checkpoint=folder, **how)
        assert found == known
        assert found.info["checkpoint"] == str(folder)
        assert {setting["loss"] for setting, _ in found.tried} == set(LOSSES)
        assert search(y, X, method, checkpoint=folder, **how) == known
    assert open_files() == before
    assert sorted(path.name for path in (tmp_path / "a").glob("*.npz")) == [
        "distances_0.npz", "distances_1.npz"
    ]  # fmt: skip


@settings(max_examples=examples(24), deadline=None)
@given(
    n=st.integers(30, 120),
    R=st.lists(st.integers(1, 40), min_size=1, max_size=2),
    gamma=st.sampled_from(["gamma", "gamma_scale"]),
    n_folds=st.integers(2, 12),
    seed=st.integers(0, 10**6),
)
def test_the_same_as_without_with_any_numbers(n, R, gamma, n_folds, seed, tmp_path_factory):
    rng = np.random.default_rng(seed)
    x = rng.random((n, 1, 2))
    y = (x[:, 0, 0] + 0.2 * rng.random(n) > 0.6).astype(int)
    y[:2] = 0, 1
    how = {
        "distance": "hausdorff",
        "sampler": partial(
            d2ke.samplers.random_sets, dim=2, size=1, region="box", low=0.0, high=1.0
        ),
        "grid": {"R": R, gamma: [1.0, 3.0], "scaling": SCALINGS, "C": [10.0, 0.1]},
        "n_folds": n_folds,
        "seed": seed,
        "n_threads": 1,
    }
    X = d2ke.pack(list(x.astype(rng.choice(["f4", "f8"]))), channels_first=False)
    folder = tmp_path_factory.mktemp("search")
    assert search(y, X, checkpoint=folder, **how) == search(y, X, **how)


def test_python_distances_and_more_features_than_rows(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random(30).tolist(), np.arange(30) % 2

    def distance(a, b, unit):
        return abs(a - b) / unit

    how = {
        "distance": distance,
        "sampler": lambda R, seed: np.linspace(0, 1, R).tolist(),
        "grid": {"R": [50], "C": [1.0]},
        "unit": 2.0,
        "n_folds": 3,
    }
    with pytest.raises(ValueError, match=r'has no version.* \(f\.version = "1"\)'):
        search(y, X, checkpoint=tmp_path, **how)
    distance.version = "1"
    assert search(y, X, checkpoint=tmp_path, **how) == search(y, X, **how)
    with pytest.raises(ValueError, match="unit"):
        search(y, X, checkpoint=tmp_path, **how | {"unit": 3.0})


def test_folds_are_solved_in_groups(monkeypatch):
    """As many as there is room for, and never depending on who asks."""
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=90)
    F = rng.standard_normal((90, 5)) + np.eye(5)[codes]
    folds = stratified_folds(codes, 5, seed=0)
    sizes, solve = [], cross_validation.block_newton
    monkeypatch.setattr(
        cross_validation,
        "block_newton",
        lambda Z, signs, *a, **o: sizes.append(signs.shape[1]) or solve(Z, signs, *a, **o),
    )
    exact = {"tolerance": 1e-9}
    known = cross_validate_hinge(F, codes, COSTS, folds, **exact)
    assert sizes == [15] * 3
    for room, group in ((1, 3), (2 * 8 * 14 * 90 * 3 + 10**6, 15)):
        sizes.clear()
        monkeypatch.setattr(cross_validation, "_TOGETHER", room)
        assert cross_validate_hinge(F, codes, COSTS, folds, **exact) == known
        assert set(sizes) == {group}


# ---------------------------------------------------------------- distances in a file


@pytest.fixture
def square(tmp_path):
    X, y = words(70)
    D = d2ke.distance_matrix(X, None, "levenshtein")
    d2ke.io.save_features(tmp_path / "square.h5", D)
    return tmp_path / "square.h5", D, y


@pytest.mark.parametrize("method", ["knn", "dsk_rbf", "dsk_nd", "gdk_led"])
def test_distances_in_a_file(method, square):
    path, D, y = square
    how = {"distance": "levenshtein", "n_folds": 5, "n_threads": 1}
    if method.startswith("dsk"):
        how["grid"] = {"C_scale" if method == "dsk_nd" else "C": [1.0, 10.0]}
    known = search(y, None, method, within=D, **how)
    before = open_files()
    assert search(y, None, method, within=path, **how) == known
    assert search(y, None, method, within=str(path), **how) == known
    with d2ke.io.open_features(path) as store:
        assert search(y, None, method, within=store, **how) == known
        assert store.read().shape == D.shape  # it is still open
    assert open_files() == before
    with pytest.raises(ValueError, match=r"within must hold .* 69 .*shape is \(70, 70\)"):
        search(y[:69], None, method, within=path, **how)
    D[3, 5] = -1
    d2ke.io.save_features(path, D)
    with pytest.raises(ValueError, match=r"within\[3, 5\] is -1.0; distances must be >= 0"):
        search(y, None, method, within=path, **how)


@pytest.mark.parametrize("method", ["d2ke", "rsm"])
def test_known_distances_to_random_objects(method, tmp_path):
    X, y = words(50)
    omega = d2ke.samplers.random_strings(20, "acgt", length=(2, 4), seed=0)
    D, path = d2ke.distance_matrix(X, omega, "levenshtein"), tmp_path / "D.h5"
    d2ke.io.save_features(path, D)
    grid = {"R": [6, 20], "gamma_scale": [0.5, 2.0], "C": COSTS}
    known = search(y, None, method, within=D, grid=grid, n_folds=4)
    how = HOW | {"grid": HOW["grid"] | {"length": [(2, 4)]}}
    sampled = search(y, X, **how)
    assert known.tried == tuple(
        ({name: value for name, value in setting.items() if name != "length"}, accuracy)
        for setting, accuracy in sampled.tried
    )
    before = open_files()
    assert search(y, None, method, within=path, grid=grid, n_folds=4) == known
    with d2ke.io.open_features(path) as store:
        assert search(y, None, method, within=store, grid=grid, n_folds=4) == known
    assert open_files() == before
    for within in (path, D):
        kept = {"within": within, "grid": grid, "n_folds": 4, "checkpoint": tmp_path / "kept"}
        assert search(y, None, method, **kept) == known
    with pytest.raises(ValueError, match="within was"):
        search(y, None, method, **kept | {"within": D + 1})
    assert search(y, None, method, within=D, n_folds=4).parameters["R"] == 20


def test_wrong_distances_to_random_objects():
    D, y = np.ones((8, 3)), [0, 1] * 4
    for bad, how, error, message in (
        (D[:7], {}, ValueError, r"the distances of 8 objects, .*shape is \(7, 3\)"),
        (-D, {}, ValueError, r"within\[0, 0\] is -1.0; distances must be >= 0"),
        (D, {"grid": {"length": [3]}}, ValueError, "'length', unknown for method 'd2ke'"),
        (D, {"grid": {"R": [4]}}, ValueError, "R must be between 1 and 3, got 4"),
        (D, {"window": 3}, TypeError, "distance"),
    ):
        with pytest.raises(error, match=message):
            search(y, None, within=bad, n_folds=2, **how)


def test_distances_that_the_machine_has_no_room_for(square, monkeypatch):
    path, _, y = square
    monkeypatch.setattr(memory, "memory_limit", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"the distances in .*square.h5 .* some rows"):
        omegas.given_distances(path, 70, 70)
    with pytest.raises(MemoryError, match=r"'gdk_led' with 70 objects .* are 10 kB in all"):
        search(y, None, "gdk_led", within=path, distance="levenshtein")


# ---------------------------------------------------------------- resuming and refusing


def one(a, b):
    return 1.0


one.version = "1"

CHANGES = [
    ({"y": "y"}, "y was"),
    ({"X": "X"}, "X was"),
    ({"seed": 1}, "seed was 0 and is 1"),
    ({"n_folds": 5}, "n_folds was 4 and is 5"),
    ({"grid": HOW["grid"] | {"length": [(2, 4), (6, 8)]}}, r"grid\['length'\] was .*6, 8"),
    ({"grid": HOW["grid"] | {"C": [1.0]}}, r"grid\['C'\] was"),
    ({"distance": one}, "distance was"),
    (
        {"sampler": partial(d2ke.samplers.random_strings, alphabet="acg")},
        "omega of length 2 to 4 was",
    ),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_other_arguments_are_refused(change, message, tmp_path):
    X, y = words(40)
    search(y, X, checkpoint=tmp_path, **HOW)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    if "y" in change:
        y, change = y[::-1], {}
    if "X" in change:
        X, change = X[np.arange(40)[::-1]], {}
    if callable(change.get("distance")):
        X = ["x"] * 40
    with pytest.raises(ValueError, match=f"was made from something else: .*{message}"):
        search(y, X, checkpoint=tmp_path, **HOW | change)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept


def test_results_that_are_kept_are_not_computed_again(tmp_path, monkeypatch):
    X, y = words(60)
    known = search(y, X, checkpoint=tmp_path, **HOW)
    for name in ("cross_validate", "cross_validate_hinge"):
        monkeypatch.setattr(candidates, name, None)
    monkeypatch.setattr(omegas, "fill_array", None)
    assert search(y, X, checkpoint=tmp_path, **HOW | {"n_threads": 1}) == known


@pytest.mark.parametrize("part", ["distances_0.npz", "0_0.json"])
def test_a_damaged_part_is_computed_again(part, tmp_path):
    X, y = words(60)
    known = search(y, X, checkpoint=tmp_path, **HOW)
    path = tmp_path / part
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.warns(UserWarning, match=f"{part} is damaged"):
        assert search(y, X, checkpoint=tmp_path, **HOW) == known
    assert path.read_bytes() == whole


def test_one_search_at_a_time(tmp_path, monkeypatch):
    X, y = words(30)

    def again(*arguments, **options):
        with pytest.raises(BlockingIOError, match="only one at a time"):
            search(y, X, checkpoint=tmp_path, **HOW)
        raise RuntimeError("enough")

    monkeypatch.setattr(omegas, "fill_array", again)
    with pytest.raises(RuntimeError, match="enough"):
        search(y, X, checkpoint=tmp_path, **HOW)
    monkeypatch.undo()
    search(y, X, checkpoint=tmp_path, **HOW)


KILLED = {
    "distance": "levenshtein",
    "sampler": partial(d2ke.samplers.random_strings, alphabet="acgt"),
    "grid": {"length": [(2, 4), (6, 9)], "R": [6, 40, 80], "gamma_scale": [0.2, 0.5, 1.0, 2.0]},
    "n_folds": 4,
    "n_threads": 1,
}


def search_words(checkpoint=None):
    X = ["acca", "tgtgt", "acgt", "ggta", "ca", "tttg"] * 100
    return search([0, 1, 2] * 200, X, checkpoint=checkpoint, **KILLED)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("n_kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_places(n_kills, tmp_path):
    """Each process resumes the search of the one before."""
    killed = kills.kill_at_random(tmp_path, n_kills, 33, search_words, tmp_path)
    assert killed >= n_kills / 2
    assert search_words(tmp_path) == search_words()
