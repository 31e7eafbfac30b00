# SPDX-License-Identifier: BSD-3-Clause
"""Slow and obvious forms of what d2ke computes, straight from the definitions."""

import ctypes
import decimal
import io
import itertools
import logging
import math
import sys
from collections import Counter
from decimal import Decimal
from functools import partial
from unittest import mock

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

import d2ke
from d2ke.distances.masks import GAPPED

EXAMPLES = 60  # random ones of a test in the whole suite
QUICK_EXAMPLES = 10  # and without the slow tests
# Its rand() is what LIBLINEAR and LIBSVM draw from.
C_LIBRARY = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
# Lengths of strings around the ends of words, and of lanes of one, two and three words.
WORD_EDGES = [
    *(0, 1, 2, 31, 32, 33, 62, 63, 64, 65, 66),
    *(127, 128, 129, 191, 192, 193, 255, 256, 257),
]


def examples(count):
    """Return how many random examples to try, which is `count` in the whole suite."""
    return max(1, count * settings.default.max_examples // EXAMPLES)


def same(a, b):
    """Check that two arrays are the same bit for bit."""
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


def reloaded(model):
    """Return a model that was saved to a file, and read from it."""
    file = io.BytesIO()
    d2ke.save_model(file, model)
    return d2ke.load_model(io.BytesIO(file.getvalue()))


def same_bits(a, b):
    """Return whether two arrays are the same bit for bit."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def edited(rng, string, n_edits, n_letters):
    """Return the codes after some random edits: a small distance for a long string."""
    string = list(string)
    for kind in rng.integers(0, 3, n_edits):
        at = int(rng.integers(0, len(string) + 1))
        string[at : at + (kind > 0)] = [int(rng.integers(0, n_letters))] * int(kind < 2)
    return np.array(string, dtype=np.int64)


def ridge(Z, T, C):
    """Solve the normal equations for weights and an offset without penalty."""
    A = np.hstack([Z, np.ones((len(Z), 1))])
    penalty = np.eye(A.shape[1]) / (2 * C)
    penalty[-1, -1] = 0
    W = np.linalg.solve(A.T @ A + penalty, A.T @ T)
    return W[:-1], W[-1]


def window_radius(window, n, m):
    """Return the Sakoe-Chiba radius of d2ke's `window` for lengths n and m."""
    longer, difference = max(n, m), abs(n - m)
    if window is None:
        return longer
    if window == "rws":
        window = min(40, math.ceil(longer / 10))
    return max(window, difference)


def dtw(x, y, window=None, ground="euclidean", missing="error"):
    """Least sum of ground distances along a warping path; with "arow" vectors may be NaN."""
    if ground in ("manhattan", "haversine"):
        x, y = plain(x), plain(y)
        cost = manhattan if ground == "manhattan" else haversine
        return elastic(
            x,
            y,
            lambda i, j, corner, above, before: cost(x[i], y[j]) + min(corner, above, before),
            window,
        )
    # Division by a power of two loses nothing and keeps squares and sums in range.
    lost = [np.isnan(v).any(axis=1) for v in (x, y)]
    assert missing == "arow" or not np.concatenate(lost).any()
    largest = max(np.nanmax(np.abs(x)), np.nanmax(np.abs(y)))
    exponent = min(int(np.frexp(float(largest))[1]), 1023) if largest else 0
    unit = 2.0**exponent
    # No quotient, which some versions of numpy report as an overflow for the smallest numbers.
    x, y = (np.ldexp(np.asarray(v, dtype=np.float64), -exponent) for v in (x, y))
    n, m = len(x), len(y)
    radius = window_radius(window, n, m)
    # A vector that is missing costs nothing, and belongs to one other vector, which is its alone.
    alone = lost[0][:, None] | lost[1]
    cost = np.where(alone, 0.0, cdist(x, y, ground)).tolist()
    table = [[math.inf] * (m + 1) for _ in range(n + 1)]
    table[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - radius), min(m, i + radius) + 1):
            above = i > 1 and not (alone[i - 1, j - 1] or alone[i - 2, j - 1])
            before = j > 1 and not (alone[i - 1, j - 1] or alone[i - 1, j - 2])
            best = min(
                table[i - 1][j - 1],
                table[i - 1][j] if above else math.inf,
                table[i][j - 1] if before else math.inf,
            )
            table[i][j] = cost[i - 1][j - 1] + best
    factor = (n + m) / (n + m - lost[0].sum() - lost[1].sum())
    return factor * table[n][m] * unit * (unit if ground == "sqeuclidean" else 1.0)


def part_of_longer(distance):
    """Let a distance be divided by the longer length, with `normalize`."""

    def divided(x, y, *params, normalize=False, **named):
        return distance(x, y, *params, **named) / (max(len(x), len(y), 1) if normalize else 1)

    return divided


@part_of_longer
def levenshtein(x, y, mode="global"):
    """Least number of insertions, deletions and substitutions; of y to a part of x, in a mode."""
    previous = list(range(len(y) + 1))
    ends = [len(y)]  # distances of y to the parts of x that end after 0, 1, ... letters
    for i, a in enumerate(x, 1):
        row = [0 if mode == "infix" else i]
        for j, b in enumerate(y, 1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (a != b)))
        previous = row
        ends.append(row[-1])
    return float(ends[-1] if mode == "global" else min(ends))


@part_of_longer
def osa(x, y):
    """Levenshtein's table with transpositions of two letters next to each other."""
    D = [[float(i + j) for j in range(len(y) + 1)] for i in range(len(x) + 1)]
    for i, a in enumerate(x, 1):
        for j, b in enumerate(y, 1):
            D[i][j] = min(D[i - 1][j] + 1, D[i][j - 1] + 1, D[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == y[j - 2] and b == x[i - 2]:
                D[i][j] = min(D[i][j], D[i - 2][j - 2] + 1)
    return D[-1][-1]


@part_of_longer
def damerau_levenshtein(x, y):
    """The same with all pairs of crossed letters before, and what is between them edited."""
    D = [[float(i + j) for j in range(len(y) + 1)] for i in range(len(x) + 1)]
    for i, a in enumerate(x, 1):
        for j, b in enumerate(y, 1):
            D[i][j] = min(D[i - 1][j] + 1, D[i][j - 1] + 1, D[i - 1][j - 1] + (a != b))
            for k in range(1, i):
                for m in range(1, j):
                    if x[k - 1] == b and y[m - 1] == a:
                        between = (i - k - 1) + (j - m - 1)
                        D[i][j] = min(D[i][j], D[k - 1][m - 1] + between + 1)
    return D[-1][-1]


@part_of_longer
def hamming(x, y):
    """Number of places with different letters."""
    return float(sum(a != b for a, b in zip(x, y, strict=True)))


def indel(x, y, normalize=False):
    """Least number of insertions and deletions; with `normalize`, of n + m."""
    row = [float(j) for j in range(len(y) + 1)]
    for i, a in enumerate(x, 1):
        above, row = row, [float(i)]
        for j, b in enumerate(y, 1):
            row.append(above[j - 1] if a == b else 1 + min(above[j], row[-1]))
    return row[-1] / ((len(x) + len(y) or 1) if normalize else 1)


def jaccard(x, y):
    """Part of the letters of both that only one of them has."""
    a, b = set(x), set(y)
    return 1 - len(a & b) / len(a | b) if a or b else 0.0


def bag(x, y):
    """Sum of the differences of the shares of letters."""
    x, y = list(x), list(y)
    shares = [(x.count(a) / (len(x) or 1), y.count(a) / (len(y) or 1)) for a in {*x, *y}]
    return sum(abs(p - q) for p, q in shares)


def jaro(x, y, prefix_weight=0.0):
    """1 less the mean share of letters in common and in order; Winkler's with a weight."""
    if len(x) == len(y) == 0:
        return 0.0
    bound = max(max(len(x), len(y)) // 2 - 1, 0)
    free, pairs = set(range(len(y))), []
    for i, a in enumerate(x):
        near = [j for j in sorted(free) if y[j] == a and abs(i - j) <= bound]
        if near:
            free.remove(near[0])
            pairs.append((i, near[0]))
    if not pairs:
        return 1.0
    common = len(pairs)
    taken = sorted(j for _, j in pairs)
    crossed = sum(x[i] != y[j] for (i, _), j in zip(pairs, taken, strict=True)) // 2
    alike = (common / len(x) + common / len(y) + (common - crossed) / common) / 3
    if alike > 0.7:
        begin = [a == b for a, b in zip(x[:4], y[:4], strict=False)]
        alike += [*begin, False].index(False) * prefix_weight * (1.0 - alike)
    return 1.0 - alike


def token_sort(x, y):
    """The normalized indel distance of strings with sorted words."""
    return indel(*(" ".join(sorted(z.split())) for z in (x, y)), normalize=True)


def token_set(x, y):
    """The least normalized indel distance of any two of: common words, all of x, all of y."""
    a, b = set(x.split()), set(y.split())
    if a and b and (a <= b or b <= a):
        return 0.0
    first = [" ".join(sorted(a & b) + sorted(side - (a & b))) for side in (a, b)]
    common = " ".join(sorted(a & b))
    # What is before the rests is common to both, and paired with itself.
    rests = [" ".join(sorted(side - (a & b))) for side in (a, b)]
    found = [indel(*rests) / (sum(map(len, first)) or 1)]
    if common:
        found += [indel(common, z, normalize=True) for z in first]
    return min(found)


def weighted_levenshtein(
    x, y, substitute=lambda a, b: float(a != b), delete=None, insert=None, gap=None, mode="global",
    transposition=math.inf,
):  # fmt: skip
    """Least cost of an alignment; the costs are functions of letters, or (open, extend) of gaps.

    State 0: after a substitution or at the beginning, 1: in a run of deletions, 2: of insertions.
    """

    def one(_):
        return 1.0

    def run(costs, letter, later):
        return (costs or one)(letter) if gap is None else gap[later]

    n, m = len(x), len(y)
    local = mode == "local"  # an equal pair is worth 1
    T = np.full((n + 1, m + 1, 3), math.inf)
    for i in range(n + 1):
        for j in range(m + 1):
            if ((i == 0 or mode == "infix") and j == 0) or local:
                T[i, j, 0] = 0
            if i and j:
                gain = local and x[i - 1] == y[j - 1]
                cell = T[i - 1, j - 1].min() + substitute(x[i - 1], y[j - 1]) - gain
                T[i, j, 0] = min(cell, 0) if local else cell
            turned = i > 1 and j > 1 and (x[i - 1], x[i - 2]) == (y[j - 2], y[j - 1])
            if turned and x[i - 1] != x[i - 2]:
                T[i, j, 0] = min(T[i, j, 0], T[i - 2, j - 2].min() + transposition)
            if i and not (mode == "infix" and j == 0):
                steps = [T[i - 1, j, s] + run(delete, x[i - 1], s == 1) for s in range(3)]
                T[i, j, 1] = min(steps)
            if j:
                steps = [T[i, j - 1, s] + run(insert, y[j - 1], s == 2) for s in range(3)]
                T[i, j, 2] = min(steps)
    if local:
        return float(1 + T.min() / min(n, m)) if n and m else float(n != m)
    ends = T[:, m].min(axis=1)
    return float(ends[n] if mode == "global" else ends.min())


def _nearest(x, y):
    x, y = (np.asarray(v, dtype=np.float64) for v in (x, y))
    return cdist(x, y).min(axis=1)


def directed_mhd(x, y):
    """Mean distance of the vectors of x to the set y."""
    return math.fsum(_nearest(x, y)) / len(x)


def directed_hausdorff(x, y):
    """Largest distance of a vector of x to the set y."""
    return max(_nearest(x, y))


def emd(x, y, x_weights=None, y_weights=None, ground="euclidean"):
    """Earth mover's distance as the linear program that defines it."""
    x, y = (np.asarray(v, dtype=np.float64) for v in (x, y))
    n, m = len(x), len(y)
    a, b = (
        np.ones(k) if w is None else np.asarray(w, dtype=np.float64)
        for k, w in ((n, x_weights), (m, y_weights))
    )
    sums = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    # One of the equations follows from the others, but for rounding.
    found = linprog(
        cdist(x, y, ground).ravel(),
        A_eq=sums[:-1],
        b_eq=np.concatenate([a / a.sum(), b / b.sum()])[:-1],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0, found.message
    return found.fun


def elastic(x, y, cell, window=None, border=lambda side, i: math.inf):
    """Fill the table of an elastic distance by ``cell(i, j, corner, above, before)``."""
    radius = window_radius(window, len(x), len(y))
    table = {(-1, -1): 0.0}
    table |= {(i, -1): border(x, i) for i in range(len(x))}
    table |= {(-1, j): border(y, j) for j in range(len(y))}
    for i in range(len(x)):
        for j in range(len(y)):
            if abs(i - j) > radius:
                table[i, j] = math.inf
                continue
            corner, above, before = table[i - 1, j - 1], table[i - 1, j], table[i, j - 1]
            table[i, j] = cell(i, j, corner, above, before)
    return table[len(x) - 1, len(y) - 1]


def walk(pairs, x, y, cell, window=None, border=None):
    """What the path of an elastic distance costs, step by step, as `elastic` does the table.

    -1 stands for no partner; vectors that are left out before the first pair cost as a border.
    """
    far = math.inf
    leaves_out = border is not None and border(x, 0) < math.inf
    value, i, j = 0.0, -1, -1
    for a, b in pairs:
        step = (a - i, b - j) if not leaves_out else (int(a >= 0), int(b >= 0))
        corner = i < 0 and j < 0 and step == (1, 1)
        i, j = i + step[0], j + step[1]
        if (a >= 0 and a != i) or (b >= 0 and b != j) or step not in ((1, 1), (1, 0), (0, 1)):
            raise AssertionError(f"no step to {a}, {b}")
        if leaves_out and step == (1, 0) and j < 0:
            value = border(x, i)
        elif leaves_out and step == (0, 1) and i < 0:
            value = border(y, j)
        elif corner or step == (1, 1):
            value = cell(i, j, value, far, far)
        elif step == (1, 0):
            value = cell(i, j, far, value, far)
        else:
            value = cell(i, j, far, far, value)
    if (i, j) != (len(x) - 1, len(y) - 1):
        raise AssertionError(f"the path ends at {i}, {j}")
    return value


def path_cost(name, x, y, pairs, **params):
    """Cost of a path of an elastic distance."""
    with mock.patch.dict(globals(), elastic=partial(walk, pairs)):
        return DISTANCES[name](x, y, **params)


def manhattan(a, b):
    """Sum of differences."""
    return sum(abs(p - q) for p, q in zip(a, b, strict=True))


def haversine(a, b):
    """Metres on the Earth between (latitude, longitude) in degrees."""
    across, along = (math.sin(math.radians(p - q) / 2) ** 2 for p, q in zip(a, b, strict=True))
    cosines = math.cos(math.radians(a[0])) * math.cos(math.radians(b[0]))
    return 2 * 6371008.8 * math.asin(math.sqrt(min(1.0, across + cosines * along)))


def squared(a, b):
    """Squared Euclidean distance."""
    return sum((p - q) * (p - q) for p, q in zip(a, b, strict=True))


def msm(x, y, c=1.0, independent=True, window=None):
    """Move-split-merge."""

    def between(new, old, other):
        if not independent:
            middle = [(p + q) / 2 for p, q in zip(old, other, strict=True)]
            inside = squared(middle, new) <= squared(old, other) / 4
            return c if inside else c + min(squared(new, old), squared(new, other))
        inside = old <= new <= other or old >= new >= other
        return c if inside else c + min(abs(new - old), abs(new - other))

    def distance(x, y, move):
        return elastic(
            x,
            y,
            lambda i, j, corner, above, before: min(
                corner + move(x[i], y[j]),
                above + between(x[i], x[i - 1], y[j]),
                before + between(y[j], y[j - 1], x[i]),
            ),
            window,
        )

    x, y = plain(x), plain(y)
    if not independent:
        return distance(x, y, squared)
    channels = zip(zip(*x, strict=True), zip(*y, strict=True), strict=True)
    return sum(distance(a, b, lambda p, q: abs(p - q)) for a, b in channels)


def erp(x, y, g=0.0, window=None):
    """Edit distance with real penalty."""
    x, y = plain(x), plain(y)
    g = np.broadcast_to(g, len(x[0])).tolist()
    return elastic(
        x,
        y,
        lambda i, j, corner, above, before: min(
            corner + math.dist(x[i], y[j]),
            above + math.dist(x[i], g),
            before + math.dist(y[j], g),
        ),
        window,
        lambda side, i: sum(math.dist(one, g) for one in side[: i + 1]),
    )


def twe(x, y, nu=0.001, lmbda=1.0, window=None):
    """Time warp edit distance; a vector of zeros stands before either series."""
    zeros = [[0.0] * x.shape[1]]
    x, y = [*plain(x), *zeros], [*plain(y), *zeros]  # number -1 is the one before
    return elastic(
        x[:-1],
        y[:-1],
        lambda i, j, corner, above, before: min(
            corner + math.dist(x[i], y[j]) + math.dist(x[i - 1], y[j - 1]) + nu * (2 * abs(i - j)),
            above + math.dist(x[i], x[i - 1]) + nu + lmbda,
            before + math.dist(y[j], y[j - 1]) + nu + lmbda,
        ),
        window,
    )


def edr(x, y, epsilon=0.25, normalize=False, window=None):
    """Edit distance on real sequences."""
    x, y = plain(x), plain(y)
    edits = elastic(
        x,
        y,
        lambda i, j, corner, above, before: min(
            corner + (math.dist(x[i], y[j]) > epsilon), above + 1, before + 1
        ),
        window,
        lambda side, i: i + 1,
    )
    return edits / max(len(x), len(y)) if normalize else float(edits)


def lcss(x, y, epsilon=1.0, window=None):
    """Part of the shorter series that is not in the longest common subsequence.

    The window is for matches alone: any vector may be left out.
    """
    x, y = plain(x), plain(y)
    radius = window_radius(window, len(x), len(y))

    def minus_longest(i, j, corner, above, before):
        match = abs(i - j) <= radius and math.dist(x[i], y[j]) <= epsilon
        return corner - 1 if match else min(above, before)

    return 1 + elastic(x, y, minus_longest, border=lambda side, i: 0) / min(len(x), len(y))


def window_pairs(x, y, window, epsilon, mismatches):
    """Yield the pairs of vectors within the window in order: i, j, whether they match."""
    x, y = plain(x), plain(y)
    radius = window_radius(window, len(x), len(y))
    for i, j in itertools.product(range(len(x)), range(len(y))):
        match = math.dist(x[i], y[j]) <= epsilon
        if abs(i - j) <= radius and (match or mismatches):
            yield i, j, match


def longest_chain(x, y, window, epsilon):
    """Most pairs that match, each after the one before in both series."""
    lengths = {}
    for i, j, _ in window_pairs(x, y, window, epsilon, False):
        lengths[i, j] = 1 + max((n for (k, m), n in lengths.items() if k < i and m < j), default=0)
    return max(lengths.values(), default=0)


def fewest_edits(x, y, window, epsilon):
    """Least cost: 1 for each vector that is left out, and for each pair that does not match."""
    costs = {(-1, -1): 0}
    for i, j, match in [*window_pairs(x, y, window, epsilon, True), (len(x), len(y), True)]:
        before = (
            cost + (i - k - 1) + (j - m - 1) for (k, m), cost in costs.items() if k < i and m < j
        )
        costs[i, j] = (not match) + min(before)
    return costs[len(x), len(y)]


def adtw(x, y, penalty=1.0, window=None):
    """Amerced dynamic time warping."""
    x, y = plain(x), plain(y)
    return elastic(
        x,
        y,
        lambda i, j, corner, above, before: (
            squared(x[i], y[j]) + min(corner, above + penalty, before + penalty)
        ),
        window,
    )


def wdtw(x, y, g=0.05, window=None):
    """Weighted dynamic time warping."""
    x, y = plain(x), plain(y)
    half = max(len(x), len(y)) / 2

    def weighted(i, j, corner, above, before):
        exponent = -g * (abs(i - j) - half)
        weight = 0.0 if exponent > 709 else 1 / (1 + math.exp(exponent))
        cost = squared(x[i], y[j])
        return (cost if cost == math.inf else cost * weight) + min(corner, above, before)

    return elastic(x, y, weighted, window)


def slopes(side):
    """Estimates of the slopes, of Keogh and Pazzani."""
    side = np.asarray(side, dtype=np.float64)
    if len(side) < 3:
        return side[1:] - side[:-1] if len(side) == 2 else side * 0
    return ((side[1:-1] - side[:-2]) + (side[2:] - side[:-2]) / 2) / 2


def ddtw(x, y, window=None):
    """Derivative dynamic time warping."""
    return dtw(slopes(x), slopes(y), window, "sqeuclidean")


def frechet(x, y, window=None):
    """Discrete Frechet distance."""
    x, y = plain(x), plain(y)
    return elastic(
        x,
        y,
        lambda i, j, corner, above, before: max(math.dist(x[i], y[j]), min(corner, above, before)),
        window,
    )


def plain(series):
    """Return the vectors as lists of Python's numbers."""
    return np.asarray(series, dtype=np.float64).tolist()


# Of the elastic distances, for random examples.
def words_on(string, mask):
    """The words of all windows of a string on a mask, with how often each occurs."""
    windows = range(len(string) - mask[-1])
    return Counter((mask, tuple(string[begin + place] for place in mask)) for begin in windows)


def reverse_complement(string):
    pairs = dict(zip("ACGTN", "TGCAN", strict=True))
    return [pairs[letter] for letter in reversed(string)]


def piece_products(x, y, masks, strands="one"):
    """The sum over common words of the products of the roots of their counts."""
    counts = []
    for string in (x, y):
        read = [string]
        if strands == "both":
            read = [["T" if letter == "U" else letter for letter in string]]
            read.append(reverse_complement(string))
        counts.append(sum((words_on(one, mask) for mask in masks for one in read), Counter()))
    first, second = counts
    return math.fsum(math.sqrt(first[word] * second[word]) for word in first.keys() & second)


def piece_kernel(x, y, masks, strands="one"):
    """The products, divided by the norms of both; 0 if a string is shorter than every mask."""
    xx, yy = (piece_products(string, string, masks, strands) for string in (x, y))
    return piece_products(x, y, masks, strands) / math.sqrt(xx * yy) if xx and yy else 0.0


def gapped(x, y, strands="one"):
    terms = [
        factor * piece_kernel(a, b, of_k, strands) / len(GAPPED)
        for of_k in GAPPED
        for factor, a, b in [(1, x, x), (1, y, y), (-2, x, y)]
    ]
    return math.sqrt(max(math.fsum(terms), 0))


POSITIVE = st.sampled_from([0.0, 1e-3, 0.1, 0.7, 1.0, 30.0])
ELASTIC_PARAMETERS = {
    "dtw": st.fixed_dictionaries({"ground": st.sampled_from(["euclidean", "sqeuclidean"])}),
    "msm": st.fixed_dictionaries({"c": POSITIVE, "independent": st.booleans()}),
    "erp": st.fixed_dictionaries({"g": st.sampled_from([0.0, -1.5, 2.0])}),
    "twe": st.fixed_dictionaries({"nu": POSITIVE, "lmbda": POSITIVE}),
    "edr": st.fixed_dictionaries({"epsilon": POSITIVE, "normalize": st.booleans()}),
    "lcss": st.fixed_dictionaries({"epsilon": POSITIVE}),
    "adtw": st.fixed_dictionaries({"penalty": POSITIVE}),
    "wdtw": st.fixed_dictionaries({"g": POSITIVE}),
    "ddtw": st.just({}),
    "frechet": st.just({}),
}

DISTANCES = {
    "dtw": dtw,
    "levenshtein": levenshtein,
    "osa": osa,
    "damerau_levenshtein": damerau_levenshtein,
    "hamming": hamming,
    "indel": indel,
    "jaccard": jaccard,
    "bag": bag,
    "weighted_levenshtein": weighted_levenshtein,
    "jaro": jaro,
    "jaro_winkler": partial(jaro, prefix_weight=0.1),
    "token_sort": token_sort,
    "token_set": token_set,
    "gapped": gapped,
    "mhd": lambda x, y: max(directed_mhd(x, y), directed_mhd(y, x)),
    "hausdorff": lambda x, y: max(directed_hausdorff(x, y), directed_hausdorff(y, x)),
    "chamfer": lambda x, y: directed_mhd(x, y) + directed_mhd(y, x),
    "directed_mhd": directed_mhd,
    "directed_hausdorff": directed_hausdorff,
    "emd": emd,
    "msm": msm,
    "erp": erp,
    "twe": twe,
    "edr": edr,
    "lcss": lcss,
    "adtw": adtw,
    "wdtw": wdtw,
    "ddtw": ddtw,
    "frechet": frechet,
    "window": lambda x, y, **given: window(x, y, **given),
    "kernel": lambda x, y, **given: math.sqrt(max(kernel_distance_squared(x, y, **given), 0)),
}
STRINGS = ("levenshtein", "osa", "damerau_levenshtein", "hamming", "indel", "jaccard", "bag",
           "weighted_levenshtein", "jaro", "jaro_winkler", "token_sort", "token_set",
           "gapped")  # fmt: skip
# Of distances that are not computed in float64: their error, relative to 1 and to themselves.
ROUNDING = {"window": 1e-6}
# What distances without defaults are tested with.
PARAMETERS = {"kernel": {"sigma": 2.0}}


def given(name):
    """Parameters to call a distance of the registry with."""
    return PARAMETERS.get(name, {})


def kernel_values(P, Q, sigma, kernel="gaussian"):
    """K(p, q) for all pairs."""
    P, Q = (np.asarray(v, dtype=np.float64) for v in (P, Q))
    if kernel == "linear":
        return P @ Q.T
    if kernel == "trivial":
        return np.array([[float((p == q).all()) for q in Q] for p in P])
    if kernel == "laplace":
        return np.exp(-cdist(P, Q) / sigma)
    return np.exp(-cdist(P, Q, "sqeuclidean") / (2 * sigma**2))


def kernel_distance_squared(P, Q, sigma, kernel="gaussian", w=None, v=None):
    """kappa(P, P) + kappa(Q, Q) - 2 kappa(P, Q)."""
    w = np.ones(len(P)) if w is None else np.asarray(w, dtype=np.float64)
    v = np.ones(len(Q)) if v is None else np.asarray(v, dtype=np.float64)
    terms = [
        factor * (a[:, None] * b * kernel_values(A, B, sigma, kernel)).ravel()
        for factor, a, A, b, B in [(1, w, P, w, P), (1, v, Q, v, Q), (-2, w, P, v, Q)]
    ]
    return math.fsum(np.concatenate(terms))


def precise_kernel_distance(P, Q, sigma, kernel, w, v):
    """The kernel distance of few points, in 60 digits."""
    with decimal.localcontext(prec=60):
        points = [[Decimal(c) for c in p] for p in [*plain(P), *plain(Q)]]
        weights = [*map(Decimal, w), *(-Decimal(b) for b in v)]
        total, sigma = Decimal(0), Decimal(sigma)
        for p, a in zip(points, weights, strict=True):
            for q, b in zip(points, weights, strict=True):
                square = sum((s - t) ** 2 for s, t in zip(p, q, strict=True))
                rate = square.sqrt() / sigma if kernel == "laplace" else square / (2 * sigma**2)
                total += a * b * (-rate).exp()
        return float(max(total, Decimal(0)).sqrt())


def matrix(function, X, Y, **params):
    """All distances, one pair after the other."""
    return np.array([[function(x, y, **params) for y in Y] for x in X])


def features(D, gamma):
    """Z = exp(-gamma D) / sqrt(R)."""
    with np.errstate(under="ignore", over="ignore"):
        return np.exp(-gamma * D) / np.sqrt(D.shape[1])


STYLES = ("normal", "ties", "equal", "near-equal", "constant")


def draw_vectors(rng, lengths, dim, dtype=np.float64, style="normal"):
    """Draw series of these lengths: generic ones, or such as bring out ties and cancellation."""
    total = max(lengths)
    if style == "ties":
        base = rng.integers(-2, 3, (total, dim)).astype(dtype)
        return [rng.permutation(base)[:length] for length in lengths]
    if style == "constant":
        return [np.full((length, dim), rng.integers(0, 2), dtype=dtype) for length in lengths]
    base = rng.standard_normal((total, dim))
    if style == "equal":
        return [base[:length].astype(dtype) for length in lengths]
    if style == "near-equal":
        step = np.finfo(dtype).eps * 4
        return [
            (base[:length] * (1 + step * rng.integers(-2, 3, (length, dim)))).astype(dtype)
            for length in lengths
        ]
    return [rng.standard_normal((length, dim)).astype(dtype) for length in lengths]


def texts(letters, longest, most=8):
    """Draw a list of strings of these letters."""
    return st.lists(st.text(letters, max_size=longest), min_size=1, max_size=most)


@st.composite
def vector_pairs(draw, dims=(1, 2, 3, 4, 128), longest=12, most=9):
    """Draw two collections of series or sets of one dimension and one element type."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dim = draw(st.sampled_from(dims))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    style = draw(st.sampled_from(STYLES))
    lengths = st.lists(st.integers(1, longest), min_size=1, max_size=most)
    x, y = draw(lengths), draw(lengths)
    items = draw_vectors(rng, x + y, dim, dtype, style)
    return items[: len(x)], items[len(x) :]


def random_text(rng, n, longest=40, alphabet="acgt\u00e9\u4e2d\U0001f600\U00010348"):
    """Draw n strings with letters from all over Unicode, empty ones among them."""
    return ["".join(rng.choice(list(alphabet), rng.integers(0, longest))) for _ in range(n)]


def sample_objects(name, rng, n, dtype=np.float64):
    """Draw n objects that the distance of this name is defined for."""
    if name == "hamming":
        return [one.ljust(39, "a") for one in random_text(rng, n)]
    if name in ("token_sort", "token_set"):
        return random_text(rng, n, alphabet="ab \u00e9\u4e2d  ")
    if name in STRINGS:
        return random_text(rng, n)
    return draw_vectors(rng, rng.integers(1, 30, n).tolist(), 3, dtype)


def window(x, y, dilation=1, normalize=True):
    """The distance of y to the nearest place of x; both are (length, channels)."""
    w = np.asarray(y, np.float64).T
    if normalize:
        w = normalized(w, window_limits(y))
    profile = window_profile(np.asarray(x).T, w, dilation, normalize, window_limits(x))
    return math.sqrt(profile.min())


def window_limits(x):
    """Deviations up to which windows of x, (length, channels), are constant, in float32."""
    eps = np.finfo(np.asarray(x).dtype).eps
    x = np.asarray(x, np.float64)
    away = np.abs(x - x.mean(axis=0)).max(axis=0)
    return np.maximum(2.0**-20 * away, 2 * eps * np.abs(x).max(axis=0))


def normalized(w, limits=0.0):
    """Windows (..., channels, l) with mean 0 and deviation 1; those within the limits are zeros."""
    w = w - w.mean(axis=-1, keepdims=True)
    deviation = w.std(axis=-1, keepdims=True)
    constant = deviation <= np.asarray(limits)[..., None]
    return np.where(constant, 0, w / np.where(constant, 1, deviation))


def window_profile(x, w, dilation, normalize, limits=0.0):
    """D of a window w (channels, l) at every place of x (channels, T)."""
    x, w = np.asarray(x, np.float64), np.asarray(w, np.float64)
    (_, steps), length = x.shape, w.shape[1]
    span = (length - 1) * dilation + 1
    if steps < span:
        at = np.arange(length) * (steps - 1) / (length - 1)
        taken = np.array([[np.interp(at, np.arange(steps), channel) for channel in x]])
    else:
        inside = np.arange(length) * dilation
        taken = np.array([x[:, p + inside] for p in range(steps - span + 1)])
    if normalize:
        taken = normalized(taken, limits)
    return ((taken - w) ** 2).mean(axis=2).sum(axis=1)


def longest_run(within):
    """The length of the longest run of true values."""
    return max((len(list(run)) for value, run in itertools.groupby(within) if value), default=0)


def window_distances(x, w, dilation, normalize, limits, place, radius, threshold):
    """The least distance of a window, the least near its place, the share above, the longest run.

    Of the run, the distance: 1 less the root of its share of the places.
    """
    profile = window_profile(x, w, dilation, normalize, limits)
    away = np.abs(np.arange(len(profile)) - float(place) * (len(profile) - 1))
    near = profile[away <= max(radius * x.shape[1], away.min())]
    run = 1 - math.sqrt(longest_run(profile <= threshold) / len(profile))
    return math.sqrt(profile.min()), math.sqrt(near.min()), np.mean(profile > threshold), run


class _Counts(logging.Handler):
    def emit(self, record):
        self.info = record.args[1]


def counted(search, *args, **options):
    """What `nearest` or `within` returns, and the counts that it logs."""
    logger, counts = logging.getLogger("d2ke"), _Counts()
    logger.addHandler(counts)
    logger.setLevel(logging.DEBUG)
    try:
        return search(*args, **options), counts.info
    finally:
        logger.removeHandler(counts)
        logger.setLevel(logging.NOTSET)
