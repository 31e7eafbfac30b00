# SPDX-License-Identifier: BSD-3-Clause
from libc.stdint cimport int8_t, int64_t, uint8_t, uint16_t

cdef extern from "kernel.h":
    ctypedef struct d2ke_items:
        const void *values
        const int64_t *offsets
        int64_t n
        int64_t dim
        int64_t longest

    ctypedef struct d2ke_problem:
        d2ke_items x
        d2ke_items y
        const int64_t *order
        const int64_t *blocks
        int64_t n_blocks
        const void *options

    ctypedef struct d2ke_poll:
        int (*check)(void *state, int thread) noexcept nogil
        void *state
        int thread

    ctypedef void (*d2ke_kernel)(const d2ke_problem *, int64_t, int64_t, void *, double *,
                                 const d2ke_poll *) noexcept nogil
    ctypedef size_t (*d2ke_scratch)(const d2ke_problem *) noexcept nogil

    ctypedef struct d2ke_rows:
        int64_t first
        int64_t last
        int64_t columns
        int64_t radius
        void *state
        uint8_t *ways
        int64_t row_bytes
        double value
        int64_t best
        const int64_t *pairs
        const int8_t *steps
        int64_t n_steps
        double *costs

    ctypedef void (*d2ke_trace)(const d2ke_problem *, void *, d2ke_rows *,
                                const d2ke_poll *) noexcept nogil

    ctypedef struct d2ke_ways:
        uint16_t *table
        int64_t stride
        int64_t shift

    ctypedef void (*d2ke_ways_kernel)(const d2ke_problem *, int64_t, int64_t, void *, double *,
                                      d2ke_ways *, const d2ke_poll *) noexcept nogil
    int64_t d2ke_ways_width(int64_t, int64_t) noexcept nogil

    ctypedef void (*d2ke_exp)(double *, int64_t, double, double) noexcept nogil

    ctypedef struct d2ke_cloud:
        const double *points
        const double *vectors
        int64_t stride
        int64_t dim
        int64_t channels

    cdef enum:
        D2KE_FREQUENCIES
        D2KE_SERIES_POINTS

    ctypedef void (*d2ke_pair_sums)(const d2ke_cloud *, int64_t, int64_t, const d2ke_cloud *,
                                    int64_t, int64_t, int, double, double *,
                                    double *) noexcept nogil
    ctypedef void (*d2ke_pair_row)(const d2ke_cloud *, int64_t, int64_t, int64_t, int, double,
                                   double, double *) noexcept nogil
    ctypedef void (*d2ke_fourier_sums)(const double *, const double *, int64_t, int64_t, int64_t,
                                       int64_t, const double *, int64_t, int,
                                       double *) noexcept nogil
    ctypedef void (*d2ke_taylor_sums)(const double *, const double *, int64_t, int64_t, int64_t,
                                      int64_t, int64_t, int64_t, double *, double *) noexcept nogil
    ctypedef void (*d2ke_series_sums)(const double *, const double *, int64_t, int64_t, int64_t,
                                      int64_t, int64_t, const int64_t *, const double *,
                                      double *, double *) noexcept nogil

    ctypedef struct warp_bounds:
        pass

    ctypedef void (*d2ke_warp_fill)(const warp_bounds *, const int64_t *, int64_t, float *,
                                    int64_t, void *, const d2ke_poll *) noexcept nogil
    ctypedef float (*d2ke_warp_tighten)(const warp_bounds *, int64_t, void *, int64_t,
                                        float) noexcept nogil
    ctypedef void (*d2ke_warp_narrow)(const warp_bounds *, int64_t, void *, const int64_t *,
                                      int64_t, const float *, float *,
                                      const d2ke_poll *) noexcept nogil

    ctypedef struct elastic_bounds:
        pass

    ctypedef void (*d2ke_elastic_narrow)(const elastic_bounds *, int64_t, void *, const int64_t *,
                                         int64_t, const float *, float *,
                                         const d2ke_poll *) noexcept nogil

    ctypedef struct cost_bounds:
        pass

    ctypedef void (*d2ke_cost_fill)(const cost_bounds *, const int64_t *, int64_t, float *,
                                    int64_t, void *, const d2ke_poll *) noexcept nogil
    ctypedef void (*d2ke_cost_begin)(const cost_bounds *, int64_t, void *) noexcept nogil
    ctypedef void (*d2ke_cost_narrow)(const cost_bounds *, int64_t, void *, const int64_t *,
                                      int64_t, const float *, float *,
                                      const d2ke_poll *) noexcept nogil

    ctypedef struct d2ke_windows:
        pass
    ctypedef struct window_chunk "struct window_chunk":
        pass

    ctypedef void (*d2ke_window_row)(const d2ke_windows *, int64_t, const window_chunk *, int64_t,
                                     void *, float *, const d2ke_poll *) noexcept nogil
    ctypedef void (*d2ke_window_profile)(const d2ke_windows *, int64_t, const window_chunk *,
                                         int64_t, int64_t, void *, double *) noexcept nogil

    ctypedef struct d2ke_profile:
        pass
    ctypedef void (*d2ke_profile_band)(const d2ke_profile *, int64_t, int64_t, double *, double *,
                                       int64_t *, const d2ke_poll *) noexcept nogil

    ctypedef struct d2ke_table:
        const char *name
        int64_t vector_bytes
        d2ke_kernel dtw[2]
        d2ke_scratch dtw_scratch[2]
        const d2ke_kernel *elastic
        d2ke_scratch elastic_scratch
        const d2ke_trace *elastic_rows
        const d2ke_ways_kernel *elastic_ways
        d2ke_kernel levenshtein
        d2ke_kernel levenshtein_part
        d2ke_kernel osa
        d2ke_kernel indel
        d2ke_kernel jaro
        d2ke_scratch levenshtein_scratch
        d2ke_kernel damerau[2]
        d2ke_scratch damerau_scratch[2]
        d2ke_trace damerau_rows
        d2ke_trace osa_rows
        d2ke_kernel weighted
        d2ke_scratch weighted_scratch
        d2ke_trace weighted_rows
        d2ke_kernel hamming[2]
        d2ke_kernel jaccard
        d2ke_kernel sets[2]
        d2ke_scratch sets_scratch[2]
        d2ke_kernel emd
        d2ke_scratch emd_scratch
        d2ke_exp exp_features
        d2ke_pair_sums pair_sums
        d2ke_pair_row pair_row
        d2ke_fourier_sums fourier_sums
        d2ke_taylor_sums taylor_sums
        d2ke_series_sums series_sums
        d2ke_warp_fill warp_fill
        d2ke_warp_tighten warp_tighten
        d2ke_warp_narrow warp_narrow
        d2ke_window_row window_row
        d2ke_window_profile window_profile
        d2ke_kernel window_pairs
        d2ke_scratch window_pairs_scratch
        const d2ke_elastic_narrow *elastic_narrow
        d2ke_cost_fill cost_fill
        d2ke_cost_begin cost_begin
        d2ke_cost_narrow cost_narrow
        d2ke_profile_band profile_band

    int d2ke_stopped(const d2ke_poll *) noexcept nogil
    int64_t d2ke_length(const d2ke_items *, int64_t) noexcept nogil
    void d2ke_add_exactly(double, double *, double *) noexcept nogil
    int64_t d2ke_fetch_add(int64_t *, int64_t) noexcept nogil
    int64_t d2ke_load(const int64_t *) noexcept nogil
    void d2ke_store(int64_t *, int64_t) noexcept nogil

cdef const d2ke_table *current() noexcept nogil
