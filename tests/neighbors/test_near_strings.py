# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by edit distances: each bound, and each way of the search, exactly."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_cases import check_nearest, check_searches, check_within, radii
from reference import damerau_levenshtein, examples, indel, levenshtein, osa

import d2ke
from d2ke._ext import isa, near_strings
from d2ke.neighbors import collection, string_costs, strings
from d2ke.neighbors.string_costs import Times

many = settings(max_examples=examples(200), deadline=None)
few = settings(max_examples=examples(60), deadline=None)
EDITS = {
    "levenshtein": (near_strings.LEVENSHTEIN, levenshtein),
    "osa": (near_strings.OSA, osa),
    "indel": (near_strings.INDEL, indel),
    "damerau_levenshtein": (near_strings.DAMERAU, damerau_levenshtein),
}
FREE = Times(
    look=0, candidate=0, banded=0, column=0, piece=0, scanned_row=0, lanes={16: 0, 32: 0, 64: 0}
)
WAYS = {
    "index": replace(FREE, scanned=1),
    "scan": replace(FREE, scanned=0, piece=1e9),
    "as measured": Times(),
    "cut-offs alone": replace(FREE, letter=0, preparing=0),
}


@st.composite
def relatives(draw, max_size):
    """Two strings, the second with some edits of the first."""
    letters = draw(st.sampled_from(["ab", "abcdefghijklmnopqrst"]))
    x = draw(st.text(letters, max_size=max_size))
    y = list(x)
    for _ in range(draw(st.integers(0, 12))):
        at = draw(st.integers(0, len(y)))
        if draw(st.booleans()):
            y[at : at + 2] = y[at : at + 2][::-1]
        else:
            y[at : at + draw(st.integers(0, 1))] = draw(st.text(letters, max_size=2))
    return x, "".join(y)


def codes(text):
    """Letters as the search has them, and one more, since there is no empty memory."""
    return np.array([*map(ord, text), 0], np.uint32)


@pytest.mark.parametrize("name", EDITS)
@many
@given(pair=relatives(200), data=st.data())
def test_the_cut_distance_and_the_bound_by_letters(name, pair, data):
    kind, distance_of = EDITS[name]
    wanted = int(distance_of(*pair))
    for cut in {wanted, max(wanted - 1, 0), wanted + 1, data.draw(st.integers(0, 210)), 31, 32}:
        bound, distance = near_strings.bounded(codes(pair[0]), codes(pair[1]), 128, cut, kind)
        assert bound <= wanted
        assert distance == (wanted if wanted <= cut else cut + 1)


@pytest.mark.parametrize("way", WAYS)
@few
@given(data=st.data())
def test_every_way_is_exact(way, data):
    pairs = data.draw(st.lists(relatives(data.draw(st.sampled_from([5, 20, 90]))), min_size=2))
    X = [string for pair in pairs for string in pair]
    options = {
        "distance": data.draw(st.sampled_from([*EDITS])),
        "normalize": data.draw(st.booleans()),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "_FEWEST", 10**9 if way == "cut-offs alone" else 0)
        patch.setattr(strings, "_TRY", 1e9)
        patch.setattr(strings, "_QUERIES", 5)
        patch.setattr(string_costs, "TIMES", WAYS[way])
        check_searches(data, X, options)
        radius = data.draw(st.sampled_from([0.3, 2.5, 7.0]))
        X, Y = [*X[::2], "uvw"], X[1::2]
        D = d2ke.distance_matrix(X, Y, **options)
        check_within(D, X, Y, radius=radius, **options)


@pytest.mark.parametrize("name", ["levenshtein", "osa", "indel"])
@pytest.mark.parametrize("normalize", [False, True])
def test_few_long_strings_are_cut_off(name, normalize):
    X = d2ke.samplers.random_strings(4, "ACGT", length=25_000, seed=0)
    X = [*X, X[1][:8_000] + "A" + X[1][8_002:]]
    options = {"distance": name, "normalize": normalize}
    D = d2ke.distance_matrix(X, **options)
    radius = float(D[1, 4])
    info = check_within(D, X, radius=radius, **options)
    assert info.computed == 1
    info = check_nearest(D, X, k=2, radius=radius, **options)
    assert info.computed == 2
    check_within(D[:1], X[:1], X, radius=radius, **options)


WORDS = {
    "one letter": st.text("a", max_size=20),
    "few letters, duplicates": st.text("ab", max_size=3),
    "about 16 letters": st.text("abc", min_size=14, max_size=26),
    # More letters than there are masks, so that some share one.
    "unicode": st.text(
        [chr(i) for i in (*range(97, 100), *range(0x400, 0x480), 0x1F600)], max_size=9
    ),
}


@pytest.mark.parametrize("isa_name", isa.supported())
@pytest.mark.parametrize("words", WORDS)
@few
@given(data=st.data())
def test_a_scan_is_exact(isa_name, words, data):
    X = data.draw(st.lists(WORDS[words], min_size=2, max_size=70))
    k, n_threads = data.draw(st.integers(1, len(X) - 1)), data.draw(st.integers(1, 2))
    kind = data.draw(st.sampled_from([*EDITS]))
    options = {"distance": kind, "n_threads": n_threads, "normalize": data.draw(st.booleans())}
    selected = isa.selected()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "_FEWEST", 0)
        patch.setattr(string_costs, "TIMES", WAYS["scan"])
        isa.select(isa_name)
        try:
            half = [[EDITS[kind][1](x, y) for y in X[:i]] for i, x in enumerate(X)]
            D = np.array([row + [0.0] * (len(X) - len(row)) for row in half])
            D += D.T
            if options["normalize"]:
                lengths = np.array([len(x) for x in X])
                both = np.add if kind == "indel" else np.maximum
                D /= np.maximum(both.outer(lengths, lengths), 1)
            check_nearest(D, X, k=k, **options)
            radius = data.draw(radii(D))
            check_nearest(D, X, k=k, radius=radius, **options)
            check_within(D, X, radius=radius, **options)
        finally:
            isa.select(selected)


def edited(n, length, n_edits, seed):
    """Some random strings, each with some others that are a few edits away."""
    rng = np.random.default_rng(seed)
    result = []
    for text in d2ke.samplers.random_strings(
        n // 10, "ACGT", length=(length - 5, length), seed=rng
    ):
        for _ in range(10):
            letters = list(text)
            for _ in range(rng.integers(0, n_edits)):
                at = rng.integers(0, len(letters))
                letters[at : at + rng.integers(0, 2)] = rng.choice(list("ACGT"), rng.integers(0, 2))
            result.append("".join(letters))
    return result


@pytest.mark.parametrize(("length", "radius"), [(25, 2), (120, 10), (120, 40)])
def test_the_index_spares_nearly_all(length, radius, monkeypatch):
    monkeypatch.setattr(strings, "_FEWEST", 0)
    monkeypatch.setattr(strings, "_TRY", 1e9)
    monkeypatch.setattr(string_costs, "TIMES", WAYS["index"])
    X = edited(1000 if length < 100 else 500, length, radius // 2 + 1, 0)
    D = d2ke.distance_matrix(X, distance="levenshtein")
    info = check_within(D, X, radius=radius, distance="levenshtein")
    if radius < 40:
        assert info.ruled_out["pieces"] > 0.3 * (info.pairs - info.ruled_out["copies"])
        assert info.computed < 0.02 * info.pairs
    info = check_nearest(D, X, k=4, distance="levenshtein", n_threads=2)
    if radius == 10:
        assert info.computed < 0.05 * info.pairs


def test_little_memory_makes_no_index(monkeypatch):
    X = edited(1500, 25, 2, 1)
    D = d2ke.distance_matrix(X, distance="levenshtein")
    monkeypatch.setattr(strings, "_FEWEST", 0)
    monkeypatch.setattr(strings, "_INDEX_BYTES", 10**12)
    info = check_within(D, X, radius=2, distance="levenshtein")
    assert "pieces" not in info.ruled_out


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("name", ["levenshtein", "osa", "indel"])
def test_edit_distances_are_searched_with_bounds(name, normalize):
    X = edited(2100, 25, 2, 4)
    options = {"distance": name, "normalize": normalize}
    info = check_nearest(d2ke.distance_matrix(X, **options), X, k=3, **options)
    assert info.computed < 0.2 * info.pairs


def test_the_nearest_of_strings_without_a_near_one():
    X = [
        *edited(2000, 25, 2, 2),
        *d2ke.samplers.random_strings(50, "ACGT", length=(50, 90), seed=3),
    ]
    D = d2ke.distance_matrix(X, distance="levenshtein")
    info = check_nearest(D, X, k=3, distance="levenshtein")
    assert info.computed < 0.2 * info.pairs


@pytest.mark.parametrize("name", EDITS)
def test_memory_is_kept_between_searches_of_shorter_and_longer_strings(name, monkeypatch):
    monkeypatch.setattr(collection, "_MIN_INDEXED", 1)
    Y = ["", "", "", "", "aaaabca"]
    index = d2ke.Index(Y, distance=name)
    index.within([""], radius=0)
    index.nearest(["aaaaaabb"], k=1)
    graph = index.within(["aaaaab"], radius=3)
    wanted = d2ke.within(["aaaaab"], Y, radius=3, distance=name)
    assert np.array_equal(graph.indices, wanted.indices)
    assert np.array_equal(graph.data, wanted.data)
