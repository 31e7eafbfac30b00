# SPDX-License-Identifier: BSD-3-Clause
"""Letters of random objects that do not occur in the data: a warning names them."""

import pytest

import d2ke


def embed(X, omega):
    return d2ke.d2ke_embed(X, omega, distance="levenshtein", gamma=1.0)


def test_letters_of_another_case():
    omega = d2ke.samplers.random_strings(8, "acgt", length=(1, 4), seed=0)
    with pytest.warns(
        UserWarning, match=r"no letter of omega occurs in X: omega has 'a', 'c', 'g', 't', X has"
    ) as caught:
        embed(["ACGT", "AGGT"], omega)
    assert [w.filename for w in caught] == [__file__]
    with pytest.warns(UserWarning, match="omega has 'a' where X has 'A'"):
        embed(["ACGT", "AGGT"], ["aCGT"])
    with pytest.warns(UserWarning, match="reps has 'a' where X has 'A'"):
        d2ke.rsm_embed([b"ACGT"], [b"aC"], distance="levenshtein", gamma=1.0)
    with pytest.warns(UserWarning, match=r"no letter of omega occurs in X: omega has 3, 4, X has"):
        embed(d2ke.pack([[1, 2]], kind="strings"), d2ke.pack([[3, 4]], kind="strings"))


@pytest.mark.parametrize(
    ("X", "omega"),
    [
        (["AC"], ["ACGT"]),
        (["ab"], ["aAbB"]),
        (["AC"], ["A", "x"]),
        ([""], ["x"]),
        (["x"], ["", ""]),
        (["1"], ["1", "2"]),
    ],
)
def test_letters_that_are_meant(X, omega):
    embed(X, omega)
