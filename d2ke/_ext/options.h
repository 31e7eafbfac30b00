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
};

/* Windows that are rules rather than radii. */
enum {
    DTW_NO_WINDOW = -1,
    DTW_RWS_WINDOW = -2, /* max(min(40, ceil(longer / 10)), difference of the lengths) */
};

typedef struct {
    int64_t ground;
    int64_t window; /* a radius >= 0, widened to the difference of the lengths, or a rule */
} dtw_options;

/* What of the text the pattern is compared with. */
enum { LEV_GLOBAL, LEV_PREFIX, LEV_INFIX };

typedef struct {
    int64_t n_letters; /* letters are 0 .. n_letters-1 */
    int64_t mode;
} levenshtein_options;

enum { SETS_MHD, SETS_DIRECTED_MHD, SETS_HAUSDORFF, SETS_DIRECTED_HAUSDORFF, SETS_CHAMFER };

typedef struct {
    int64_t mode;
    const double *x_norms; /* squared norms of all vectors */
    const double *y_norms;
} sets_options;

#define EMD_TOTAL (INT64_C(1) << 62) /* the mass of every item */

typedef struct {
    int64_t squared; /* whether ground distances are */
    const int64_t *x_masses; /* of all vectors; each item's add up to EMD_TOTAL */
    const int64_t *y_masses;
} emd_options;

#endif
