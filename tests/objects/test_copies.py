# SPDX-License-Identifier: BSD-3-Clause
"""Equal objects by their packed content."""

import numpy as np
import pytest

import d2ke
from d2ke.objects.copies import find_copies

LONG = np.arange(40.0)
KINDS = {
    "strings": (d2ke.pack(["b", "", "a", "b", "", "ab"]), [0, 1, 2, 0, 1, 3]),
    "tokens": (d2ke.pack([["ab"], ["a", "b"], ["ab"]], kind="strings"), [0, 1, 0]),
    "zeros": (d2ke.pack([[0.0, 1], [-0.0, 1], [0.0], [0.0, 1]]), [0, 1, 2, 0]),
    "long series": (d2ke.pack([LONG, LONG + 1e-9, LONG]), [0, 1, 0]),
    "channels": (
        d2ke.pack([[[0.0, 1], [2, 3]], [[0.0, 1]], [[0.0, 1], [2, 3]]], channels_first=False),
        [0, 1, 0],
    ),
    "float32": (d2ke.pack([np.float32([1, 2]), np.float32([1, 2])]), [0, 0]),
    "weights": (
        d2ke.pack([[1.0], [1.0], [1.0]], kind="sets", weights=[[1.0], [2.0], [1.0]]),
        [0, 1, 0],
    ),
    "missing values": (
        d2ke.pack([[np.nan, 1.0], [0.0, 1.0], [np.nan, 1.0]], missing=True),
        [0, 1, 0],
    ),
    "records": (
        d2ke.pack_records(
            {
                "name": ["a", "a", None, None, "a"],
                "age": [1.0, None, 0.0, 0.0, 1.0],
                "walk": [[1.0], [1.0], [1.0], [2.0], [1.0]],
                "city": d2ke.categories(["x", "y", "x", "x", "x"]),
            }
        ),
        [0, 1, 2, 3, 0],
    ),
    "plain items": ([1, True, 1.0, 1, "1", (1,), [1], (1,)], [0, 1, 2, 0, 3, 4, 5, 4]),
    "arrays": ([LONG, LONG.astype(np.float32), LONG.copy(), LONG[None]], [0, 1, 0, 2]),
    "floats": ([0.0, -0.0, 0.0, np.nan, np.nan], [0, 1, 0, 2, 2]),
}


@pytest.mark.parametrize("name", KINDS)
def test_equal_objects_have_one_number(name):
    items, numbers = KINDS[name]
    found = find_copies(items)
    assert found.numbers.tolist() == numbers
    assert found.firsts.tolist() == [numbers.index(i) for i in range(max(numbers) + 1)]
    assert found.counts.tolist() == np.bincount(numbers).tolist()


def test_other_items_are_equal_to_themselves():
    class Thing:
        pass

    one, two = Thing(), Thing()
    assert find_copies([one, two, one]).numbers.tolist() == [0, 1, 0]
