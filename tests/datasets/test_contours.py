# SPDX-License-Identifier: BSD-3-Clause
"""Chain codes: the outlines of drawn shapes as strings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import examples
from scipy import ndimage

from d2ke.datasets import boundary_code, chain_code


def drawing(*rows):
    return np.array([[letter == "#" for letter in row] for row in rows])


SHAPES = {
    "blank": (drawing("...", "..."), "", ""),
    "pixel": (drawing("...", ".#.", "..."), "", "0321"),
    "square": (drawing("##", "##"), "0642", "00332211"),
    "line": (drawing("....", "###."), "0044", "00032221"),
    "upright line": (drawing("#", "#", "#"), "6622", "03332111"),
    "diagonal": (drawing("#..", ".#.", "..#"), "7733", "030303212121"),
    "rising diagonal": (drawing("..#", ".#.", "#.."), "5511", "032323210101"),
    "L": (drawing("#..", "#..", "###"), "6704422", "033003222111"),
    "plus": (drawing(".#.", "###", ".#."), "7531", "030323212101"),
    "start passed twice": (drawing(".#.", "#.#"), "7351", "030321232101"),
    "hole": (drawing("###", "#.#", "###"), "00664422", "000333222111"),
    "filled": (drawing("###", "###", "###"), "00664422", "000333222111"),
    "largest of two": (drawing("##.....", "....###", "....###"), "006442", "0003322211"),
    "first of equals": (drawing("##...", "...#.", "...#."), "04", "003221"),
    "in the hole of another": (
        drawing("#####", "#...#", "#.#.#", "#...#", "#####"),
        "0000666644442222",
        "00000333332222211111",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_chain_codes_of_drawings(shape):
    image, code8, code4 = SHAPES[shape]
    assert chain_code(image) == code8
    assert chain_code(image, directions=4) == code4
    # Where the shape lies, and how the array is stored, changes nothing.
    moved = np.pad(image, ((3, 1), (2, 5)))
    assert chain_code(moved) == code8
    assert chain_code(np.asfortranarray(moved), 4) == code4


STEPS8 = np.array([(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)])
images = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(lambda s: arrays(bool, s))


def largest(image):
    """Return the shape that is coded, as scipy labels it, its holes filled."""
    labelled, n = ndimage.label(image, structure=np.ones((3, 3)))
    if n == 0:
        return np.zeros_like(image)
    shape = labelled == 1 + np.argmax(np.bincount(labelled.ravel())[1:])
    outside, _ = ndimage.label(np.pad(~shape, 1, constant_values=True))
    return ~(outside == outside[0, 0])[1:-1, 1:-1]


@settings(max_examples=examples(300))
@given(images)
def test_pixel_code_closes_and_visits_the_outer_boundary(image):
    filled = largest(image)
    code = chain_code(image)
    steps = STEPS8[[int(letter) for letter in code]].reshape(-1, 2)
    assert steps.sum(axis=0).tolist() == [0, 0]
    if not filled.any():
        assert code == ""
        return
    start = np.argwhere(filled)[0]
    visited = {tuple(pixel) for pixel in start + np.cumsum(np.vstack([[[0, 0]], steps]), axis=0)}
    # The outer boundary: pixels with a 4-neighbour in the background outside the shape.
    boundary = filled & ~ndimage.binary_erosion(filled)
    assert visited == {tuple(pixel) for pixel in np.argwhere(boundary)}


@given(images)
def test_code_draws_the_shape_again(image):
    """What is drawn from the code and filled has the same code."""
    code = chain_code(image)
    steps = STEPS8[[int(letter) for letter in code]].reshape(-1, 2)
    path = np.cumsum(np.vstack([[[0, 0]], steps]), axis=0)
    path -= path.min(axis=0)
    canvas = np.zeros(path.max(axis=0) + 1, dtype=bool)
    canvas[tuple(path.T)] = True
    assert chain_code(canvas) == code


# ---------------------------------------------------------------- boundary codes


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


@settings(max_examples=examples(300))
@given(images)
def test_crack_codes_against_edges(image):
    assert chain_code(image, directions=4) == "".join(
        str(int(letter) // 2) for steps in contours_of(largest(image)) for letter in letters(steps)
    )


@settings(max_examples=examples(300))
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
