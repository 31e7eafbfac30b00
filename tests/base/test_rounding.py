# SPDX-License-Identifier: BSD-3-Clause
"""Deviations of features that hardly vary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from d2ke._base.rounding import PLAIN, feature_deviations, least_deviations


def by_definition(deviations, largest, parts, eps):
    """Return what each feature is divided by, one at a time."""
    result = []
    for deviation, size, part in zip(deviations, largest, parts, strict=True):
        if part == PLAIN:
            result.append(1.0 if deviation <= 4 * eps * size else deviation)
            continue
        others = zip(deviations, largest, parts, strict=True)
        varied = sorted(d for d, s, p in others if p == part and d > 1e-6 * s)
        middle = (varied[(len(varied) - 1) // 2] + varied[len(varied) // 2]) / 2 if varied else 10.0
        result.append(max(deviation, 0.1 * middle))
    return result


sizes = st.floats(1e-3, 1e3) | st.just(0.0)
rows = st.tuples(
    st.sampled_from([0.0, 1e-9, 1e-7, 1e-5, 0.01, 0.3, 1.0]), sizes, st.integers(-1, 2)
)


@given(st.lists(rows, min_size=1, max_size=12), st.sampled_from([np.float32, np.float64]))
def test_definition(drawn, dtype):
    shares, largest, parts = (np.array(column) for column in zip(*drawn, strict=True))
    deviation = shares * largest
    least = least_deviations(deviation, largest, parts)
    found = feature_deviations(deviation, largest, least, dtype)
    wanted = by_definition(deviation, largest, parts, np.finfo(dtype).eps)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
