# SPDX-License-Identifier: BSD-3-Clause
"""Words of strings on masks: their kernels, and the distance."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples, same_bits

import d2ke
from d2ke.distances.masks import CONTIGUOUS, GAPPED
from d2ke.distances.piece_kernels import Pieces, WordLists, piece_kernel, piece_kernels

FROZEN = """
#
## #----# #---# #--# #-#
### ##-# #-## #--#-# #--## ##---# #-#---# #--#--#
#### #-#-## ##-## ###---# ##--#-# #-#-#-# #-##---# ##---#-#
##### ####-# #-#--##-# ###--#-# ##---#-## #-#### #-#--### #-##-##
###### #-##-### #-##---### ##-#-#--## #-##### #--###-## ##-#### ###--###
####### #-##-###-# ###--##-#-# ####-#--#-# ###-###--# ######---# #-#--#-#### ##-#####
######## ###--#--#### ###-#--##-## ##-####-#-# ##-###### ##--#####-# #-##-###-## #######--#
"""
FAMILIES = st.sampled_from([GAPPED, CONTIGUOUS, (((0, 1), (0, 3)), ((0, 2, 3, 9),))])
TOKENS = st.one_of(
    st.text("ab", max_size=30),
    st.text("a\u00e9\u6f22\U0001f600", max_size=20),
).map(lambda text: [ord(letter) for letter in text])
NUMBERS = st.lists(st.sampled_from([-(2**62), -1, 0, 7, 300, 2**40]), max_size=25)


def draw_masks():
    """Draw the family again: RandomState promises its numbers."""
    random, rows = np.random.RandomState(0), []
    for k in range(1, 9):
        row = ["#" * k]
        while len(row) < {1: 1, 2: 5}.get(k, 8):
            last = k - 1 + random.randint(5)
            inner = set(random.permutation(np.arange(1, last))[: k - 2])
            mask = "".join("#" if i in inner | {0, last} else "-" for i in range(last + 1))
            if mask not in row:
                row.append(mask)
        rows.append(" ".join(row))
    return rows


def test_masks_are_frozen():
    shown = [
        " ".join("".join("-#"[i in mask] for i in range(mask[-1] + 1)) for mask in of_k)
        for of_k in GAPPED
    ]
    assert shown == FROZEN.split("\n")[1:-1] == draw_masks()
    assert sum(map(len, GAPPED)) == len({mask for of_k in GAPPED for mask in of_k}) == 54
    assert CONTIGUOUS == (((0,),), ((0, 1),), ((0, 1, 2),), ((0, 1, 2, 3),))


def strings(letters, most):
    """Draw lists of strings, of which some occur twice."""
    lists = st.lists(letters, min_size=1, max_size=most)
    return lists.flatmap(lambda X: st.lists(st.sampled_from(X), max_size=3).map(X.__add__))


@settings(max_examples=examples(30), deadline=None)
@given(data=st.data())
def test_kernels(data):
    letters, family = data.draw(st.sampled_from([TOKENS, NUMBERS])), data.draw(FAMILIES)
    ends = data.draw(st.booleans())
    X, Y = data.draw(strings(letters, 6)), data.draw(strings(letters, 6))
    x, y = (d2ke.pack([np.array(s, np.int64) for s in Z], kind="strings") for Z in (X, Y))
    pieces = Pieces(family, ends)
    if ends:
        X, Y = ([["^", *s, "$"] for s in Z] for Z in (X, Y))
    for other, strings_y in ((None, X), (y, Y)):
        kernels = list(piece_kernels(x, other, pieces, 1))
        assert len(kernels) == len(family)
        for K, masks in zip(kernels, family, strict=True):
            wanted = [[reference.piece_kernel(s, t, masks) for t in strings_y] for s in X]
            np.testing.assert_allclose(K, wanted, rtol=1e-12)
        weights = np.linspace(1, 2, len(family))
        total = sum(weight * K for weight, K in zip(weights, kernels, strict=True))
        np.testing.assert_allclose(piece_kernel(x, other, pieces, weights, 1), total, rtol=1e-12)
        for n_threads in (2, 4):
            again = piece_kernel(x, other, pieces, weights, n_threads)
            assert same_bits(again, piece_kernel(x, other, pieces, weights, 1))
    for most_bytes in (0, 1000, 1 << 30):
        lists = WordLists(y, pieces, most_bytes)
        known = piece_kernel(x, lists, pieces, weights, 2)
        assert same_bits(known, piece_kernel(x, y, pieces, weights, 1))


@pytest.mark.parametrize("n_letters", [1, 2, 6, 255, 256, 700])
def test_words_of_any_alphabet(n_letters):
    """Of 700 letters 8 do not fit into 64 bits, and 20 do not with ranks of those before them."""
    rng = np.random.default_rng(n_letters)
    every = rng.permutation(n_letters)
    X = [every, *(rng.choice(every[:40], n) for n in (0, 1, 7, 8, 30, 90))]
    # A word that differs from another in one letter, the first or the last.
    word = rng.choice(every, 8)
    X += [word, np.append(word[:-1], every[0]), np.append(every[0], word[1:]), X[5], every[-99:]]
    masks = ((*range(8),), (0, 3, 4, 5, 7, 8, 9, 11), (*range(20),))
    (K,) = piece_kernels(d2ke.pack(X, kind="strings"), None, Pieces((masks,)), 2)
    wanted = [[reference.piece_kernel(s, t, masks) for t in X[1:]] for s in X[1:]]
    np.testing.assert_allclose(K[1:, 1:], wanted, rtol=1e-12)
    row = [reference.piece_kernel(every, t, masks) for t in X[1:]]
    np.testing.assert_allclose(K[0, 1:], row, rtol=1e-12)
    assert K[0, 0] == pytest.approx(float(n_letters >= 8))
    np.testing.assert_array_equal(K, K.T)


DNA = st.lists(st.text("ACGTN", max_size=20), min_size=1, max_size=4)


@settings(max_examples=examples(10), deadline=None)
@given(X=DNA, Y=DNA)
def test_both_strands(X, Y):
    D = d2ke.distance_matrix(X, Y, "gapped", strands="both")
    wanted = reference.matrix(reference.gapped, X, Y, strands="both")
    np.testing.assert_allclose(D, wanted, atol=1e-7)
    turned = ["".join(reference.reverse_complement(x)) for x in X]
    assert same_bits(d2ke.distance_matrix(turned, Y, "gapped", strands="both"), D)
    assert not np.diag(d2ke.distance_matrix(X, turned, "gapped", strands="both")).any()
    rna = [x.replace("T", "U") for x in X]
    assert same_bits(d2ke.distance_matrix(rna, Y, "gapped", strands="both"), D)


@settings(max_examples=examples(30), deadline=None)
@given(X=strings(st.text("ab\u6f22", max_size=20), 8))
def test_copies_are_at_0(X):
    D = d2ke.distance_matrix(X, distance="gapped")
    same = np.equal.outer(np.array(X, object), np.array(X, object))
    assert not D[same.astype(bool)].any()
    assert same_bits(d2ke.distance_matrix(X[::-1], X, "gapped"), D[::-1])


def test_tiles(monkeypatch):
    """Matrices larger than a tile, and long strings, are computed part by part."""
    rng = np.random.default_rng(3)
    X = ["".join(rng.choice(list("ACGT"), n)) for n in rng.integers(0, 40, 20)]
    wanted = d2ke.distance_matrix(X, distance="gapped")
    Z = d2ke.d2ke_embed(X, X[:7], distance="gapped", gamma=2.0)
    monkeypatch.setattr("d2ke.distances.gapped_rows._TILE", 7)
    assert same_bits(d2ke.distance_matrix(X, distance="gapped"), wanted)
    assert same_bits(d2ke.distance_matrix(X, X, "gapped"), wanted)
    assert same_bits(d2ke.d2ke_embed(X, X[:7], distance="gapped", gamma=2.0), Z)
    monkeypatch.setattr("d2ke.distances.gapped_rows._LETTERS", 40)
    assert same_bits(d2ke.distance_matrix(X, distance="gapped"), wanted)
    single = d2ke.distance_matrix(X, distance="gapped", dtype=np.float32)
    assert same_bits(single, wanted.astype(np.float32))


@settings(max_examples=examples(20), deadline=None)
@given(data=st.data())
def test_lists_of_words(data):
    """Lists of y give the bits of y itself, and an equal string those of a string with itself."""
    strands = data.draw(st.sampled_from(["one", "both"]))
    texts = st.text("ACGTN" if strands == "both" else "ab\u6f22", max_size=30)
    Y, X = data.draw(strings(texts, 6)), data.draw(strings(texts, 3))
    x, y = d2ke.pack([*X, *Y], kind="strings"), d2ke.pack(Y, kind="strings")
    pieces = Pieces(data.draw(FAMILIES), strands == "one" and data.draw(st.booleans()), strands)
    weights = np.linspace(1, 2, len(pieces.masks))
    wanted = piece_kernel(x, y, pieces, weights, 1)
    for most_bytes in (0, 500, 1 << 20):
        lists = WordLists(y, pieces, most_bytes)
        assert same_bits(piece_kernel(x, lists, pieces, weights, 2), wanted)
        for i in range(len(x)):
            assert same_bits(
                piece_kernel(x[i : i + 1], lists, pieces, weights, 1), wanted[i : i + 1]
            )
    assert same_bits(wanted[len(X) :], piece_kernel(y, None, pieces, weights, 1))


@pytest.mark.parametrize(("n_letters", "length"), [(4, 700), (30, 400)])
def test_many_words(n_letters, length):
    """Rows take many turns at the lists, some of which become lines."""
    rng = np.random.default_rng(0)
    X = [rng.integers(0, n_letters, n) for n in rng.integers(0, length, 300)]
    x = d2ke.pack([*X, *X[:9]], kind="strings")
    for mask in (GAPPED[5][1], GAPPED[7][1]):
        pieces = Pieces(((mask,),))
        K = piece_kernel(x, None, pieces, [1.0], 1)
        rows, columns = (np.linspace(0, 299, n).astype(int) for n in (3, 12))
        wanted = [[reference.piece_kernel(X[i], X[j], [mask]) for j in columns] for i in rows]
        np.testing.assert_allclose(K[rows[:, None], columns], wanted, rtol=1e-12)
        assert same_bits(K[300:], K[:9])
        assert same_bits(piece_kernel(x, x, pieces, [1.0], 3), K)
        assert same_bits(piece_kernel(x[7:8], x, pieces, [1.0], 1), K[7:8])


def test_frequent_words():
    """Counts that do not fit beside the row in a cell."""
    texts = ["a" * 70_001 + "b" * 3, "ab", "b" * 66_000 + "a" * 70_002, ""]
    K = piece_kernel(d2ke.pack(texts), None, Pieces((((0,),),)), [1.0], 1)
    roots = np.sqrt([[text.count("a"), text.count("b")] for text in texts])
    norms = np.maximum(np.linalg.norm(roots, axis=1), 1)
    np.testing.assert_allclose(K, roots @ roots.T / np.outer(norms, norms), rtol=1e-12)
