# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that nobody can write to."""

import numpy as np

from cpython.buffer cimport (
    PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer,
)


cdef class Frozen:
    """The memory of an array, read-only; the array itself cannot be reached through it."""

    cdef Py_buffer _memory
    cdef bint _held

    def __cinit__(self, array):
        PyObject_GetBuffer(array, &self._memory, PyBUF_SIMPLE)
        self._held = True

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self._memory.buf, self._memory.len, 1, flags)

    def __dealloc__(self):
        if self._held:
            PyBuffer_Release(&self._memory)


def freeze(array):
    """Return a read-only array over the memory of a C-contiguous one, which is not copied.

    numpy refuses to make it writeable. The array given must not be kept.
    """
    return np.ndarray(array.shape, array.dtype, buffer=Frozen(array))


def is_frozen(array):
    """Return whether the memory of an array is that of a frozen one."""
    base = array.base
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, Frozen)
