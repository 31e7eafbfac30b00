# SPDX-License-Identifier: BSD-3-Clause
"""Shares of pieces in an explanation, beside sums over words that a dictionary counts."""

from collections import Counter

import numpy as np
import pytest

import d2ke
from d2ke.explain.kmers import piece_shares
from d2ke.models.kmers import FittedKmers

pytestmark = pytest.mark.filterwarnings("ignore:little or nothing was learned")
COMPLEMENT = str.maketrans("ACGT", "TGCA")
RNG = np.random.default_rng(0)


def strings(n, low, high, alphabet="ACGT"):
    return ["".join(RNG.choice(list(alphabet), RNG.integers(low, high))) for _ in range(n)]


def trained(X, **options):
    y = ["a", "b"] * (len(X) // 2)
    model = d2ke.d2ke_train(y, X, **options)
    return model, next(block for block in model.blocks if isinstance(block, FittedKmers))


def words(text, mask, block):
    """Count the words of a string as text with dots."""
    sides = [text, text[::-1].translate(COMPLEMENT)][: 1 + (block.strands == "both")]
    marked = [f"^{side}$" if block.form == "contiguous" else side for side in sides]
    windows = [side[k : k + mask[-1] + 1] for side in marked for k in range(len(side) - mask[-1])]
    return Counter(
        "".join(letter if k in mask else "." for k, letter in enumerate(window))
        for window in windows
    )


def slow_shares(block, text, landmarks, weights):
    shares = []
    for masks, scale in zip(block.words.masks, block.letter_weights, strict=True):
        of_x = [words(text, mask, block) for mask in masks]
        norm = np.sqrt(sum(sum(counts.values()) for counts in of_x))
        shares += [dict.fromkeys(counts, 0.0) for counts in of_x]
        for landmark, weight in zip(landmarks, weights, strict=True):
            of_landmark = [words(landmark, mask, block) for mask in masks]
            other = np.sqrt(sum(sum(counts.values()) for counts in of_landmark))
            if not norm * other:
                continue
            for result, mine, theirs in zip(shares[-len(masks) :], of_x, of_landmark, strict=True):
                for word, count in mine.items():
                    root = np.sqrt(count * theirs[word])
                    result[word] += weight * scale * root / (norm * other)
    return [pair for result in shares for pair in result.items()]


@pytest.mark.parametrize(
    ("low", "high", "strands"), [(2, 9, "one"), (40, 50, "one"), (40, 50, "both"), (1, 60, "one")]
)
def test_shares_are_those_of_words_in_dictionaries(low, high, strands):
    X = strings(24, low, high)
    _, block = trained(X, strands=strands)
    weights = RNG.normal(size=block.R)
    wanted = sorted(slow_shares(block, X[0], list(block.omega), weights), key=lambda pair: -pair[1])
    x = d2ke.pack(X)[:1]
    found = piece_shares(block, x, weights, len(wanted) + 1)
    assert len(found) == len(wanted)
    np.testing.assert_allclose(
        [entry["share"] for entry in found], [share for _, share in wanted], atol=1e-12
    )
    by_word = dict(wanted[:10])
    clear = [entry for entry in found[:10] if entry["piece"] in by_word]
    assert clear
    for entry in clear:
        assert entry["share"] == pytest.approx(by_word[entry["piece"]], abs=1e-12)
    total = block.kernel(x, 1)[0] @ weights
    assert sum(entry["share"] for entry in found) == pytest.approx(total, abs=1e-9)


def test_places_are_where_a_piece_begins():
    heads = strings(12, 1, 30)
    X = [head + "GATTACA" + tail for head, tail in zip(heads, strings(12, 10, 30), strict=True)]
    X += strings(12, 30, 60)
    model = d2ke.d2ke_train(["a"] * 12 + ["b"] * 12, X)
    why = d2ke.d2ke_explain(X[0], model, limit=40)
    assert len(why.pieces) == 40
    for entry in why.pieces:
        for place in entry["places"].tolist():
            window = X[0][place : place + len(entry["piece"])]
            assert len(window) == len(entry["piece"])
            assert all(a in (".", b) for a, b in zip(entry["piece"], window, strict=True))
    assert any("GATTAC".startswith(entry["piece"][:2]) for entry in why.pieces)
    assert "pieces that add most" in str(why)
