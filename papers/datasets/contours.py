# SPDX-License-Identifier: BSD-3-Clause
"""Contours of drawn shapes as strings."""

from __future__ import annotations

import numpy as np

# The direction of 8 of two successive edges; no edge leads back.
_TOGETHER = {
    (a, b): 7 if {a, b} == {0, 3} else a + b for a in range(4) for b in range(4) if abs(a - b) != 2
}


def boundary_code(image: np.ndarray, directions: int = 8) -> str:
    """Return the crack codes of all contours in an image, one after the other.

    Every edge of a pixel that separates ink from background is walked once, from corner to
    corner with the ink on the right: clockwise around shapes and counterclockwise around holes,
    as the image is usually shown, with row 0 on top. The ink is taken as 8-connected. Each
    contour begins with the first upper edge of an ink pixel in raster order that is not walked
    yet, hence the outer contour of a shape comes before its holes.

    Parameters
    ----------
    image : ndarray of bool, shape (height, width)
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

    References
    ----------
    .. [1] H. Freeman, "On the encoding of arbitrary geometric configurations", IRE Transactions
       on Electronic Computers EC-10(2), 1961, pp. 260-268.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.datasets.contours import boundary_code
    >>> ring = np.ones((3, 3), dtype=bool)
    >>> ring[1, 1] = False
    >>> boundary_code(ring, directions=4)
    '0003332221110123'
    >>> boundary_code(ring)
    '07643215'
    """
    # A frame of background all around makes every neighbour of every ink pixel addressable.
    pixels = np.pad(image, 1).astype(np.uint8)
    ink, stride = pixels.tobytes(), pixels.shape[1]
    # An upper edge is addressed by the pixel below it.
    upper_edges = np.zeros_like(pixels)
    upper_edges[1:] = pixels[1:] > pixels[:-1]
    unwalked = bytearray(upper_edges.tobytes())
    code: list[int] = []
    while (start := unwalked.find(1)) >= 0:
        walk = _crack_walk(ink, stride, start, unwalked)
        if directions == 8:
            walk = [_TOGETHER[pair] for pair in zip(walk[::2], walk[1::2], strict=True)]
        code += walk
    return "".join(map(str, code))


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
