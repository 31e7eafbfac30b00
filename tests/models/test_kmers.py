# SPDX-License-Identifier: BSD-3-Clause
"""Features of strings by the pieces that they share with training strings."""

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import reloaded

import d2ke
from d2ke.distances.masks import CONTIGUOUS, GAPPED
from d2ke.models import recipes
from d2ke.models.blocks import Sample
from d2ke.models.kmers import Kmers
from d2ke.models.labels import no_labels, read_labels

OTHER = dict(zip("ACGT", "TGCA", strict=True))


def counted(x, mask, ends, both):
    """Return how often each word is in a string."""
    strands = [x, [OTHER[letter] for letter in reversed(x)]] if both else [x]
    strings = [["begin", *strand, "end"] if ends else list(strand) for strand in strands]
    return Counter(
        tuple(string[start + place] for place in mask)
        for string in strings
        for start in range(len(string) - mask[-1])
    )


def kernels_by_definition(X, Y, form, both=False):
    """Yield the normalised kernel of each number of letters."""
    for masks in CONTIGUOUS if form == "contiguous" else GAPPED:
        rows, columns = (
            [[counted(x, mask, form == "contiguous", both) for mask in masks] for x in side]
            for side in (X, Y)
        )

        def product(a, b):
            pairs = zip(a, b, strict=True)
            return sum(np.sqrt(n * other[word]) for one, other in pairs for word, n in one.items())

        K = np.array([[product(a, b) for b in columns] for a in rows])
        squares = [np.array([product(a, a) for a in side]) for side in (rows, columns)]
        scales = [1 / np.sqrt(np.where(square > 0, square, np.inf)) for square in squares]
        yield K * np.outer(*scales)


def kernel_by_definition(X, Y, form, both=False):
    """Return the kernel of X and Y, whose numbers of letters vary alike on Y."""
    total = np.zeros((len(X), len(Y)))
    for K, of_landmarks in zip(
        kernels_by_definition(X, Y, form, both), kernels_by_definition(Y, Y, form, both),
        strict=True,
    ):  # fmt: skip
        H = np.eye(len(Y)) - 1 / len(Y)
        trace = np.trace(H @ of_landmarks @ H)
        if trace > 1e-6 * len(Y):
            total += K / trace * len(Y) / (4 if form == "contiguous" else 8)
    return total


def fitted(X, form, strands="one", R=100, y=None):
    labels = no_labels(len(X)) if y is None else read_labels(y, None)
    sample = Sample(d2ke.pack(X), np.arange(len(X)), labels, 1)
    return Kmers(R, form, strands).fit_features(sample, np.random.SeedSequence(0))


@given(
    st.lists(st.text("ACGT", max_size=9), min_size=2, max_size=6),
    st.lists(st.text("ACGT", max_size=9), min_size=1, max_size=3),
    st.sampled_from(["contiguous", "gapped"]),
    st.booleans(),
)
def test_products_of_features_are_the_kernel(X, new, form, both):
    X = [*X, "ACGT", "AACC"]
    block, Z = fitted(X, form, "both" if both else "one")
    wanted = kernel_by_definition(X, X, form, both)
    scale = wanted.diagonal().max()
    np.testing.assert_allclose(Z @ Z.T / scale, wanted / scale, atol=1e-4)
    landmarks = list(block.omega)
    assert [X[source] for source in block.sources] == landmarks
    K = kernel_by_definition([*new, *X], X, form, both)[:, block.sources]
    found = block.features(d2ke.pack([*new, *X]), 1)
    np.testing.assert_allclose(found[len(new) :], Z, atol=1e-3 * np.sqrt(scale))
    np.testing.assert_allclose(found @ Z[block.sources].T / scale, K / scale, atol=1e-3)
    centred = block.landmark_kernel(found[0].astype(float))
    np.testing.assert_allclose(centred / scale, K[0] / scale, atol=1e-3)


def test_words_of_landmarks_are_not_pickled():
    _, X = words(90, np.random.default_rng(1))
    block, _ = fitted(X, "gapped")
    size = len(pickle.dumps(block))
    F = block.features(d2ke.pack(X), 1)
    assert len(pickle.dumps(block)) == size
    again = pickle.loads(pickle.dumps(block))
    assert (again.features(d2ke.pack(X), 1) == F).all()


def test_of_many_strings_some_are_landmarks():
    _, X = words(90, np.random.default_rng(1))
    block, Z = fitted(X, "contiguous", R=20)
    assert block.R == Z.shape[1] <= 20
    assert Z.shape[0] == 90
    np.testing.assert_allclose(block.features(d2ke.pack(X), 1), Z, atol=1e-5)
    assert (np.diff(np.sort(block.sources)) > 0).all()


@pytest.mark.parametrize("X", [["", ""], ["", "", ""]])
def test_strings_without_pieces_have_no_features(X):
    assert fitted(X, "gapped")[0] is None
    with pytest.warns(UserWarning, match="little or nothing was learned"):
        model = d2ke.d2ke_train([0, 1, 0][: len(X)], X)
    assert {block.family for block in model.blocks} == {"parts"}


def test_a_column_without_letters_is_named():
    """The empty text is a missing entry of a column of records."""
    table = {"name": ["Ann", "Bob"] * 30, "note": [""] * 60}
    with pytest.warns(UserWarning, match="the columns 'note' have no entry in any row"):
        model = d2ke.d2ke_train([0, 1] * 30, table, R=8)
    assert {block.column for block in model.blocks} == {"name"}
    with pytest.warns(UserWarning, match="the columns 'note' are not used"):
        predicted = d2ke.d2ke_predict(None, {"name": ["Bob"], "note": ["new"]}, model)[0]
    assert predicted.tolist() == [1]


def test_equal_strings_are_one_landmark():
    assert fitted(["abc", "abc", "cab"] * 9, "contiguous")[0].R == 2


@pytest.mark.parametrize(
    "X",
    [[b"abc", b"abd", b"cd", b"cda"], [["one", "two"], ["two"], ["one", "six"], ["six"]],
     [np.array([1, 2, 3]), np.array([1, 2]), np.array([7]), np.array([7, 3])]],
)  # fmt: skip
@pytest.mark.parametrize("scored", [False, True])
def test_letters_of_every_kind(X, scored, monkeypatch):
    """By products with landmarks, and by scores of pieces."""
    if scored:
        monkeypatch.setattr(recipes, "_SCORED", (0, 0))
    X = d2ke.pack(X * 5, kind="strings")
    y = [0, 0, 1, 1] * 5
    model = d2ke.d2ke_train(y, X, R=16 if scored else 40)
    assert d2ke.d2ke_predict(y, X, model)[1] == 100
    again = reloaded(model)
    assert (d2ke.d2ke_predict(None, X, again)[2] == d2ke.d2ke_predict(None, X, model)[2]).all()


def test_files_whose_parts_do_not_fit_are_refused():
    _, X = words(60, np.random.default_rng(1))
    block = fitted(X, "contiguous")[0]
    block.check(0)
    for wrong in (
        {"basis": block.basis[1:]}, {"letter_weights": np.ones(3)}, {"strands": "both"},
    ):  # fmt: skip
        with pytest.raises(ValueError):  # noqa: PT011
            replace(block, **wrong).check(0)


def test_long_strings_have_gaps():
    rng = np.random.default_rng(0)
    for length, form in ((30, "contiguous"), (31, "gapped")):
        X = ["".join(rng.choice(list("ACGT"), length)) for _ in range(20)]
        assert d2ke.models.recipe(X)[-1] == Kmers(20, form) or (
            d2ke.models.recipe(X)[-1].form == form
        )


def dna(n, rng):
    """Return DNA with a motif on either strand, or with another one."""
    y, motifs = np.arange(n) % 2, (("TTGACC", "GGTCAA"), ("CACGAG", "CTCGTG"))
    X = []
    for label in y:
        start, letters = rng.integers(0, 34), rng.choice(list("ACGT"), 40)
        letters[start : start + 6] = list(motifs[label][rng.integers(2)])
        X.append("".join(letters))
    return y, X


def test_both_strands():
    y, X = dna(400, np.random.default_rng(3))
    half = [
        d2ke.d2ke_train(y[:200], X[:200], strands=strands, R=150) for strands in ("one", "both")
    ]
    assert [block.strands for model in half for block in model.blocks[-1:]] == ["one", "both"]
    assert "both strands" in str(half[1])
    one, both = (d2ke.d2ke_predict(y[200:], X[200:], model)[1] for model in half)
    assert both > one
    complement = "".join(OTHER[letter] for letter in reversed(X[0]))
    block = half[1].blocks[-1]
    features = block.features(d2ke.pack([X[0], complement]), 1)
    np.testing.assert_allclose(features[0], features[1], atol=1e-5)
    assert "clearly lower with strands='both'" in str(half[0])
    assert "clearly lower" not in str(half[1])
    with (
        pytest.warns(UserWarning, match="no training string has"),
        pytest.raises(ValueError, match=r"X\[0\] has the letter 'x'"),
    ):
        d2ke.d2ke_predict(None, ["ACGxT"], half[1], unseen_letters="allow")
    estimator = d2ke.estimators.D2KEClassifier(150, strands="both", random_state=0)
    labels = estimator.fit(X[:200], y[:200]).predict(X[200:])
    assert 100 * (labels == y[200:]).mean() == both
    with_gaps = d2ke.d2ke_train(y, X, distance="gapped", strands="both", R=20)
    assert with_gaps.blocks[0].parameters == {"strands": "both"}


def test_one_strand_is_not_questioned_without_reason():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACGT"), 40)) for _ in range(90)]
    block, _ = fitted(X, "gapped", y=rng.integers(2, size=90))
    assert not block.complements_pay
    assert not fitted(["abc", "abd"] * 9, "contiguous", y=[0, 1] * 9)[0].complements_pay


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]] * 9, {}, "holds series"),
        ({"a": ["ACGT", "AC"] * 9}, {}, "strands is for strings"),
        (["ACGT", "AC"] * 9, {"strands": "two"}, "strands must be"),
    ],
)
def test_what_has_no_strands_is_refused(X, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        d2ke.d2ke_train([0, 1] * 9, X, **{"strands": "both", **options})


def words(n, rng):
    """Return words whose class is told by two syllables that may be anywhere."""
    syllables = ["".join(rng.choice(list("aeioubdgklmnprst"), 3)) for _ in range(24)]
    y = np.arange(n) % 3
    X = []
    for label in y:
        part = [syllables[8 * label + i] for i in rng.integers(0, 8, 2)]
        X.append("".join(rng.choice(list("aeioubdgklmnprst"), rng.integers(0, 4))) + "".join(part))
    return y, X
