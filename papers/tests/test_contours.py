# SPDX-License-Identifier: BSD-3-Clause
"""Boundary codes, beside a walk over sets of edges."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from papers.datasets.contours import boundary_code

STEPS8 = np.array([(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)])
images = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(lambda s: arrays(bool, s))


def edges_of(image):
    """Return the directed edges, from corner to corner with the ink on the right."""
    edges = set()
    for r, c in np.argwhere(image).tolist():
        around = [(r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c)]
        edges |= set(zip(around, around[1:] + around[:1], strict=True))
    return {(a, b) for a, b in edges if (b, a) not in edges}


def contours_of(image):
    """Follow them one by one, to the left where two go on."""
    edges, contours = edges_of(image), []
    unwalked = set(edges)
    while unwalked:
        edge = first = min((a, b) for a, b in unwalked if b == (a[0], a[1] + 1))
        steps = []
        while not steps or edge != first:
            unwalked.remove(edge)
            (r, c), (y, x) = edge
            steps.append((y - r, x - c))
            turns = [(c - x, y - r), (y - r, x - c), (x - c, r - y)]  # left, ahead, right
            ways = [((y, x), (y + dy, x + dx)) for dy, dx in turns]
            edge = next(way for way in ways if way in edges)
        contours.append(np.array(steps))
    return contours


def letters(steps):
    return "".join(str(STEPS8.tolist().index(np.sign(step).tolist())) for step in steps)


@settings(max_examples=300)
@given(images)
def test_boundary_codes_against_edges(image):
    contours = contours_of(image)
    code = boundary_code(np.asfortranarray(np.pad(image, ((3, 1), (2, 5)))), directions=4)
    assert [2 * int(letter) for letter in code] == [int(x) for x in "".join(map(letters, contours))]
    assert boundary_code(image) == "".join(letters(c[::2] + c[1::2]) for c in contours)
    # As many contours as shapes and holes; all are closed.
    shapes = ndimage.label(image, structure=np.ones((3, 3)))[1]
    holes = ndimage.label(np.pad(~image, 1, constant_values=True))[1] - 1
    assert len(contours) == shapes + holes
    assert all(contour.sum(axis=0).tolist() == [0, 0] for contour in contours)
