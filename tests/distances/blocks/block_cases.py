# SPDX-License-Identifier: BSD-3-Clause
"""Objects and random objects whose features are streamed to a file."""

import os

import numpy as np
import pytest

import d2ke
from d2ke.io.store.writer import PartialStore

POSIX = [
    pytest.mark.skipif(os.name != "posix", reason="locks and writes as POSIX has them"),
    # Tiny arrays, which are meant as they are.
    pytest.mark.filterwarnings("ignore:every item of .* has shape"),
]

RNG = np.random.default_rng(0)
STRINGS = d2ke.pack(["".join(RNG.choice(list("ACGT"), n)) for n in RNG.integers(0, 20, 700)])
EQUAL = d2ke.random_strings(60, "ACGT", length=(9, 9), seed=1)
OMEGA = d2ke.random_strings(150, "ACGT", length=(2, 8), seed=0)
HOW = {"distance": "levenshtein", "gamma": 0.3}
VECTORS = d2ke.pack([RNG.standard_normal((n, 2)) for n in RNG.integers(1, 6, 40)])
WEIGHTED = d2ke.pack(VECTORS, weights=[RNG.random(n) + 0.1 for n in VECTORS.lengths])


def embed(file, **more):
    with d2ke.d2ke_embed(STRINGS, OMEGA, **{**HOW, "out": file, **more}) as store:
        store.verify()
        return store.read()


class StopError(Exception):
    pass


def interrupted(file, monkeypatch, blocks=5, error=StopError, **more):
    """Begin, and fail after some blocks."""
    write, left = PartialStore.write, [blocks]

    def fail(self, rows, Z, stop):
        if not left[0]:
            raise error("enough")
        left[0] -= 1
        return write(self, rows, Z, stop)

    with monkeypatch.context() as patch:
        patch.setattr(PartialStore, "write", fail)
        with pytest.raises(error, match="enough"):
            embed(file, **more)
