# SPDX-License-Identifier: BSD-3-Clause
"""Random sets and motions, and what is known of them."""

import numpy as np
import reference
from hypothesis import strategies as st

from benchmarks import alignment


@st.composite
def pairs(draw, dims=(1, 2, 3, 5), most=40):
    """Draw two sets, weights (or None), and a scale from narrow to wide."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d = draw(st.sampled_from(dims))
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    style = draw(st.sampled_from(["normal", "grid", "far", "clusters"]))
    P, Q = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 0.3
    if style == "grid":
        P, Q = np.round(P), np.round(Q)
    elif style == "far":
        P, Q = P + 1e4, Q + 1e4
    elif style == "clusters":
        P, Q = P * 0.01 + rng.integers(0, 3, (n, 1)), Q * 0.01 + rng.integers(0, 3, (m, 1))
    w, v = rng.standard_normal(n), rng.random(m)
    if draw(st.booleans()):
        w = v = None
    return P, Q, w, v, draw(st.sampled_from([0.05, 0.5, 2.0, 20.0]))


def total(P, Q, w, v):
    return (np.abs(np.ones(len(P)) if w is None else w).sum()
            + np.abs(np.ones(len(Q)) if v is None else v).sum()) / 2  # fmt: skip


def kappa(P, Q, sigma, w=None, v=None):
    K = reference.kernel_values(P, Q, sigma)
    return float((K * np.outer(np.ones(len(P)) if w is None else w,
                               np.ones(len(Q)) if v is None else v)).sum())  # fmt: skip


def some_rotation(rng, d):
    return alignment.random_rotation(rng, d)
