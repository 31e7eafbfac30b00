# SPDX-License-Identifier: BSD-3-Clause
"""Elementary functions whose bits are the same on every system; see elementary.h."""

import numpy as np

ctypedef double (*Function)(double) noexcept nogil

cdef Function[4] _functions
_functions[0], _functions[1] = d2ke_one_exp, d2ke_one_expm1
_functions[2], _functions[3] = d2ke_one_sine_of_degrees, d2ke_one_arcsine
NAMES = "exp", "expm1", "sine_of_degrees", "arcsine"


def apply(str name, const double[:] values):
    """Return a function, one of `NAMES`, of each value."""
    cdef Function function = _functions[<int> NAMES.index(name)]
    cdef Py_ssize_t i
    result = np.empty(values.shape[0])
    cdef double[::1] out = result
    for i in range(values.shape[0]):
        out[i] = function(values[i])
    return result
