# SPDX-License-Identifier: BSD-3-Clause
"""A user's own distance in the place of a kernel."""

import numpy as np

from cpython.pycapsule cimport (PyCapsule_GetContext, PyCapsule_GetName,
                                PyCapsule_GetPointer)
from libc.stdint cimport int32_t, int64_t, uintptr_t

from d2ke._ext.pairwise cimport PairwiseKernel
from d2ke._ext.pairwise import by_length
from d2ke._ext.isa cimport d2ke_length, d2ke_poll, d2ke_problem, d2ke_stopped
from d2ke._ext.tasks cimport fail

ctypedef double (*vectors_function)(const double *, int64_t, const double *, int64_t, int64_t,
                                    void *) noexcept nogil
ctypedef double (*strings_function)(const int32_t *, int64_t, const int32_t *, int64_t,
                                    void *) noexcept nogil


cdef struct Options:
    void *function
    void *user_data


cdef void call_vectors(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                       double *result, const d2ke_poll *poll) noexcept nogil:
    if d2ke_stopped(poll):
        return
    cdef const Options *options = <const Options *> p.options
    cdef int64_t column = p.order[p.blocks[block]]
    cdef const double *x = <const double *> p.x.values + p.x.offsets[row] * p.x.dim
    cdef const double *y = <const double *> p.y.values + p.y.offsets[column] * p.y.dim
    result[0] = (<vectors_function> options.function)(
        x, d2ke_length(&p.x, row), y, d2ke_length(&p.y, column), p.x.dim, options.user_data)


cdef void call_strings(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                       double *result, const d2ke_poll *poll) noexcept nogil:
    if d2ke_stopped(poll):
        return
    cdef const Options *options = <const Options *> p.options
    cdef int64_t column = p.order[p.blocks[block]]
    cdef const int32_t *x = <const int32_t *> p.x.values + p.x.offsets[row]
    cdef const int32_t *y = <const int32_t *> p.y.values + p.y.offsets[column]
    result[0] = (<strings_function> options.function)(
        x, d2ke_length(&p.x, row), y, d2ke_length(&p.y, column), options.user_data)


cdef PairwiseKernel finish(PairwiseKernel pairs, uintptr_t function, uintptr_t user_data, n,
                           bint same, x_offsets):
    cdef Options options
    identity = np.arange(n)
    pairs.set_order(identity if same else by_length(x_offsets, True), identity, np.arange(n + 1))
    options.function = <void *> function
    options.user_data = <void *> user_data
    pairs.set_options(&options, sizeof(options))
    pairs.scratch_bytes = 64
    pairs.block_outer = False
    pairs.user_defined = True
    return pairs


def vectors(uintptr_t function, uintptr_t user_data, const double[:, ::1] x,
            const int64_t[::1] x_offsets, const double[:, ::1] y, const int64_t[::1] y_offsets,
            bint same, keep):
    """Prepare double f(x, n_x, y, n_y, dim, user_data)."""
    cdef PairwiseKernel pairs = PairwiseKernel()
    pairs.set_items(&x[0, 0], x_offsets, &y[0, 0], y_offsets, x.shape[1], (x, y, keep))
    pairs.kernel = call_vectors
    return finish(pairs, function, user_data, y_offsets.shape[0] - 1, same, x_offsets)


def strings(uintptr_t function, uintptr_t user_data, const int32_t[::1] x,
            const int64_t[::1] x_offsets, const int32_t[::1] y, const int64_t[::1] y_offsets,
            bint same, keep):
    """Prepare double f(x, n_x, y, n_y, user_data) on letters."""
    cdef PairwiseKernel pairs = PairwiseKernel()
    pairs.set_items(&x[0], x_offsets, &y[0], y_offsets, 1, (x, y, keep))
    pairs.kernel = call_strings
    return finish(pairs, function, user_data, y_offsets.shape[0] - 1, same, x_offsets)


cdef void call_python(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                      double *result, const d2ke_poll *poll) noexcept with gil:
    cdef object values = <object> (<const Options *> p.options).function
    cdef int64_t first = p.blocks[block], i, s
    try:
        columns = [p.order[s] for s in range(first, p.blocks[block + 1])]
        for i, value in enumerate(values(row, columns)):
            result[i] = value
    except BaseException as error:
        fail(poll, error)


def python(values, int64_t n, int64_t m, int64_t width=1):
    """Prepare a Python callable for n rows and m columns.

    ``values(row, columns)`` yields as many distances as the list has columns, at most `width`.
    """
    cdef PairwiseKernel pairs = PairwiseKernel()
    cdef Options options
    pairs.set_items(NULL, np.arange(n + 1), NULL, np.arange(m + 1), 1, values)
    edges = np.append(np.arange(0, m, width), m)
    pairs.set_order(np.arange(n), np.arange(m), edges)
    options.function = <void *> values
    options.user_data = NULL
    pairs.set_options(&options, sizeof(options))
    pairs.kernel = call_python
    pairs.scratch_bytes = 64
    return pairs


def addresses(function):
    """Addresses of the code and of the user data of a scipy.LowLevelCallable."""
    capsule = tuple.__getitem__(function, 0)
    return (<uintptr_t> PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)),
            <uintptr_t> PyCapsule_GetContext(capsule))
