# SPDX-License-Identifier: BSD-3-Clause
"""Freeman chain codes: the outlines of drawn shapes as strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.keywords import hinted


@hinted
def chain_code(image: Any, directions: int = 8) -> str:
    """Return the chain code of the outer contour of the largest shape in an image.

    The ink is taken as 8-connected: pixels that touch at a corner belong together. The shape
    with the most pixels is followed (the first in raster order if several are as large); other
    shapes and all holes are left out. The walk starts at the shape's first pixel in raster
    order (topmost row, then leftmost), runs clockwise as the image is usually shown, with row 0
    on top, and ends where it began, so the steps add up to zero.

    Parameters
    ----------
    image : array_like of bool, shape (height, width)
        True for ink. The ink may touch the border.
    directions : {8, 4}, default 8
        - 8: from pixel to pixel along the contour (Moore neighbour tracing). The letters are
          ``"0"`` right, ``"1"`` up right, ``"2"`` up, and so on counterclockwise to ``"7"`` down
          right. A single pixel has the empty code.
        - 4: from corner to corner along the edges of the pixels that separate ink from
          background (crack code), beginning at the upper left corner of the first pixel. The
          letters are ``"0"`` right, ``"1"`` up, ``"2"`` left, ``"3"`` down. A single pixel has the
          code ``"0321"``.

    Returns
    -------
    str
        The code; empty for an image without ink.

    Raises
    ------
    TypeError
        If `image` is not boolean.
    ValueError
        If `image` is not two-dimensional, or `directions` is neither 8 nor 4.

    References
    ----------
    .. [1] H. Freeman, "On the encoding of arbitrary geometric configurations", IRE Transactions
       on Electronic Computers EC-10(2), 1961, pp. 260-268.

    Examples
    --------
    >>> import numpy as np
    >>> square = np.ones((3, 3), dtype=bool)
    >>> chain_code(square)
    '00664422'
    >>> chain_code(square, directions=4)
    '000333222111'
    """
    ink, stride = _framed(image, directions)
    start = _largest_shape(ink, stride)
    if start < 0:
        return ""
    if directions == 8:
        return _pixel_walk(ink, stride, start)
    return "".join(map(str, _crack_walk(ink, stride, start, bytearray(len(ink)))))


@hinted
def boundary_code(image: Any, directions: int = 8) -> str:
    """Return the crack codes of all contours in an image, one after the other.

    Every edge of a pixel that separates ink from background is walked once, from corner to
    corner with the ink on the right: clockwise around shapes and counterclockwise around holes,
    as the image is usually shown, with row 0 on top. The ink is taken as 8-connected. Each
    contour begins with the first upper edge of an ink pixel in raster order that is not walked
    yet, hence the outer contour of a shape comes before its holes.

    Parameters
    ----------
    image : array_like of bool, shape (height, width)
        True for ink. The ink may touch the border.
    directions : {8, 4}, default 8
        - 4: one letter for each edge: ``"0"`` right, ``"1"`` up, ``"2"`` left, ``"3"`` down.
        - 8: one letter for each two edges of a contour, which has an even number of them: the
          direction from the beginning of the first edge to the end of the second, ``"0"`` right,
          ``"1"`` up right, ``"2"`` up, and so on counterclockwise to ``"7"`` down right.

    Returns
    -------
    str
        The code; empty for an image without ink.

    Raises
    ------
    TypeError
        If `image` is not boolean.
    ValueError
        If `image` is not two-dimensional, or `directions` is neither 8 nor 4.

    References
    ----------
    .. [1] H. Freeman, "On the encoding of arbitrary geometric configurations", IRE Transactions
       on Electronic Computers EC-10(2), 1961, pp. 260-268.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.datasets import boundary_code
    >>> ring = np.ones((3, 3), dtype=bool)
    >>> ring[1, 1] = False
    >>> boundary_code(ring, directions=4)
    '0003332221110123'
    >>> boundary_code(ring)
    '07643215'
    """
    ink, stride = _framed(image, directions)
    # An upper edge is addressed by the pixel below it.
    pixels = np.frombuffer(ink, dtype=np.uint8).reshape(-1, stride)
    upper_edges = np.zeros_like(pixels)
    upper_edges[1:] = pixels[1:] > pixels[:-1]
    unwalked = bytearray(upper_edges)
    code: list[int] = []
    while (start := unwalked.find(1)) >= 0:
        walk = _crack_walk(ink, stride, start, unwalked)
        if directions == 8:
            walk = [_TOGETHER[pair] for pair in zip(walk[::2], walk[1::2], strict=True)]
        code += walk
    return "".join(map(str, code))


# The direction of 8 of two successive edges; no edge leads back.
_TOGETHER = {
    (a, b): 7 if {a, b} == {0, 3} else a + b for a in range(4) for b in range(4) if abs(a - b) != 2
}


def _framed(image: Any, directions: int) -> tuple[bytes, int]:
    """Check the arguments; return the pixels in a frame of background, and a row's length."""
    image = np.asarray(image)
    if image.dtype != bool:
        raise TypeError(
            f"image must be a boolean array, True for ink, got dtype {image.dtype}; "
            "compare a grey image with a threshold first, such as image >= 128"
        )
    if image.ndim != 2:
        raise ValueError(f"image must have the shape (height, width), got {image.shape}")
    if isinstance(directions, (bool, np.bool_)) or directions not in (4, 8):
        raise ValueError(f"directions must be 8 or 4, got {directions!r}")
    # A frame of background all around makes every neighbour of every ink pixel addressable.
    height, width = image.shape
    framed = np.zeros((height + 2, width + 2), dtype=np.uint8)
    framed[1:-1, 1:-1] = image
    return framed.tobytes(), width + 2


def _largest_shape(ink: bytes, stride: int) -> int:
    """Return the address of the first pixel of the largest shape, -1 without ink."""
    pixels = np.frombuffer(ink, dtype=np.uint8).reshape(-1, stride)
    from scipy.ndimage import label

    shapes, n_shapes = label(pixels, np.ones((3, 3)))
    if not n_shapes:
        return -1
    _, firsts, sizes = np.unique(shapes, return_index=True, return_counts=True)
    firsts, sizes = firsts[1:], sizes[1:]  # without the background
    return int(firsts[sizes == sizes.max()].min())


def _pixel_walk(ink: bytes, stride: int, start: int) -> str:
    """Follow the contour from pixel to pixel, keeping the background on the left.

    Shapes do not touch, so every ink neighbour of a pixel of the shape belongs to the shape.
    """
    # From a pixel to its neighbours in the directions 0 to 7.
    steps = (1, 1 - stride, -stride, -1 - stride, -1, stride - 1, stride, stride + 1)
    code: list[int] = []
    pixel, search = start, 4  # nothing of the shape is left of the start or in the rows above
    while True:
        # Turn clockwise from the background just passed to the first ink neighbour.
        for direction in range(search + 8, search, -1):
            if ink[pixel + steps[direction % 8]]:
                break
        else:
            return ""
        direction %= 8
        # The start can be a pixel that the contour passes several times (where a thin line
        # begins); the walk is complete when it would leave by the same step as at first.
        if pixel == start and code and direction == code[0]:
            return "".join(map(str, code))
        code.append(direction)
        pixel += steps[direction]
        search = direction + 2


def _crack_walk(ink: bytes, stride: int, start: int, unwalked: bytearray) -> list[int]:
    """Follow the edges between ink and background, keeping the ink on the right.

    The walk begins along the upper edge of the pixel `start`. A corner is addressed by the pixel
    to its lower right, and so is the upper edge of that pixel. The upper edges on the way are
    cleared in `unwalked`.
    """
    ahead = (1, -stride, -1, stride)
    # The pixels in front of a walker who stands on a corner and looks in the direction 0 to 3.
    front_left = (-stride, -1 - stride, -1, 0)
    front_right = (0, -stride, -1 - stride, -1)
    code: list[int] = []
    corner, direction = start, 0
    while True:
        if direction == 0:
            # A contour may pass its first corner twice, but no edge.
            if code and corner == start:
                return code
            unwalked[corner] = 0
        code.append(direction)
        corner += ahead[direction]
        # Ink that touches only at a corner is joined, hence left comes first.
        if ink[corner + front_left[direction]]:
            direction = (direction + 1) % 4
        elif not ink[corner + front_right[direction]]:
            direction = (direction - 1) % 4
