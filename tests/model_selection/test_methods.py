# SPDX-License-Identifier: BSD-3-Clause
"""The table of search methods."""

import pytest

from d2ke.model_selection.methods import METHODS


@pytest.mark.parametrize("row", METHODS.values(), ids=METHODS)
def test_rows_are_complete(row):
    assert (row.omegas is None) != (row.choose is None)
    assert set(row.adapt or ()) <= set(row.grid)
