# SPDX-License-Identifier: BSD-3-Clause
"""The OpenMP runtime of this process."""

cdef extern from *:
    """
    #ifdef _OPENMP
    #include <omp.h>
    static int d2ke_openmp(void) { return _OPENMP; }
    static int d2ke_max_threads(void) { return omp_get_max_threads(); }
    #else
    static int d2ke_openmp(void) { return 0; }
    static int d2ke_max_threads(void) { return 1; }
    #endif
    """
    int d2ke_openmp() nogil
    int d2ke_max_threads() nogil


def version():
    """The date of the OpenMP standard (yyyymm), or 0 where the build has no OpenMP."""
    return d2ke_openmp()


def max_threads():
    """Threads that OpenMP would use: the processors open to this process, or OMP_NUM_THREADS."""
    return d2ke_max_threads()
