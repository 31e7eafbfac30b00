# SPDX-License-Identifier: BSD-3-Clause
from libc.stdint cimport int64_t

from d2ke._ext.isa cimport d2ke_poll

cdef enum:
    POLL_WORK = 200000      # elementary operations between two looks at the clock

ctypedef void (*d2ke_task)(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil

# Run tasks 0 .. n_tasks-1; `progress(done, total)` hears of what they `advance` by.
cdef run(d2ke_task task, void *context, int64_t n_tasks, int n_threads, progress=*,
         int64_t total=*)
# A task has finished so many of the run's `total`.
cdef void advance(const d2ke_poll *poll, int64_t n) noexcept nogil
# Start no more tasks; d2ke_stopped is true from now on.
cdef void stop(const d2ke_poll *poll) noexcept nogil
# As `stop`; `run` raises the error.
cdef void fail(const d2ke_poll *poll, object error)
# Threads that are worth starting for so many elementary operations.
cdef int worth(int n_threads, double work, int64_t n_tasks)
