# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours whose blocks of rows are kept in a checkpoint: kills, other calls."""

import os

import kills
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_cases import check_checkpoint, means, radii
from reference import examples, same

import d2ke
from d2ke._base import checkpoint
from d2ke.neighbors import bounded, row_search, strings

STRINGS = d2ke.samplers.random_strings(300, "ACGT", length=(1, 9), seed=0)
HOW = {"distance": "levenshtein", "k": 4, "n_threads": 1}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows, and a disk that is not waited for."""
    monkeypatch.setattr(row_search, "_FIRST_ROWS", 7)
    monkeypatch.setattr(row_search, "_MAX_ROWS", 16)
    monkeypatch.setattr(os, "fsync", lambda fd: None)


DISTANCES = ["levenshtein", "dtw", "emd", "hausdorff", "mhd", "directed_mhd", means]


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_any_distance(data, tmp_path_factory):
    distance = data.draw(st.sampled_from(DISTANCES))
    n, rng = data.draw(st.integers(2, 40)), np.random.default_rng(data.draw(st.integers(0, 999)))
    options = {"distance": distance, "n_threads": data.draw(st.integers(1, 3))}
    if distance == "levenshtein":
        X = d2ke.pack(["".join(rng.choice(list("ab"), rng.integers(0, 6))) for _ in range(n)])
    else:
        dtype = data.draw(st.sampled_from([np.float32, np.float64]))
        items = [rng.integers(-3, 4, (rng.integers(1, 5), 2)).astype(dtype) for _ in range(n)]
        X = d2ke.pack(items, channels_first=False)
    if distance is means:
        options["metric"] = data.draw(st.booleans())
    Y = None if data.draw(st.booleans()) else X[: data.draw(st.integers(1, n))]
    D = d2ke.distance_matrix(X, Y, distance=distance)
    if Y is None:
        options["include_self"] = data.draw(st.booleans())
    k = data.draw(st.integers(1, D.shape[1] - (Y is None)) if D.shape[1] > 1 else st.just(1))
    radius = data.draw(radii(D))
    folder = tmp_path_factory.mktemp("near")
    with pytest.MonkeyPatch.context() as patch:
        if data.draw(st.booleans()):  # by bounds and indexes, however few objects there are
            patch.setattr(bounded, "FEWEST_PAIRS", 0)
            patch.setattr(bounded, "pays", lambda *_: True)
            patch.setattr(strings, "_FEWEST", 0)
            patch.setattr(strings, "_TRY", 1e9)
        check_checkpoint(D, folder, X, Y, k=k, radius=radius, **options)


def test_what_was_computed_is_counted(tmp_path):
    *_, info = d2ke.neighbors.nearest_info(STRINGS, checkpoint=tmp_path, **HOW)
    assert info.pairs == len(STRINGS) ** 2
    assert info.computed + sum(info.ruled_out.values()) == info.pairs
    *_, info = d2ke.neighbors.nearest_info(STRINGS, checkpoint=tmp_path, **HOW)
    assert info.pairs == 0


def interrupted(folder, at, **options):
    """Begin a search and stop before the block of rows `at`."""
    search = row_search._search_block

    def stopped(block, *arguments):
        if block.pairs.first >= at:
            raise KeyboardInterrupt
        return search(block, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_search, "_search_block", stopped)
        with pytest.raises(KeyboardInterrupt):
            d2ke.nearest(STRINGS, checkpoint=folder, **{**HOW, **options})


def check_resumed(folder, most):
    *found, info = d2ke.neighbors.nearest_info(STRINGS, checkpoint=folder, **HOW)
    for got, wanted in zip(found, d2ke.nearest(STRINGS, **HOW), strict=True):
        same(got, wanted)
    assert 0 < info.pairs <= most * len(STRINGS)


def check_unchanged(folder):
    *_, info = d2ke.neighbors.nearest_info(STRINGS, checkpoint=folder, **HOW)
    assert info.pairs == 0


def test_an_interrupted_call_is_resumed(tmp_path):
    interrupted(tmp_path, 150)
    interrupted(tmp_path, 200)
    check_resumed(tmp_path, 100)


@pytest.mark.parametrize("size", [0, 100])
def test_a_damaged_block_is_computed_again(tmp_path, size):
    interrupted(tmp_path, 150)
    block = tmp_path / "rows_7.npz"
    block.write_bytes(block.read_bytes()[:size])
    with pytest.warns(UserWarning, match=r"rows_7\.npz is damaged; this part is computed again"):
        check_resumed(tmp_path, 300)
    check_unchanged(tmp_path)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"k": 5}, "k was 4 and is 5"),
        ({"include_self": True, "k": 3}, "without_self was True and is False"),
        ({"distance": "levenshtein", "mode": "prefix"}, "mode was not given and is 'prefix'"),
    ],
)
def test_another_call_is_refused(tmp_path, changed, named):
    interrupted(tmp_path, 150)
    with pytest.raises(ValueError, match=named):
        d2ke.nearest(STRINGS, checkpoint=tmp_path, **{**HOW, **changed})
    with pytest.raises(ValueError, match="X was"):
        d2ke.nearest(STRINGS[:299], checkpoint=tmp_path, **HOW)
    with pytest.raises(ValueError, match="function was 'nearest' and is 'within'"):
        d2ke.within(STRINGS, radius=1, distance="levenshtein", checkpoint=tmp_path)
    check_resumed(tmp_path, 150)


def test_another_version_of_d2ke_is_refused(tmp_path, monkeypatch):
    interrupted(tmp_path, 150)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "__version__", "9.9")
        with pytest.raises(ValueError, match=r"d2ke was .* and is '9\.9'"):
            d2ke.nearest(STRINGS, checkpoint=tmp_path, **HOW)
    check_resumed(tmp_path, 150)


def test_a_python_distance_needs_a_version(tmp_path):
    inside = []

    def distance(x, y):
        if not inside:
            inside.append(1)
            with pytest.raises(BlockingIOError, match="being written by another call"):
                d2ke.nearest([1.0, 2.0, 4.0], k=1, distance=distance, checkpoint=tmp_path)
        return abs(x - y)

    with pytest.raises(ValueError, match=r'has no version.* \(f\.version = "1"\)'):
        d2ke.nearest([1.0, 2.0, 4.0], k=1, distance=distance, checkpoint=tmp_path)
    distance.version = "1"
    indices, _ = d2ke.nearest([1.0, 2.0, 4.0], k=1, distance=distance, checkpoint=tmp_path)
    assert indices.tolist() == [[1], [0], [1]]
    distance.version = "2"
    with pytest.raises(ValueError, match="version of distance was"):
        d2ke.nearest([1.0, 2.0, 4.0], k=1, distance=distance, checkpoint=tmp_path)


LONG = d2ke.samplers.random_strings(2000, "ACGT", length=(1, 20), seed=0)
KINDS = {"near": {"k": 3}, "far": {"radius": 4}}


def found(kind, checkpoint=None):
    how = {"distance": "levenshtein", "n_threads": 1, "checkpoint": checkpoint, **KINDS[kind]}
    if kind == "near":
        return d2ke.nearest(LONG, **how)
    graph = d2ke.within(LONG, **how)
    return graph.indptr, graph.indices, graph.data


def find_in_small_blocks(kind, checkpoint):
    row_search._FIRST_ROWS = row_search._MAX_ROWS = 40
    found(kind, checkpoint)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_places(n_kills, kind, tmp_path):
    killed = kills.kill_at_random(tmp_path, n_kills, 50, find_in_small_blocks, kind, tmp_path)
    assert killed >= n_kills / 2
    for got, wanted in zip(found(kind, tmp_path), found(kind), strict=True):
        same(got, wanted)
