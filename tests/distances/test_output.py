# SPDX-License-Identifier: BSD-3-Clause
"""The options of functions that fill a matrix are checked once, in the caller's words."""

from pathlib import Path

import numpy as np
import pytest

from d2ke.distances.output import Output


def test_values_are_converted():
    output = Output("file.h5", "float32", "1 kB", resume=True, n_threads=2)
    assert (output.out, output.dtype, output.max_memory) == (Path("file.h5"), np.float32, 1000)
    assert output.to_file
    assert not output.lazy
    assert Output(n_threads=3, client=object()).n_threads == 3
    assert Output(client=object()).n_threads == 1
    assert Output(client=object()).lazy
    assert Output().n_threads >= 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"resume": 1, "out": "file.h5"}, TypeError, "resume must be True or False, got 1"),
        ({"resume": True}, TypeError, "resume goes with a file.*out is NoneType"),
        ({"dtype": "int32"}, TypeError, "dtype must be float64 or float32, got int32"),
        ({"dtype": "float32", "out": np.empty((1, 1))}, TypeError, "out holds float64"),
        ({"max_memory": "much"}, ValueError, "max_memory must be a number of bytes"),
        ({"max_memory": 10**9, "client": object()}, TypeError, "max_memory goes with out"),
        ({"n_threads": 0}, ValueError, "n_threads must be at least 1, got 0"),
        ({"n_threads": 0, "client": object()}, ValueError, "n_threads must be at least 1, got 0"),
    ],
)
def test_refused(options, error, message):
    with pytest.raises(error, match=message):
        Output(**options)
