# SPDX-License-Identifier: BSD-3-Clause
"""The bootstrap of the kernel's error against loops, and against the errors themselves."""

import math
from itertools import product

import numpy as np
import pytest

import d2ke

OBJECTS = ["a", "b", "ab", "ba", "aab", "bbbb", "abab", "bbabab", "aaa"]
OMEGAS = ["".join(letters) for length in (1, 2, 3) for letters in product("ab", repeat=length)]
PHI = np.exp(-0.7 * d2ke.distance_matrix(OBJECTS, OMEGAS, "levenshtein"))


def drawn(R, seed):
    return PHI[:, np.random.default_rng(seed).integers(len(OMEGAS), size=R)] / math.sqrt(R)


def errors_of(difference, K):
    """Max, rms, relative and centred error by loops."""
    n = len(K)

    def centred(M):
        rows = [sum(M[i]) / n for i in range(n)]
        return [[M[i][j] - rows[i] - rows[j] + sum(rows) / n for j in range(n)]
                for i in range(n)]  # fmt: skip

    def norm(M):
        return math.sqrt(sum(M[i][j] ** 2 for i in range(n) for j in range(n)))

    return [
        max(abs(difference[i][j]) for i in range(n) for j in range(n)),
        norm(difference) / n,
        norm(difference) / norm(K),
        norm(centred(difference)) / norm(centred(K)),
    ]


def test_matches_loops():
    Z, rng = drawn(12, 0), np.random.default_rng(4)
    states = np.random.default_rng(4).integers(0, 2**63, 40).tolist()
    K = Z @ Z.T
    drawn_errors = []
    for state in states:
        counts = np.random.default_rng(state).multinomial(12, np.full(12, 1 / 12))
        again = np.repeat(Z, counts, axis=1)
        drawn_errors.append(errors_of(again @ again.T - K, K))
    wanted = np.sort(drawn_errors, axis=0)[math.ceil(0.9 * 39)]
    got = d2ke.theory.bootstrap_kernel_error(Z, delta=0.1, n_resamples=40, seed=rng, n_threads=2)
    assert [got.max, got.rms, got.relative, got.centred] == pytest.approx(wanted.tolist())
    assert (got.n_features, got.n_objects, got.delta) == (12, 9, 0.1)
    for error, value in zip(("max", "rms", "relative", "centred"), wanted, strict=True):
        needed = got.features_needed(0.01, error)
        assert value * math.sqrt(12 / needed) <= 0.01 + 1e-12
        assert needed == 1 or value * math.sqrt(12 / (needed - 1)) > 0.01 - 1e-12


def test_equal_objects_have_no_centred_error():
    got = d2ke.theory.bootstrap_kernel_error(np.tile(drawn(50, 0)[:1], (5, 1)), n_resamples=20)
    assert math.isnan(got.centred)
    with pytest.raises(ValueError, match="no two objects differ"):
        got.features_needed(0.1, "centred")
    assert got.features_needed(0.9) == 1
