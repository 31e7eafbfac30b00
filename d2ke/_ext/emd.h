/* SPDX-License-Identifier: BSD-3-Clause */
/* Earth mover's distance: the exact optimum of the transportation problem.
 *
 * Items come as measures: distinct vectors in lexicographic order and positive
 * masses, integers of sum EMD_TOTAL (emd.pyx makes them so), in an emd_options.  Vectors of
 * one dimension are matched in their order.  All else is a primal network
 * simplex on a dense bipartite graph; the smaller item's vectors are the rows,
 * between items of one size the lexicographically smaller one's, so that the
 * order of the pair cannot change a bit of the result.
 *
 * All arithmetic on flows, costs and potentials is on integers, and exact.
 * Costs are ground distances in units of 2^-EMD_COST_BITS of the largest (a
 * coarser unit where sums along a path of the tree might overflow); the
 * distance is the sum of the ground distances themselves, in float64, over the
 * optimal tree.  If it is far below the largest one, as between items of equal
 * clusters far apart, this unit loses its digits: then larger costs count as a
 * smaller cap, with its unit.  If no flow of that optimum costs the cap, it is
 * the optimum of all costs, too.
 * The simplex ends when no reduced cost is negative, and it does end:
 * the tree is kept strongly feasible (from each vertex some mass can go to
 * the root; Cunningham 1976), so that no tree occurs twice.
 */
#ifndef D2KE_EMD_H
#define D2KE_EMD_H

#define EMD_COST_BITS 52
#define EMD_POTENTIAL_BITS 60           /* potentials stay below 2^60 in size            */
#define EMD_NEVER (INT64_C(1) << 60)    /* the cost of what only fills a register        */
#define EMD_CLOSED (-EMD_NEVER)         /* the potential of a column that takes no more  */
#define EMD_LEAST 1e-200                /* lesser squares may have lost digits           */
#define EMD_NEAR 0x1p20                 /* distances down to the cap / EMD_NEAR are kept */
#define EMD_CAP 0x1p12                  /* the next cap, in units of the distance        */

/* A vertex of the tree: rows and columns alike. */
typedef struct {
    int64_t flow;   /* between the vertex and its parent, always from row to column */
    int32_t parent; /* -1: the root                                                 */
    int32_t next;   /* all vertices in a ring, each subtree's after its top          */
    int32_t previous;
    int32_t depth;
} emd_vertex;

typedef struct {
    double *units;       /* [units][dim][LANES] x's vectors, transposed; outlive the call */
    v_f64 *tile;         /* [TILE_COLUMNS]                                                */
    char *cost;          /* [rows][stride] float64, then int64                            */
    int64_t *potential;  /* [stride + rows]; vertices are numbered so: columns, then rows */
    emd_vertex *vertex;  /* [stride + rows]                                               */
} emd_parts;

typedef struct {
    const double *values;
    const int64_t *mass;
    int64_t n;
} emd_measure;

typedef struct {
    emd_vertex *vertex;
    int64_t *potential;
    const int64_t *cost;
    int64_t rows;
    int64_t columns;
    int64_t stride; /* columns rounded up to whole registers; row i is vertex stride + i */
    sets_meter *meter;
} emd_tree;

static size_t emd_layout(const d2ke_problem *p, char *base, emd_parts *parts)
{
    const int64_t d = p->x.dim, units = (p->x.longest + LANES_f64 - 1) / LANES_f64;
    const int64_t rows = sets_smaller(p->x.longest, p->y.longest);
    const int64_t stride = d2ke_round_up(sets_larger(p->x.longest, p->y.longest), LANES_f64);
    size_t at = sizeof(d2ke_cache);
#define PART(name, n)                                    \
    if (base) parts->name = (void *)(base + at);         \
    at += (size_t)d2ke_round_up((n) * (int64_t)sizeof *parts->name, 64);
    PART(units, units * d * LANES_f64)
    PART(tile, TILE_COLUMNS)
    PART(cost, rows * stride * (int64_t)sizeof(int64_t))
    PART(potential, stride + rows)
    PART(vertex, stride + rows)
#undef PART
    return at;
}

static size_t emd_scratch(const d2ke_problem *p)
{
    return p->x.dim == 1 ? sizeof(d2ke_cache) : emd_layout(p, NULL, NULL);
}

static emd_measure emd_item(const d2ke_items *items, const int64_t *masses, int64_t i)
{
    const int64_t at = items->offsets[i];
    const emd_measure measure = {(const double *)items->values + at * items->dim, masses + at,
                                 d2ke_length(items, i)};
    return measure;
}

/* Sum that does not lose the digits of small terms (Kahan). */
typedef struct {
    double sum;
    double lost;
} emd_sum;

static inline void emd_add(emd_sum *total, double term)
{
    const double y = term - total->lost, sum = total->sum + y;
    /* An infinite sum stays infinite, and is not infinity - infinity. */
    total->lost = sum < INFINITY ? (sum - total->sum) - y : 0;
    total->sum = sum;
}

/* Notes an arc of the flow from `row` to `column`, where flows are wanted; `turned`: rows are y's. */
static inline void emd_note(emd_flow *flow, int turned, int64_t row, int64_t column, int64_t mass,
                            double apart)
{
    if (!flow) return;
    const int64_t n = flow->n++;
    flow->from[n] = turned ? column : row;
    flow->to[n] = turned ? row : column;
    flow->mass[n] = mass;
    flow->apart[n] = apart;
}

/* ---- One dimension ---- */

static double emd_line(const emd_measure *x, const emd_measure *y, int squared, emd_flow *flow,
                       int turned)
{
    emd_sum total = {0, 0};
    int64_t x_left = x->mass[0], y_left = y->mass[0];
    for (int64_t i = 0, j = 0; i < x->n && j < y->n;) {
        const int64_t moved = x_left < y_left ? x_left : y_left;
        const double apart = fabs(x->values[i] - y->values[j]);
        emd_add(&total, (double)moved / EMD_TOTAL * (squared ? apart * apart : apart));
        emd_note(flow, turned, i, j, moved, squared ? apart * apart : apart);
        x_left -= moved;
        y_left -= moved;
        if (x_left == 0 && ++i < x->n) x_left = x->mass[i];
        if (y_left == 0 && ++j < y->n) y_left = y->mass[j];
    }
    return total.sum;
}

/* ---- Ground distances ---- */

/* Sum of squares of (a - b) * after, both times `before` first; in an order that depends on d. */
static double emd_squares(const double *a, const double *b, int64_t d, double before, double after)
{
    double part[PARTIAL_SUMS] = {0}, sum = 0;
    int64_t k = 0;
    for (; k + PARTIAL_SUMS <= d; k += PARTIAL_SUMS)
        D2KE_UNROLL for (int s = 0; s < PARTIAL_SUMS; s++) {
            const double difference = (a[k + s] * before - b[k + s] * before) * after;
            part[s] += difference * difference;
        }
    for (; k < d; k++) {
        const double difference = (a[k] * before - b[k] * before) * after;
        sum += difference * difference;
    }
    D2KE_UNROLL for (int s = 0; s < PARTIAL_SUMS; s++) sum += part[s];
    return sum;
}

static double emd_ground(const double *a, const double *b, int64_t d, int squared)
{
    const double square = emd_squares(a, b, d, 1, 1), up = 0x1p600;
    if (squared) return square;
    if (square < EMD_LEAST) return sqrt(emd_squares(a, b, d, 1, up)) / up;
    if (square == INFINITY) return sqrt(emd_squares(a, b, d, 1 / up, 1)) * up;
    return sqrt(square);
}

/* Ground distances of all rows from all columns into parts->cost, as float64, those of x as rows or
 * as columns; the largest one.  Scaled by a power of two where squares need it. */
static double emd_distances(const d2ke_problem *p, const emd_parts *parts, const emd_measure *x,
                            const emd_measure *y, int x_in_rows, int64_t stride, double before,
                            double after, sets_meter *meter)
{
    const int64_t d = p->x.dim, chunk = sets_chunk_f64(d);
    const int plain = before == 1 && after == 1;
    const int squared = ((const emd_options *)p->options)->squared != 0;
    double *cost = (double *)parts->cost;
    v_f64 largest = {0};
    for (int64_t begin = 0; begin < y->n; begin += chunk) {
        const int64_t end = sets_smaller(begin + chunk, y->n);
        for (int64_t i = 0; i < x->n; i += LANES_f64) {
            const double *unit = parts->units + i * d;
            const int lanes = (int)sets_smaller(LANES_f64, x->n - i);
            for (int64_t j = begin; j < end; j += TILE_COLUMNS) {
                const double *column[TILE_COLUMNS];
                columns_f64(y->values, j, end, d, column);
                (plain ? difference_1_f64 : scaled_1_f64)(unit, column, d, parts->tile, before,
                                                          after);
                const int n = (int)sets_smaller(TILE_COLUMNS, end - j);
                for (int c = 0; c < n; c++) {
                    const v_f64 sum = parts->tile[c], apart = squared ? sum : sqrt_f64(sum);
                    largest = select_f64(largest < apart, apart, largest);
                    if (!x_in_rows)
                        memcpy(cost + (j + c) * stride + i, &apart, sizeof apart);
                    else
                        for (int l = 0; l < lanes; l++) cost[(i + l) * stride + j + c] = apart[l];
                }
            }
            if (sets_stopped(meter, LANES_f64 * (end - begin) * d)) return 0;
        }
    }
    double most = 0;
    for (int l = 0; l < LANES_f64; l++) most = most < largest[l] ? largest[l] : most;
    return most;
}

/* Distances as integers; those from the cap on come just below 2^bits. */
static void emd_integers(char *cost, int64_t rows, int64_t columns, int64_t stride, double cap,
                         int bits)
{
    const double magic = 0x1p52; /* magic + t, for 0 <= t < 2^52, has t as its last bits */
    int exponent;
    frexp(cap, &exponent);
    const v_f64 most = set_f64(cap);
    const double scale = ldexp(1, bits - exponent);
    const v_i64 offset = (v_i64)set_f64(magic);
    for (int64_t i = 0; i < rows; i++) {
        v_i64 *row = (v_i64 *)(cost + i * stride * (int64_t)sizeof(int64_t));
        for (int64_t j = 0; j < stride / LANES_f64; j++) {
            const v_f64 apart = (v_f64)row[j];
            row[j] = (v_i64)(select_f64(apart < most, apart, most) * scale + magic) - offset;
        }
        for (int64_t j = columns; j < stride; j++) ((int64_t *)row)[j] = EMD_NEVER;
    }
}

/* ---- The network simplex ---- */

D2KE_INLINE v_i64 emd_lesser(v_i64 a, v_i64 b)
{
#if D2KE_BYTES == 64
    return (v_i64)_mm512_min_epi64((__m512i)a, (__m512i)b);
#elif D2KE_BYTES == 32
    /* The sign of a - b chooses; values are below 2^62 in size. */
    return (v_i64)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)(a - b));
#else
    const v_i64 mask = (a - b) >> 63;
    return (mask & a) | (~mask & b);
#endif
}

/* Least of cost - potential over a row. */
static int64_t emd_row_least(const int64_t *cost, const int64_t *potential, int64_t stride)
{
    const v_i64 *c = (const v_i64 *)cost, *v = (const v_i64 *)potential;
    const int64_t n = stride / LANES_f64;
    v_i64 least[2];
    least[0] = least[1] = (v_i64){0} + 2 * EMD_NEVER;
    int64_t k = 0;
    for (; k + 2 <= n; k += 2) {
        least[0] = emd_lesser(c[k] - v[k], least[0]);
        least[1] = emd_lesser(c[k + 1] - v[k + 1], least[1]);
    }
    if (k < n) least[0] = emd_lesser(c[k] - v[k], least[0]);
    least[0] = emd_lesser(least[0], least[1]);
    int64_t result = least[0][0];
    D2KE_UNROLL for (int l = 1; l < LANES_f64; l++)
        result = least[0][l] < result ? least[0][l] : result;
    return result;
}

/* The first column where cost - potential is `least`. */
static int64_t emd_place(const int64_t *cost, const int64_t *potential, int64_t least)
{
    int64_t j = 0;
    while (cost[j] - potential[j] != least) j++;
    return j;
}

static inline int emd_is_row(const emd_tree *tree, int64_t v) { return v >= tree->stride; }

/* Puts the vertices from `first` to `last` of the ring, which are out of it, after `place`. */
static inline void emd_link(emd_vertex *vertex, int32_t place, int32_t first, int32_t last)
{
    const int32_t next = vertex[place].next;
    vertex[place].next = first;
    vertex[first].previous = place;
    vertex[last].next = next;
    vertex[next].previous = last;
}

static inline const int64_t *emd_row(const emd_tree *tree, int64_t i)
{
    return tree->cost + i * tree->stride;
}

/* A first tree.  The rows in turn ship what they can to the column that is nearest to them, by
 * distance less the column's least distance.  What this settles becomes a child of the other.
 * Every row has an infinitely small mass more, at the cost of the root: no two masses are equal
 * then, which makes the tree strongly feasible.  Until a vertex is settled, `flow` is its mass that
 * is left, and `depth` the number of small ones. */
static void emd_start(const emd_tree *tree, const emd_measure *row, const emd_measure *column)
{
    emd_vertex *vertex = tree->vertex;
    int64_t *potential = tree->potential;
    const int64_t stride = tree->stride, rows = tree->rows, columns = tree->columns;
    int64_t heaviest = 0;
    for (int64_t j = 0; j < stride; j += LANES_f64) {
        v_i64 least = *(const v_i64 *)(tree->cost + j);
        for (int64_t i = 1; i < rows; i++)
            least = emd_lesser(*(const v_i64 *)(emd_row(tree, i) + j), least);
        *(v_i64 *)(potential + j) = least;
    }
    for (int64_t j = columns; j < stride; j++) potential[j] = 0;
    const emd_vertex blank = {0, -1, -1, -1, 0};
    for (int64_t j = 0; j < columns; j++) {
        vertex[j] = blank;
        vertex[j].flow = column->mass[j];
    }
    for (int64_t i = 0; i < rows; i++) {
        vertex[stride + i] = blank;
        vertex[stride + i].flow = row->mass[i];
        vertex[stride + i].depth = 1;
        if (row->mass[i] > row->mass[heaviest]) heaviest = i;
    }
    const int32_t root = (int32_t)(stride + heaviest);
    vertex[root].depth -= (int32_t)rows;
    for (int64_t i = 0, open = rows + columns; open > 1; i = i + 1 < rows ? i + 1 : 0) {
        emd_vertex *from = vertex + stride + i;
        if (from->parent >= 0) continue;
        const int64_t least = emd_row_least(emd_row(tree, i), potential, stride);
        const int64_t j = emd_place(emd_row(tree, i), potential, least);
        emd_vertex *to = vertex + j;
        const int from_first =
            from->flow < to->flow || (from->flow == to->flow && from->depth <= to->depth);
        emd_vertex *settled = from_first ? from : to, *other = from_first ? to : from;
        settled->parent = (int32_t)(other - vertex);
        other->flow -= settled->flow;
        other->depth -= settled->depth;
        if (!from_first) potential[j] = EMD_CLOSED;
        open--;
        if (sets_stopped(tree->meter, stride)) return;
    }
    /* The one that is never settled is on top; the root takes its place. */
    int64_t flow = 0;
    for (int32_t v = root, below = -1; v >= 0;) {
        const int32_t above = vertex[v].parent;
        const int64_t its_flow = vertex[v].flow;
        vertex[v].parent = below;
        vertex[v].flow = flow;
        flow = its_flow;
        below = v;
        v = above;
    }
    /* Into the ring, parents first: `previous` leads back down from a parent that is there. */
    potential[root] = 0;
    vertex[root].depth = 0;
    vertex[root].next = vertex[root].previous = root;
    for (int32_t first = 0; first < stride + rows; first++) {
        int32_t v = first, below = -1;
        if (v >= columns && v < stride) continue;
        while (vertex[v].next < 0) {
            vertex[v].previous = below;
            below = v;
            v = vertex[v].parent;
        }
        while (below >= 0) {
            const int32_t parent = v;
            v = below;
            below = vertex[v].previous;
            const int32_t i = emd_is_row(tree, v) ? v : parent, j = i == v ? parent : v;
            emd_link(vertex, parent, v, v);
            vertex[v].depth = vertex[parent].depth + 1;
            potential[v] = emd_row(tree, i - stride)[j] - potential[parent];
        }
    }
}

/* Brings the arc from row to column, of reduced cost `reduced` < 0, into the tree. */
static void emd_pivot(const emd_tree *tree, int32_t row, int32_t column, int64_t reduced)
{
    emd_vertex *vertex = tree->vertex;
    int64_t *potential = tree->potential, least = INT64_MAX, work = 0;
    int32_t a = row, b = column, leaving = -1, top = row;
    /* Round the cycle: of the arcs that are emptied first, the last one in the cycle's
     * direction, from its highest vertex down to the row and up again from the column. */
    while (a != b) {
        if (vertex[a].depth >= vertex[b].depth) {
            if (emd_is_row(tree, a) && vertex[a].flow < least) {
                least = vertex[a].flow;
                leaving = a;
                top = row;
            }
            a = vertex[a].parent;
        } else {
            if (!emd_is_row(tree, b) && vertex[b].flow <= least) {
                least = vertex[b].flow;
                leaving = b;
                top = column;
            }
            b = vertex[b].parent;
        }
    }
    if (least > 0) {
        for (int32_t v = row; v != a; v = vertex[v].parent)
            vertex[v].flow += emd_is_row(tree, v) ? -least : least;
        for (int32_t v = column; v != a; v = vertex[v].parent)
            vertex[v].flow += emd_is_row(tree, v) ? least : -least;
    }
    /* The subtree of `leaving` is turned so that the new arc's end is on top: along the path up
     * to `leaving`, each vertex brings what of its subtree is not there yet. */
    const int64_t change = top == row ? reduced : -reduced;
    const int32_t new_parent = top == row ? column : row, before = vertex[leaving].previous;
    int64_t flow = least;
    int32_t last = -1, done = -1, after_done = -1;
    for (int32_t v = top, parent = new_parent;;) {
        const int32_t its_parent = vertex[v].parent, its_depth = vertex[v].depth;
        const int32_t deeper = vertex[parent].depth + 1 - its_depth;
        const int64_t its_flow = vertex[v].flow;
        if (last >= 0) {
            vertex[last].next = v;
            vertex[v].previous = last;
        }
        int32_t x = v;
        do {
            const int64_t sign = -(int64_t)!emd_is_row(tree, x); /* 0 or -1 */
            potential[x] += (change ^ sign) - sign;
            vertex[x].depth += deeper;
            last = x;
            x = vertex[x].next;
            if (x == done) {
                x = after_done;
                vertex[last].next = x;
                vertex[x].previous = last;
            }
            work++;
        } while (vertex[x].depth > its_depth);
        vertex[v].parent = parent;
        vertex[v].flow = flow;
        if (v == leaving) {
            vertex[before].next = x;
            vertex[x].previous = before;
            break;
        }
        done = v;
        after_done = x;
        flow = its_flow;
        parent = v;
        v = its_parent;
    }
    emd_link(vertex, new_parent, top, last);
    sets_stopped(tree->meter, 4 * work);
}

/* Takes the rows in turn, each one's arc of least reduced cost, until none is negative.  (The best
 * of several rows makes fewer changes of the tree, but was not faster.) */
static void emd_solve(const emd_tree *tree)
{
    const int64_t rows = tree->rows;
    for (int64_t i = 0, passed = 0; passed < rows && !tree->meter->stopped;
         i = i + 1 < rows ? i + 1 : 0) {
        const int64_t v = tree->stride + i;
        const int64_t least = emd_row_least(emd_row(tree, i), tree->potential, tree->stride);
        passed++;
        if (least < tree->potential[v]) {
            const int64_t j = emd_place(emd_row(tree, i), tree->potential, least);
            emd_pivot(tree, (int32_t)v, (int32_t)j, least - tree->potential[v]);
            passed = 0;
        }
        sets_stopped(tree->meter, tree->stride);
    }
}

/* ---- One pair ---- */

/* < 0, 0, > 0 as x comes before y, is equal to it or comes after it. */
static int emd_compare(const emd_measure *x, const emd_measure *y, int64_t d)
{
    if (x->n != y->n) return x->n < y->n ? -1 : 1;
    for (int64_t k = 0; k < x->n * d; k++)
        if (x->values[k] != y->values[k]) return x->values[k] < y->values[k] ? -1 : 1;
    for (int64_t i = 0; i < x->n; i++)
        if (x->mass[i] != y->mass[i]) return x->mass[i] < y->mass[i] ? -1 : 1;
    return 0;
}

/* Sum of the ground distances over the tree, and the largest one of them that takes flow; notes the
 * flow where it is wanted. */
static double emd_cost(const emd_tree *tree, const emd_measure *row, const emd_measure *column,
                       int64_t d, int squared, double *largest, emd_flow *flow, int turned)
{
    emd_sum total = {0, 0};
    *largest = 0;
    for (int64_t v = 0; v < tree->stride + tree->rows; v++) {
        if (v == tree->columns) v = tree->stride;
        const emd_vertex *one = tree->vertex + v;
        if (one->parent < 0 || one->flow == 0) continue;
        const int is_row = emd_is_row(tree, v);
        const int64_t i = (is_row ? v : one->parent) - tree->stride, j = is_row ? one->parent : v;
        const double apart = emd_ground(row->values + i * d, column->values + j * d, d, squared);
        emd_add(&total, (double)one->flow / EMD_TOTAL * apart);
        emd_note(flow, turned, i, j, one->flow, apart);
        if (*largest < apart) *largest = apart;
    }
    return total.sum;
}

static double emd_pair(const d2ke_problem *p, int64_t row_item, int64_t column_item,
                       void *scratch, sets_meter *meter)
{
    const int64_t d = p->x.dim;
    const emd_options *options = p->options;
    const int squared = options->squared != 0;
    const emd_measure x = emd_item(&p->x, options->x_masses, row_item);
    const emd_measure y = emd_item(&p->y, options->y_masses, column_item);
    const int order = emd_compare(&x, &y, d);
    const emd_measure row = order < 0 ? x : y, column = order < 0 ? y : x;
    emd_sum total = {0, 0};
    if (order == 0) {
        for (int64_t i = 0; options->flow && i < x.n; i++)
            emd_note(options->flow, 0, i, i, x.mass[i], 0);
        return 0;
    }
    if (d == 1) return emd_line(&row, &column, squared, options->flow, order > 0);
    if (row.n == 1) {
        for (int64_t j = 0; j < column.n; j++) {
            const double apart = emd_ground(row.values, column.values + j * d, d, squared);
            emd_add(&total, (double)column.mass[j] / EMD_TOTAL * apart);
            emd_note(options->flow, order > 0, 0, j, column.mass[j], apart);
        }
        sets_stopped(meter, column.n * d);
        return total.sum;
    }
    emd_parts parts;
    emd_layout(p, scratch, &parts);
    d2ke_cache *cache = scratch;
    if (cache->row != row_item) {
        for (int64_t i = 0; i < x.n; i += LANES_f64) {
            const double *vector[LANES_f64];
            for (int64_t l = 0; l < LANES_f64; l++)
                vector[l] = x.values + sets_smaller(i + l, x.n - 1) * d;
            pack_f64(vector, LANES_f64, d, parts.units + i * d);
        }
        cache->row = row_item;
    }
    const int64_t stride = d2ke_round_up(column.n, LANES_f64);
    const double up = 0x1p600;
    double largest = emd_distances(p, &parts, &x, &y, order < 0, stride, 1, 1, meter);
    const double square = squared ? largest : largest * largest;
    if (square < EMD_LEAST)
        largest = emd_distances(p, &parts, &x, &y, order < 0, stride, 1, up, meter);
    else if (!(square < INFINITY))
        largest = emd_distances(p, &parts, &x, &y, order < 0, stride, 1 / up, 1, meter);
    int bits = EMD_POTENTIAL_BITS;
    for (int64_t n = row.n + 1; n > 0; n /= 2) bits--;
    bits = (int)sets_smaller(bits, EMD_COST_BITS);
    const emd_tree tree = {parts.vertex, parts.potential, (const int64_t *)parts.cost,
                           row.n, column.n, stride, meter};
    double cap = largest, result, most;
    for (int whole = square < EMD_LEAST || !(square < INFINITY);;) {
        if (meter->stopped) return 0;
        emd_integers(parts.cost, row.n, column.n, stride, cap, bits);
        emd_start(&tree, &row, &column);
        if (!meter->stopped) emd_solve(&tree);
        if (meter->stopped) return 0;
        result = emd_cost(&tree, &row, &column, d, squared, &most, NULL, 0);
        const int above = most >= cap && cap < largest;
        if (!above && (whole || result * EMD_NEAR >= cap || result * EMD_CAP < EMD_LEAST)) break;
        whole = above;
        cap = above ? largest : result * EMD_CAP;
        emd_distances(p, &parts, &x, &y, order < 0, stride, 1, 1, meter);
    }
    if (options->flow)
        emd_cost(&tree, &row, &column, d, squared, &most, options->flow, order > 0);
    return result;
}

static void emd(const d2ke_problem *p, int64_t row, int64_t block, void *scratch, double *result,
                const d2ke_poll *poll)
{
    sets_meter meter = {poll, 0, 0};
    for (int64_t s = p->blocks[block]; s < p->blocks[block + 1] && !meter.stopped; s++)
        result[s - p->blocks[block]] = emd_pair(p, row, p->order[s], scratch, &meter);
}

#endif
