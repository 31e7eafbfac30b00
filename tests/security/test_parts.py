# SPDX-License-Identifier: BSD-3-Clause
"""Objects and measures that are made by hand, of parts that do not fit."""

import pickle

import numpy as np
import pytest

import d2ke

VALUES, OFFSETS = np.ones((4, 2)), np.array([0, 2, 4])
CODES, ALPHABET = np.zeros(4, np.uint8), np.array([65])


@pytest.mark.parametrize(
    "parts",
    [
        ("vectors", VALUES, OFFSETS),
        ("series", VALUES, np.array([0, 2, 10**9])),
        ("series", VALUES, np.array([0, 3, 2, 4])),
        ("series", VALUES, np.array([-2, 2, 4])),
        ("series", VALUES, OFFSETS.astype(np.int32)),
        ("series", VALUES, np.empty(0, np.int64)),
        ("series", VALUES, OFFSETS.reshape(1, -1)),
        ("series", VALUES[:, 0], OFFSETS),
        ("series", VALUES[:, :0], OFFSETS),
        ("series", VALUES.astype(np.int64), OFFSETS),
        ("series", VALUES.astype(">f8"), OFFSETS),
        ("series", None, OFFSETS),
        ("series", VALUES, OFFSETS, ALPHABET),
        ("sets", VALUES, OFFSETS, None, None, np.ones(3)),
        ("sets", VALUES, OFFSETS, None, None, np.ones(4, np.float32)),
        ("series", VALUES, OFFSETS, None, None, np.ones(4)),
        ("strings", CODES, OFFSETS, None, "str"),
        ("strings", CODES + np.uint8(1), OFFSETS, ALPHABET, "str"),
        ("strings", CODES.astype(np.int64), OFFSETS, ALPHABET, "str"),
        ("strings", CODES, OFFSETS, np.array([65, 65]), "str"),
        ("strings", CODES, OFFSETS, np.array([2**21]), "str"),
        ("strings", CODES, OFFSETS, np.array([300]), "bytes"),
        ("strings", CODES, OFFSETS, np.array([6.5]), "int"),
        ("strings", CODES, OFFSETS, ALPHABET, "words"),
        ("strings", CODES, OFFSETS, ALPHABET, "str", np.ones(4)),
    ],
    ids=str,
)
def test_objects_of_parts_that_do_not_fit_are_refused(parts):
    with pytest.raises((TypeError, ValueError)):
        d2ke.Objects(*parts)


@pytest.mark.parametrize(
    ("points", "vectors"),
    [
        (np.ones((3, 2)), np.ones((2, 1))),
        (np.ones((3, 2)), np.ones(3)),
        (np.ones((0, 2)), np.ones((0, 1))),
        (np.ones((3, 2)), np.ones((3, 0))),
        (np.ones((3, 2), np.float32), np.ones((3, 1))),
        (np.full((3, 2), np.nan), np.ones((3, 1))),
        ([[1.0]], [[1.0]]),
    ],
)
def test_measures_of_parts_that_do_not_fit_are_refused(points, vectors):
    with pytest.raises((TypeError, ValueError)):
        d2ke.Measure(points, vectors)


def test_maps_of_parts_that_do_not_fit_are_refused():
    made = d2ke.measures.kernel_feature_map([np.eye(3)], sigma=1.0, n_features=8)
    parts = {name: getattr(made, name) for name in made.__dataclass_fields__}
    with pytest.raises(ValueError, match="omega"):
        d2ke.measures.KernelFeatureMap(**{**parts, "omega": made.omega[:2]})


def test_a_pickled_collection_is_checked_too():
    made = d2ke.pack(["ab", "b"])
    assert pickle.loads(pickle.dumps(made)) == made
    function, parts = made.__reduce__()
    with pytest.raises(ValueError, match="offsets"):
        function(parts[0], parts[1], parts[2] * 1000, *parts[3:])
