/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic time warping up to a limit, of one series against one in each lane, in float32 and with
 * rough roots: a lower bound for the caller, who allows for that.
 *
 * A cell is alive in a lane if its value and what the columns behind it need at least, by the
 * envelope of x, do not exceed the limit (Rakthanmanon et al. 2012).  Rows before the first and
 * after the last that some lane has alive are left out of a strip (Herrmann & Webb 2021), and the
 * rest of the table where none is alive.  Columns behind the end of a lane's series are NaN: no
 * comparison finds them alive.
 */
#include "warping.h"
#include "dtw_tile.h"

#if defined(__clang__)
D2KE_INLINE v_f32 shuffle_f32(v_f32 a, v_f32 b, v_i32 lanes)
{
    v_f32 result;
    for (int i = 0; i < LANES_f32; i++)
        result[i] = lanes[i] < LANES_f32 ? a[lanes[i]] : b[lanes[i] - LANES_f32];
    return result;
}
#else
D2KE_INLINE v_f32 shuffle_f32(v_f32 a, v_f32 b, v_i32 lanes) { return __builtin_shuffle(a, b, lanes); }
#endif

/* Whether a tile's last row has a cell alive; the columns that may be NaN come first. */
D2KE_INLINE int cut_alive(const v_f32 *top, v_f32 room)
{
    v_f32 least = top[DTW_COLS - 1];
    D2KE_UNROLL for (int c = DTW_COLS - 2; c >= 0; c--) least = min_f32(least, top[c]);
    return any_f32(least <= room);
}

/* One strip, from row `begin` on, at least to row `reached`; returns where it stopped. */
D2KE_INLINE int64_t cut_strip(const int fixed_dim, const int ground, int64_t dim, const float *x,
                              const v_f32 *y, v_f32 *left, v_f32 *top, v_f32 diagonal,
                              int64_t begin, int64_t inner, int64_t outer, int64_t end,
                              int64_t column, v_f32 radius, int64_t reached, v_f32 room)
{
    int64_t i = begin;
    v_f32 mine[DTW_COLS];
    D2KE_UNROLL for (int c = 0; c < DTW_COLS; c++) mine[c] = set_f32(INFINITY);
#define CUT_TILES(keyword, rows, banded, condition)                                                \
    keyword (i + rows <= end && (condition)) {                                                     \
        dtw_tile_f32(rows, DTW_COLS, fixed_dim, ground, banded, 0, dim, x + i * dim, y, left + i,  \
                     &diagonal, mine, i - column, radius, 0, 0);                                   \
        i += rows;                                                                                 \
        if (i > reached && !cut_alive(mine, room)) goto stop;                                      \
    }
    while (i < end) {
        CUT_TILES(while, DTW_ROWS, 0, i >= inner && i + DTW_ROWS <= outer)
        CUT_TILES(if, DTW_ROWS, 1, DTW_ROWS > 1)
        else CUT_TILES(if, 1, 1, 1)
    }
#undef CUT_TILES
stop:
    D2KE_UNROLL for (int c = 0; c < DTW_COLS; c++) top[c] = mine[c];
    return i;
}

/* The rows of a square of numbers become its columns, by exchanging ever smaller halves. */
D2KE_INLINE void cut_turn(v_f32 *rows)
{
    D2KE_UNROLL for (int half = LANES_f32 / 2; half > 0; half /= 2) {
        v_i32 low, high;
        D2KE_UNROLL for (int lane = 0; lane < LANES_f32; lane++) {
            low[lane] = lane & half ? LANES_f32 + (lane ^ half) : lane;
            high[lane] = lane & half ? LANES_f32 + lane : lane ^ half;
        }
        D2KE_UNROLL for (int r = 0; r < LANES_f32; r++)
            if (!(r & half)) {
                v_f32 a = rows[r], b = rows[r + half];
                rows[r] = shuffle_f32(a, b, low);
                rows[r + half] = shuffle_f32(a, b, high);
            }
    }
}

/* The series of the lanes side by side, and NaN behind them; what follows a series is read. */
static int64_t cut_pack(const warp_lanes *w, v_f32 *packed)
{
    int64_t longest = 0, shortest = INT64_MAX, all;
    v_f32 size, nothing = set_f32(NAN);
    for (int lane = 0; lane < LANES_f32; lane++) {
        if (w->lengths[lane] > longest) longest = w->lengths[lane];
        if (w->lengths[lane] < shortest) shortest = w->lengths[lane];
        size[lane] = (float)w->lengths[lane];
    }
    longest = d2ke_round_up(longest, DTW_COLS);
    all = longest * w->dim;
    for (int64_t t = 0; t < all; t += LANES_f32) {
        v_f32 rows[LANES_f32];
        D2KE_UNROLL for (int lane = 0; lane < LANES_f32; lane++)
            memcpy(rows + lane, w->y[lane] + t, sizeof rows[lane]);
        cut_turn(rows);
        memcpy(packed + t, rows, sizeof rows);
    }
    for (int64_t j = shortest; j < longest; j++) {
        v_i32 inside = set_f32((float)j) < size;
        for (int64_t t = j * w->dim; t < (j + 1) * w->dim; t++)
            packed[t] = select_f32(inside, packed[t], nothing);
    }
    return longest;
}

/* rest[s]: what the columns of strip s and behind it need at least. */
static void cut_rest(const warp_lanes *w, const v_f32 *y, int64_t columns, v_f32 *rest)
{
    v_f32 total = {0}, zero = {0};
    rest[columns / DTW_COLS] = total;
    for (int64_t j = columns - 1; j >= 0; j--) {
        v_f32 squares = {0};
        for (int64_t c = 0; c < w->dim; c++) {
            v_f32 point = y[j * w->dim + c];
            v_f32 outside = min_f32(min_f32(set_f32(w->high[c * w->stride + j]) - point,
                                            point - set_f32(w->low[c * w->stride + j])), zero);
            squares += outside * outside;
            if (w->dim == 1 && w->root) total -= outside;
        }
        if (!w->root) total += squares;
        else if (w->dim > 1) total += rough_sqrt_f32(squares);
        if (j % DTW_COLS == 0) rest[j / DTW_COLS] = total;
    }
}

D2KE_INLINE void cut_lanes(const int fixed_dim, const int ground, warp_lanes *w, int64_t columns,
                           const v_f32 *y, v_f32 *left, const v_f32 *rest, const d2ke_poll *poll)
{
    int64_t n = w->n, dim = w->dim, widest = 0, narrowest = INT64_MAX, work = 0;
    int64_t first = 0, last = 0, written = 0; /* alive rows of `left`, and the end of its values */
    v_f32 radius = {0}, limit;
    memcpy(&limit, w->limits, sizeof limit);
    for (int lane = 0; lane < LANES_f32; lane++) {
        int64_t r = dtw_radius(w->window, n, w->lengths[lane]);
        radius[lane] = (float)r;
        if (r > widest) widest = r;
        if (r < narrowest) narrowest = r;
        w->result[lane] = INFINITY;
    }
    if (w->window == DTW_NO_WINDOW) widest = narrowest = n + columns;
    for (int64_t i = 0; i < n; i++) left[i] = set_f32(INFINITY);
    for (int64_t j = 0; j < columns; j += DTW_COLS) {
        int64_t begin = j > widest ? j - widest : 0;
        int64_t end = j + DTW_COLS + widest < n ? j + DTW_COLS + widest : n;
        int64_t inner = j + DTW_COLS - 1 > narrowest ? j + DTW_COLS - 1 - narrowest : 0;
        int64_t outer = j + narrowest + 1 < n ? j + narrowest + 1 : n, stop;
        v_f32 top[DTW_COLS], room = limit - rest[j / DTW_COLS + 1];
        v_f32 diagonal = set_f32(j == 0 ? 0 : INFINITY);
        if (begin <= first) begin = first;
        else if (begin <= n) diagonal = left[begin - 1];
        if (begin >= end) return;
        if (inner < begin) inner = begin;
        if (outer < inner) inner = outer = end;
        stop = cut_strip(fixed_dim, ground, dim, w->x, y + j * dim, left, top, diagonal, begin,
                         inner, outer, end, j, radius, last + 1, room);
        if (stop == n)
            for (int lane = 0; lane < LANES_f32; lane++) {
                int64_t c = w->lengths[lane] - 1 - j;
                if (c >= 0 && c < DTW_COLS && top[c][lane] <= limit[lane])
                    w->result[lane] = top[c][lane];
            }
        for (int64_t i = stop; i < written; i++) left[i] = set_f32(INFINITY);
        written = stop;
        for (first = begin; first < stop && !any_f32(left[first] <= room); first++) continue;
        if (first == stop) return;
        for (last = stop - 1; !any_f32(left[last] <= room); last--) continue;
        work += (stop - begin) * dim * DTW_COLS;
        if (work > 300000) {
            work = 0;
            if (d2ke_stopped(poll)) return;
        }
    }
}

void ISA_(dtw_cut)(warp_lanes *w, const d2ke_poll *poll)
{
    v_f32 *y = (v_f32 *)w->scratch;
    int64_t columns = cut_pack(w, y);
    v_f32 *rest = y + columns * w->dim, *left = rest + columns / DTW_COLS + 1;
    cut_rest(w, y, columns, rest);
#define CUT_CALL(dim, ground) cut_lanes(dim, ground, w, columns, y, left, rest, poll)
    if (!w->root) {
        if (w->dim == 1) CUT_CALL(1, DTW_SQUARED);
        else CUT_CALL(0, DTW_SQUARED);
    } else if (w->dim == 1) {
        CUT_CALL(1, DTW_PLAIN);
    } else if (w->dim == 3) {
        CUT_CALL(3, DTW_ROUGH);
    } else {
        CUT_CALL(0, DTW_ROUGH);
    }
#undef CUT_CALL
}

#undef vec
#undef real
#undef mask
#undef LANES
