# SPDX-License-Identifier: BSD-3-Clause
"""Functions of several outputs: one of them alone must be taken by name or place."""

import copy
import pickle

import numpy as np
import pytest

from matlab_compat import dtw_similarity_cell_mulvar
from matlab_compat._outputs import Outputs

CELL = [np.ones((2, 3)), np.zeros((2, 4))]


@pytest.mark.parametrize(
    "use",
    [
        lambda K: K / np.sqrt(4),
    ],
)
def test_outputs_are_not_taken_for_the_first(use):
    K = dtw_similarity_cell_mulvar(CELL, CELL)
    message = (
        r"dtw_similarity_cell_mulvar returns 2 outputs; write KMat, t = "
        r"dtw_similarity_cell_mulvar\(...\), or dtw_similarity_cell_mulvar\(...\)\[0\]"
    )
    with pytest.raises(TypeError, match=message):
        use(K)


def test_outputs_are_a_tuple():
    outputs = dtw_similarity_cell_mulvar(CELL, CELL)
    K, seconds = outputs
    assert isinstance(outputs, tuple)
    assert len(outputs) == 2
    assert outputs[0] is K
    assert outputs[-1] == seconds
    assert (K / np.sqrt(2)).shape == (2, 2)
    with pytest.raises(AttributeError, match="no attribute 'KMats'"):
        _ = outputs.KMats


def test_outputs_are_copied_and_pickled():
    outputs = Outputs("f", a=1, b=[2])
    for again in (copy.deepcopy(outputs), pickle.loads(pickle.dumps(outputs))):
        assert again == outputs
        with pytest.raises(TypeError, match=r"f returns 2 outputs; write a, b = f"):
            _ = again + 1
