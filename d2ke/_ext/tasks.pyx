# SPDX-License-Identifier: BSD-3-Clause
"""The one parallel loop: threads take numbered tasks from a shared counter.

The calling thread is thread 0 of the team; it alone takes the GIL, every 50 ms, to
let Python handle signals and to report progress, also while it waits for the
others at the end.
"""

from cython.parallel cimport parallel, threadid
from libc.stdint cimport int64_t
from libc.string cimport memset
from cpython.exc cimport PyErr_CheckSignals

from d2ke._ext.isa cimport d2ke_fetch_add, d2ke_load, d2ke_poll, d2ke_store

cdef extern from "clock.h":
    double d2ke_seconds() noexcept nogil
    void d2ke_nap() noexcept nogil

cdef enum:
    # Operations that a thread is worth starting for, about a millisecond: of most of them, the
    # vector units do about ten a nanosecond. Where other programs use the cores, a team waits for
    # them longer.
    THREAD_WORK = 10000000


cdef struct Shared:
    int64_t next_task
    int64_t stop
    int64_t running         # threads still at work
    int64_t done
    int64_t total
    double last_check
    void *owner             # the Loop, for thread 0's visits to Python


cdef class Loop:
    """The state that thread 0 needs when it calls Python."""
    cdef object progress
    cdef object error
    cdef Shared shared

    def visit(self):
        PyErr_CheckSignals()
        if self.progress is not None:
            self.progress(self.shared.done, self.shared.total)


cdef int check(void *state, int thread) noexcept nogil:
    """Return whether to stop; thread 0 calls Python when it is time."""
    cdef Shared *shared = <Shared *> state
    cdef double now
    if thread == 0 and not d2ke_load(&shared.stop):
        now = d2ke_seconds()
        if now - shared.last_check >= 0.05:
            with gil:
                loop = <Loop> shared.owner
                try:
                    loop.visit()
                except BaseException as error:
                    loop.error = error
                    d2ke_store(&shared.stop, 1)
            shared.last_check = d2ke_seconds()
    return d2ke_load(&shared.stop) != 0


cdef void work(d2ke_task task, void *context, int64_t n_tasks, Shared *shared,
               int thread) noexcept nogil:
    """Take tasks until there are none left; thread 0 then polls until all have ended."""
    cdef d2ke_poll poll
    cdef int64_t k
    poll.check = check
    poll.state = shared
    poll.thread = thread
    d2ke_fetch_add(&shared.running, 1)
    while not check(shared, thread):
        k = d2ke_fetch_add(&shared.next_task, 1)
        if k >= n_tasks:
            break
        task(context, k, &poll)
    d2ke_fetch_add(&shared.running, -1)
    if thread == 0:
        while d2ke_load(&shared.running) > 0:
            check(shared, thread)
            d2ke_nap()


cdef run(d2ke_task task, void *context, int64_t n_tasks, int n_threads, progress=None,
         int64_t total=0):
    cdef Loop loop = Loop()
    cdef Shared *shared = &loop.shared
    memset(shared, 0, sizeof(Shared))
    shared.total = total
    shared.owner = <void *> loop
    shared.last_check = d2ke_seconds()
    loop.progress = progress
    with nogil, parallel(num_threads=n_threads):
        work(task, context, n_tasks, shared, threadid())
    if loop.error is not None:
        raise loop.error


cdef void advance(const d2ke_poll *poll, int64_t n) noexcept nogil:
    d2ke_fetch_add(&(<Shared *> poll.state).done, n)


cdef void stop(const d2ke_poll *poll) noexcept nogil:
    d2ke_store(&(<Shared *> poll.state).stop, 1)


cdef void fail(const d2ke_poll *poll, object error):
    (<Loop> (<Shared *> poll.state).owner).error = error
    stop(poll)


cdef int worth(int n_threads, double work, int64_t n_tasks):
    return <int> max(1.0, min(min(<double> n_threads, <double> n_tasks), 1 + work / THREAD_WORK))
