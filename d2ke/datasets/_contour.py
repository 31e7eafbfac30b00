# SPDX-License-Identifier: BSD-3-Clause
"""Freeman chain codes: the outline of a drawn shape as a string."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["chain_code"]


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
        True where there is ink. The ink may touch the border.
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
        The code; empty if there is no ink.

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
    image = np.asarray(image)
    if image.dtype != bool:
        raise TypeError(
            f"image must be a boolean array, True where there is ink, got dtype {image.dtype}; "
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
    ink = framed.tobytes()
    start = _largest_shape(ink, width + 2)
    if start < 0:
        return ""
    if directions == 8:
        return _pixel_walk(ink, width + 2, start)
    return _crack_walk(ink, width + 2, start)


def _neighbours(stride: int) -> tuple[int, ...]:
    """Return the address steps of the directions 0 to 7 in an image with rows of `stride`."""
    return (1, 1 - stride, -stride, -1 - stride, -1, stride - 1, stride, stride + 1)


def _largest_shape(ink: bytes, stride: int) -> int:
    """Return the address of the first pixel of the largest shape, -1 if there is no ink."""
    steps = _neighbours(stride)
    unseen = bytearray(ink)
    remaining = unseen.count(1)
    best, best_size = -1, 0
    first = -1
    # A shape larger than the best one must fit into the ink that is left.
    while remaining > best_size:
        first = unseen.find(1, first + 1)
        unseen[first] = 0
        shape = [first]
        for pixel in shape:
            for step in steps:
                if unseen[pixel + step]:
                    unseen[pixel + step] = 0
                    shape.append(pixel + step)
        remaining -= len(shape)
        if len(shape) > best_size:
            best, best_size = first, len(shape)
    return best


def _pixel_walk(ink: bytes, stride: int, start: int) -> str:
    """Follow the contour from pixel to pixel, keeping the background on the left.

    Shapes do not touch, so every ink neighbour of a pixel of the shape belongs to the shape.
    """
    steps = _neighbours(stride)
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


def _crack_walk(ink: bytes, stride: int, start: int) -> str:
    """Follow the edges between ink and background, keeping the ink on the right.

    A corner is addressed by the pixel to its lower right.
    """
    ahead = (1, -stride, -1, stride)
    # The pixels in front of a walker who stands on a corner and looks in the direction 0 to 3.
    front_left = (-stride, -1 - stride, -1, 0)
    front_right = (0, -stride, -1 - stride, -1)
    code: list[int] = []
    corner, direction = start, 0
    while True:
        code.append(direction)
        corner += ahead[direction]
        # The start's corner touches one pixel of the shape only, so it is passed once.
        if corner == start:
            return "".join(map(str, code))
        # Ink that touches only at a corner is joined, hence left comes first.
        if ink[corner + front_left[direction]]:
            direction = (direction + 1) % 4
        elif not ink[corner + front_right[direction]]:
            direction = (direction - 1) % 4
