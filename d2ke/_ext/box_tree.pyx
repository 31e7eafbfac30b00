# SPDX-License-Identifier: BSD-3-Clause
"""Sums over pairs of boxes of points in place of sums over pairs of points.

The pairs of boxes that become tasks depend on the data alone, and their results are added in their
order: the bits do not depend on the number of threads.
"""

import numpy as np

from libc.math cimport INFINITY, exp, fmax, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from d2ke._ext.isa cimport current, d2ke_add_exactly, d2ke_cloud, d2ke_poll, d2ke_stopped
from d2ke._ext.pair_sums cimport describe
from d2ke._ext.pair_sums import PADDING
from d2ke._ext.tasks cimport run

cdef enum:
    FIRST_PAIRS = 2048      # pairs of boxes that become tasks


cdef struct Node:
    int64_t begin
    int64_t end
    int64_t left            # the other child is left + 1; -1: a leaf
    int64_t depth


cdef struct Sum:
    double high
    double low
    double bound            # of the error
    int64_t boxes           # pairs of boxes that one kernel value stood for
    int64_t points          # pairs of points evaluated one by one


cdef struct BoxPair:
    int64_t a
    int64_t b


cdef struct Walk:
    d2ke_cloud cloud
    const Node *nodes
    const double *boxes     # lower and upper corner of each node
    const double *totals    # sum of the vectors and of their lengths of each node
    int laplace
    double rate
    double tolerance        # dual tree: stop at K(nearest) - K(farthest) <= tolerance
    double alpha            # well-separated pairs: diameters <= alpha times the distance; else < 0
    double cutoff           # ... which count as 0 beyond this distance
    const BoxPair *tasks
    Sum *sums
    BoxPair *stacks
    int64_t stack_size


cdef struct Build:
    double *points          # (n, dim), and their numbers, which move with them
    int64_t *order
    int64_t dim
    int64_t leaf_size
    int64_t capacity        # most nodes
    Node *nodes
    double *boxes
    int64_t filled          # nodes so far
    int64_t depth
    bint fits


cdef void _build_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    """Halve boxes, level by level, until all are leaves."""
    cdef Build *build = <Build *> context
    cdef int64_t node = 0, middle, axis, k
    cdef Node *parent
    cdef Node *child
    build.fits = True
    while node < build.filled:
        parent = build.nodes + node
        parent.left = -1
        build.depth = max(build.depth, parent.depth)
        axis = _tighten(build, node)
        if parent.end - parent.begin > build.leaf_size and axis >= 0:
            if build.filled + 2 > build.capacity:
                build.fits = False
                return
            middle = _partition(build, node, axis)
            parent.left = build.filled
            for k in range(2):
                child = build.nodes + build.filled + k
                child.begin = middle if k else parent.begin
                child.end = parent.end if k else middle
                child.depth = parent.depth + 1
            build.filled += 2
        node += 1
        if d2ke_stopped(poll):
            return


cdef int64_t _tighten(Build *build, int64_t node) noexcept nogil:
    """Draw the node's box around its points; returns its longest side, -1 if all are 0."""
    cdef int64_t dim = build.dim, axis = -1, i, k
    cdef double *box = build.boxes + 2 * dim * node
    cdef double widest = 0, value
    for k in range(dim):
        box[k] = INFINITY
        box[dim + k] = -INFINITY
    for i in range(build.nodes[node].begin, build.nodes[node].end):
        for k in range(dim):
            value = build.points[i * dim + k]
            if value < box[k]:
                box[k] = value
            if value > box[dim + k]:
                box[dim + k] = value
    for k in range(dim):
        value = box[dim + k] - box[k]
        if value > widest:
            widest = value
            axis = k
    return axis


cdef int64_t _partition(Build *build, int64_t node, int64_t axis) noexcept nogil:
    """Bring the points of the box's lower half to the front; returns where the others begin."""
    cdef int64_t dim = build.dim, i = build.nodes[node].begin, j = build.nodes[node].end, k
    cdef const double *box = build.boxes + 2 * dim * node
    cdef double *points = build.points
    cdef double middle = 0.5 * box[axis] + 0.5 * box[dim + axis], value
    # Between two neighbouring numbers lies no third: the lower goes left.
    if not middle < box[dim + axis]:
        middle = box[axis]
    while i < j:
        if points[i * dim + axis] <= middle:
            i += 1
        else:
            j -= 1
            for k in range(dim):
                value = points[i * dim + k]
                points[i * dim + k] = points[j * dim + k]
                points[j * dim + k] = value
            k = build.order[i]
            build.order[i] = build.order[j]
            build.order[j] = k
    return i


cdef class Tree:
    """Points in boxes that are halved at the middle of their longest side, tightened each time."""
    cdef readonly int64_t depth, n_nodes
    cdef Node[::1] nodes
    cdef double[:, :, ::1] boxes
    cdef double[:, ::1] totals
    cdef const double[:, ::1] points
    cdef const double[:, ::1] vectors

    def __init__(self, points, vectors, int64_t leaf_size):
        n, dim = points.shape
        order = np.arange(n)
        points = points.copy()
        for capacity in (min(2 * n, 64 + 16 * (n // leaf_size)), 2 * n):
            if self._build(points, order, leaf_size, capacity):
                break
        cloud = np.zeros((dim, n + PADDING))
        cloud[:, :n] = points.T
        self.points = cloud
        cloud = np.zeros((vectors.shape[1], n + PADDING))
        cloud[:, :n] = vectors[order].T
        self.vectors = cloud
        self._sum()

    def _build(self, double[:, ::1] points, int64_t[::1] order, int64_t leaf_size,
               int64_t capacity):
        """Sort the points into boxes; False: there are more than `capacity`."""
        cdef Build build
        self.nodes = np.empty(4 * capacity, dtype=np.int64).view(
            [("begin", "i8"), ("end", "i8"), ("left", "i8"), ("depth", "i8")])
        self.boxes = np.empty((capacity, 2, points.shape[1]))
        build.points = &points[0, 0]
        build.order = &order[0]
        build.dim = points.shape[1]
        build.leaf_size = leaf_size
        build.capacity = capacity
        build.nodes = &self.nodes[0]
        build.boxes = &self.boxes[0, 0, 0]
        build.filled = 1
        build.depth = 0
        build.nodes[0].begin = 0
        build.nodes[0].end = points.shape[0]
        build.nodes[0].depth = 0
        run(_build_task, &build, 1, 1)
        self.n_nodes = build.filled
        self.depth = build.depth
        return build.fits

    def _sum(self):
        """Add up every node's vectors, children before parents."""
        cdef int64_t node, c, i, left, channels = self.vectors.shape[0]
        cdef double square
        self.totals = np.zeros((self.n_nodes, channels + 1))
        with nogil:
            for node in range(self.n_nodes - 1, -1, -1):
                left = self.nodes[node].left
                if left >= 0:
                    for c in range(channels + 1):
                        self.totals[node, c] = self.totals[left, c] + self.totals[left + 1, c]
                    continue
                for i in range(self.nodes[node].begin, self.nodes[node].end):
                    square = 0
                    for c in range(channels):
                        self.totals[node, c] += self.vectors[c, i]
                        square += self.vectors[c, i] * self.vectors[c, i]
                    self.totals[node, channels] += sqrt(square)

    def norm(self, bint laplace, double rate, double tolerance, double alpha, double cutoff,
             int n_threads):
        """kappa of the points with themselves, approximately.

        Returns (high, low, bound of the error, pairs of boxes, pairs of points). alpha < 0 asks
        for the dual tree, which alone has a bound.
        """
        cdef Walk walk
        cdef Sum total
        cdef BoxPair[3] children
        cdef int64_t head = 0, tail = 1, k, made
        cdef double[:, ::1] sums
        describe(&walk.cloud, self.points, self.vectors)
        walk.nodes = &self.nodes[0]
        walk.boxes = &self.boxes[0, 0, 0]
        walk.totals = &self.totals[0, 0]
        walk.laplace = laplace
        walk.rate = rate
        walk.tolerance = tolerance
        walk.alpha = alpha
        walk.cutoff = cutoff
        memset(&total, 0, sizeof(Sum))
        # A queue of pairs grows from the whole until there are enough for all threads.
        cdef int64_t[:, ::1] queue = np.zeros((4 * FIRST_PAIRS + 8, 2), dtype=np.int64)
        while head < tail and tail - head < FIRST_PAIRS and tail < 4 * FIRST_PAIRS:
            made = _step(&walk, queue[head, 0], queue[head, 1], children, &total)
            head += 1
            for k in range(made):
                queue[tail, 0] = children[k].a
                queue[tail, 1] = children[k].b
                tail += 1
        if head < tail:
            n_threads = min(n_threads, tail - head)
            sums = np.zeros((tail - head, sizeof(Sum) // 8))
            walk.tasks = <const BoxPair *> &queue[head, 0]
            walk.sums = <Sum *> &sums[0, 0]
            # A step takes one pair and leaves three at most, each one level deeper.
            walk.stack_size = 4 * self.depth + 64
            walk.stacks = <BoxPair *> malloc(n_threads * walk.stack_size * sizeof(BoxPair))
            if walk.stacks == NULL:
                raise MemoryError("no memory for the walk through the tree")
            try:
                run(_walk_task, &walk, tail - head, n_threads)
            finally:
                free(walk.stacks)
            for k in range(tail - head):
                _add(&total, walk.sums + k)
        return total.high, total.low, total.bound, total.boxes, total.points


cdef void _add(Sum *total, const Sum *part) noexcept nogil:
    d2ke_add_exactly(part.high, &total.high, &total.low)
    total.low += part.low
    total.bound += part.bound
    total.boxes += part.boxes
    total.points += part.points


cdef void _walk_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Walk *walk = <Walk *> context
    cdef BoxPair *stack = walk.stacks + poll.thread * walk.stack_size
    cdef BoxPair[3] children
    cdef Sum total
    cdef int64_t height = 1, made, k, last = 0
    stack[0] = walk.tasks[task]
    memset(&total, 0, sizeof(Sum))
    while height > 0:
        height -= 1
        made = _step(walk, stack[height].a, stack[height].b, children, &total)
        for k in range(made):
            stack[height] = children[k]
            height += 1
        if total.boxes + total.points - last > 20000:
            last = total.boxes + total.points
            if d2ke_stopped(poll):
                return
    walk.sums[task] = total


cdef inline double _kernel(const Walk *walk, double square) noexcept nogil:
    return exp(-walk.rate * (sqrt(square) if walk.laplace else square))


cdef inline double _square(const double *box, int64_t dim) noexcept nogil:
    """Square of the box's diameter."""
    cdef double total = 0, side
    cdef int64_t k
    for k in range(dim):
        side = box[dim + k] - box[k]
        total += side * side
    return total


cdef int64_t _step(const Walk *walk, int64_t a, int64_t b, BoxPair *children,
                   Sum *total) noexcept nogil:
    """Settle the pair of nodes, or write the pairs that take its place and return their number."""
    cdef int64_t dim = walk.cloud.dim, channels = walk.cloud.channels, k
    cdef const Node *one = walk.nodes + a
    cdef const Node *other = walk.nodes + b
    cdef const double *box = walk.boxes + 2 * dim * a
    cdef const double *other_box = walk.boxes + 2 * dim * b
    cdef double least = 0, most = 0, gap, weight = 1.0 if a == b else 2.0
    cdef double highest, lowest, value
    cdef double[2] sums
    for k in range(dim):
        gap = fmax(fmax(box[k] - other_box[dim + k], other_box[k] - box[dim + k]), 0.0)
        least += gap * gap
        gap = fmax(box[dim + k] - other_box[k], other_box[dim + k] - box[k])
        most += gap * gap
    cdef double size = _square(box, dim), other_size = _square(other_box, dim)
    if walk.alpha >= 0:
        if least > walk.cutoff * walk.cutoff:
            total.boxes += 1
            return 0
        if fmax(size, other_size) <= walk.alpha * walk.alpha * least or size + other_size == 0:
            value = 0
            for k in range(dim):
                gap = (walk.cloud.points[k * walk.cloud.stride + one.begin]
                       - walk.cloud.points[k * walk.cloud.stride + other.begin])
                value += gap * gap
            value = _kernel(walk, value) if value <= walk.cutoff * walk.cutoff else 0.0
            _box_pair(walk, a, b, weight * value, total)
            return 0
    else:
        highest = _kernel(walk, least)
        lowest = _kernel(walk, most)
        if highest - lowest <= walk.tolerance:
            _box_pair(walk, a, b, 0.5 * weight * (highest + lowest), total)
            total.bound += (0.5 * weight * (highest - lowest)
                            * walk.totals[a * (channels + 1) + channels]
                            * walk.totals[b * (channels + 1) + channels])
            return 0
        if one.left < 0 and other.left < 0:
            sums[0] = sums[1] = 0
            current().pair_sums(&walk.cloud, one.begin, one.end, &walk.cloud, other.begin,
                                other.end, walk.laplace, walk.rate, sums, NULL)
            d2ke_add_exactly(weight * sums[0], &total.high, &total.low)
            total.low += weight * sums[1]
            total.points += (one.end - one.begin) * (other.end - other.begin)
            return 0
    if a == b:
        children[0].a = children[0].b = children[1].a = one.left
        children[1].b = children[2].a = children[2].b = one.left + 1
        return 3
    if other.left < 0 or (one.left >= 0 and size >= other_size):
        children[0].a = one.left
        children[1].a = one.left + 1
        children[0].b = children[1].b = b
    else:
        children[0].b = other.left
        children[1].b = other.left + 1
        children[0].a = children[1].a = a
    return 2


cdef inline void _box_pair(const Walk *walk, int64_t a, int64_t b, double value,
                           Sum *total) noexcept nogil:
    cdef int64_t c, channels = walk.cloud.channels
    cdef double product = 0
    for c in range(channels):
        product += (walk.totals[a * (channels + 1) + c] * walk.totals[b * (channels + 1) + c])
    d2ke_add_exactly(value * product, &total.high, &total.low)
    total.boxes += 1
