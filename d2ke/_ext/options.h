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
