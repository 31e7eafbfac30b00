/* SPDX-License-Identifier: BSD-3-Clause */
/* What each family's kernel reads beside the items: its own `options` of a d2ke_problem. */
#ifndef D2KE_OPTIONS_H
#define D2KE_OPTIONS_H

#include <stdint.h>

/* How a cell's ground distance is computed. */
enum {
    DTW_PLAIN,   /* |x - y| as the root of the sum of squares           */
    DTW_SQUARED, /* the sum of squares                                  */
    DTW_SAFE,    /* |x - y| where squares may overflow or vanish, slower */
    DTW_ROUGH,   /* |x - y| up to ROUGH_ROOT of it, for bounds             */
};

/* Windows that are rules rather than radii. */
enum {
    DTW_NO_WINDOW = -1,
    DTW_RWS_WINDOW = -2, /* max(min(40, ceil(longer / 10)), difference of the lengths) */
};

typedef struct {
    int64_t ground;
    int64_t window; /* a radius >= 0, widened to the difference of the lengths, or a rule */
    const int64_t *x_observed; /* of each series, how many vectors are not missing; NULL: all */
    const int64_t *y_observed;
} dtw_options;

/* How far from the diagonal a path of series of these lengths may be. */
static inline int64_t dtw_radius(int64_t window, int64_t n, int64_t m)
{
    int64_t longer = n > m ? n : m, difference = n > m ? n - m : m - n;
    if (window == DTW_NO_WINDOW) return longer;
    if (window == DTW_RWS_WINDOW) {
        window = (longer + 9) / 10;
        if (window > 40) window = 40;
    }
    return window > difference ? window : difference;
}

/* What a cell of an elastic distance is given of its vectors. */
enum {
    ELASTIC_OWN,     /* nothing but the vectors                                        */
    ELASTIC_NORM,    /* their ground distance                                          */
    ELASTIC_NORMS,   /* and that of the vectors before                                 */
    ELASTIC_SQUARE,  /* the square of their ground distance                            */
    ELASTIC_WEIGHTS, /* and weights by the distance from the diagonal                  */
};

/* The cells before the first row and column, but for the corner, which is 0. */
enum {
    ELASTIC_NEVER, /* infinite                                                         */
    ELASTIC_SUM,   /* sums of the series' last channel                                 */
    ELASTIC_COUNT, /* numbers of vectors                                               */
    ELASTIC_ZERO,  /* 0, as all cells outside of the band, which else are infinite     */
};

/* What the last cell is to the distance. */
enum {
    ELASTIC_LAST,     /* the distance                                                  */
    ELASTIC_CHANNELS, /* one channel's part of it; they are added up                   */
    ELASTIC_LONGER,   /* divided by the longer length if parameters[1] says so         */
    ELASTIC_SHARE,    /* divided by the shorter length, and added to 1                 */
};

/* The elastic distances: name, what a cell is given, border, result; first those that elastic_cut.h
 * has, too. */
#define ELASTIC_CUT(X)                                                                             \
    X(msm, ELASTIC_OWN, ELASTIC_NEVER, ELASTIC_CHANNELS)                                           \
    X(erp, ELASTIC_NORM, ELASTIC_SUM, ELASTIC_LAST)                                                \
    X(twe, ELASTIC_NORMS, ELASTIC_NEVER, ELASTIC_LAST)                                             \
    X(edr, ELASTIC_NORM, ELASTIC_COUNT, ELASTIC_LONGER)                                            \
    X(lcss, ELASTIC_NORM, ELASTIC_ZERO, ELASTIC_SHARE)                                             \
    X(adtw, ELASTIC_SQUARE, ELASTIC_NEVER, ELASTIC_LAST)                                           \
    X(wdtw, ELASTIC_WEIGHTS, ELASTIC_NEVER, ELASTIC_LAST)                                          \
    X(frechet, ELASTIC_NORM, ELASTIC_NEVER, ELASTIC_LAST)
#define ELASTIC_DISTANCES(X)                                                                       \
    ELASTIC_CUT(X)                                                                                 \
    X(msm_dependent, ELASTIC_OWN, ELASTIC_NEVER, ELASTIC_LAST)                                     \
    X(dtw_euclidean, ELASTIC_NORM, ELASTIC_NEVER, ELASTIC_LAST)                                    \
    X(dtw_manhattan, ELASTIC_OWN, ELASTIC_NEVER, ELASTIC_LAST)                                     \
    X(dtw_haversine, ELASTIC_OWN, ELASTIC_NEVER, ELASTIC_LAST)

enum {
#define X(name, cell, border, result) ELASTIC_##name,
    ELASTIC_DISTANCES(X)
#undef X
    ELASTIC_COUNT_OF_ALL
};

typedef struct {
    int64_t window;           /* as of a dtw_options */
    int64_t dim;              /* channels of the series; their items may carry more */
    int64_t safe;             /* whether squares may overflow or vanish */
    const double *parameters; /* the distance's own, see elastic_cells.h */
} elastic_options;

/* What of the text the pattern is compared with. */
enum { LEV_GLOBAL, LEV_PREFIX, LEV_INFIX, LEV_LOCAL };

typedef struct {
    int64_t n_letters; /* letters are 0 .. n_letters-1 */
    int64_t mode;
    int64_t swaps; /* whether neighbouring letters may be transposed */
    int64_t own_block; /* from this block on, each pattern has a lane of its own */
    int64_t own_bits; /* of 8, 16 or 32 bits */
    int64_t alone; /* the fewest bits of a lane that a pattern has for itself; 0: lanes are shared */
    double prefix_weight; /* of Jaro-Winkler */
} levenshtein_options;

/* Letters are in classes of the same costs; those of x are deleted, those of y inserted. */
typedef struct {
    int64_t n_letters;
    int64_t mode;
    int64_t affine; /* whether the first letter of a run of deletions or insertions costs more */
    int64_t n_classes;
    const uint32_t *classes;    /* of each letter */
    const double *substitution; /* n_classes * n_classes: of a letter by another one */
    const double *equal;        /* of a letter by itself, and so on, for each class */
    const double *delete_first;
    const double *delete_next;
    const double *insert_first;
    const double *insert_next;
    double transposition; /* of two neighbouring letters; infinite: none */
} weighted_options;

typedef struct {
    int64_t words; /* 64-bit words of a set's bits, or 0: sets are lists that ascend */
    const int64_t *x_sizes;
    const int64_t *y_sizes;
} jaccard_options;

enum { SETS_MHD, SETS_DIRECTED_MHD, SETS_HAUSDORFF, SETS_DIRECTED_HAUSDORFF, SETS_CHAMFER };

typedef struct {
    int64_t mode;
    const double *x_norms; /* squared norms of all vectors */
    const double *y_norms;
} sets_options;

#define EMD_TOTAL (INT64_C(1) << 62) /* the mass of every item */

/* What goes from where to where; room for one arc less than both items have vectors. */
typedef struct {
    int64_t n;
    int64_t *from; /* number of a vector in x's item */
    int64_t *to;
    int64_t *mass;
    double *apart; /* its ground distance */
} emd_flow;

typedef struct {
    int64_t squared; /* whether ground distances are */
    const int64_t *x_masses; /* of all vectors; each item's add up to EMD_TOTAL */
    const int64_t *y_masses;
    emd_flow *flow; /* the optimal flow of a single pair is left there, unless NULL */
} emd_options;

#endif
