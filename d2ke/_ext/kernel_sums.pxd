# SPDX-License-Identifier: BSD-3-Clause
from libc.stdint cimport int64_t

from d2ke._ext.isa cimport d2ke_poll

ctypedef void (*d2ke_task)(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil

# Tasks in parallel, with looks for Ctrl-C.
cdef run(d2ke_task task, void *context, int64_t n_tasks, int n_threads)
# Threads that are worth starting.
cdef int worth(int n_threads, double pairs, int64_t n_tasks)
