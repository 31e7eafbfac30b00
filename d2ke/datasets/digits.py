# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten digits that come with scikit-learn, as chain codes and as sets of points."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from d2ke.datasets._contour import chain_code
from d2ke.datasets._dataset import SETS, STRINGS, Source
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack

# Grey levels are 0 to 16; a pixel that is at least half black is ink.
_THRESHOLD = 8.0


def load_digit_strings(*, directions: int = 8) -> tuple[Objects, np.ndarray]:
    """Return the outlines of the digits as chain codes.

    An image of 8 x 8 pixels is too coarse for an outline, so it is enlarged four times by cubic
    convolution; pixels that are at least half black (8 of 16) are ink, and its outer contour is
    coded.

    Parameters
    ----------
    directions : {8, 4}, default 8
        As in `chain_code`.

    Returns
    -------
    objects : Objects
        1797 strings over the letters ``"0"`` to ``"7"`` (``"0"`` to ``"3"``).
    labels : ndarray of int64
        The digits 0 to 9.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.

    References
    ----------
    .. [1] R. G. Keys, "Cubic convolution interpolation for digital image processing", IEEE
       Transactions on Acoustics, Speech, and Signal Processing 29(6), 1981, pp. 1153-1160.
    """
    images, labels = _images()
    enlarge = _cubic_convolution(images.shape[1], 4)
    # All numbers are multiples of 2**-20 below 2**5, hence exact, and so is the comparison.
    inked = enlarge @ images @ enlarge.T >= _THRESHOLD
    return pack([chain_code(image, directions) for image in inked]), labels


def load_digit_points() -> tuple[Objects, np.ndarray]:
    """Return the digits as sets of points: (row, column) of the pixels with ink.

    Ink is a pixel that is at least half black (8 of 16) in the original 8 x 8 image.

    Returns
    -------
    objects : Objects
        1797 sets of 2-D points, float64, with coordinates 0 to 7.
    labels : ndarray of int64
        The digits 0 to 9.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    """
    images, labels = _images()
    return pack([np.argwhere(image >= _THRESHOLD).astype(np.float64) for image in images]), labels


def _images() -> tuple[np.ndarray, np.ndarray]:
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise ImportError(
            'the digits come with scikit-learn, which is not installed: pip install "d2ke[demo]"'
        ) from None
    digits = load_digits()
    return digits.images, digits.target.astype(np.int64)


def _cubic_convolution(n: int, factor: int) -> np.ndarray:
    """Return the (n * factor, n) matrix that enlarges a row of n pixels; the borders repeat."""
    centres = (np.arange(n * factor) + 0.5) / factor - 0.5
    matrix = np.zeros((n * factor, n))
    for pixel in range(-2, n + 2):
        t = np.abs(centres - pixel)
        near = (1.5 * t - 2.5) * t**2 + 1.0
        outer = ((-0.5 * t + 2.5) * t - 4.0) * t + 2.0
        weight = np.where(t <= 1, near, np.where(t < 2, outer, 0.0))
        matrix[:, min(max(pixel, 0), n - 1)] += weight
    return matrix


_DIGITS: dict[str, Any] = {
    "title": "Optical Recognition of Handwritten Digits",
    "page": "https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
}

SOURCES = (
    *(
        Source(
            name=f"digits-str{directions}",
            loader=partial(load_digit_strings, directions=directions),
            **STRINGS,
            alphabet="01234567"[:directions],
            **_DIGITS,
        )
        for directions in (8, 4)
    ),
    Source(
        name="digits-points",
        loader=load_digit_points,
        **SETS,
        **_DIGITS,
    ),
)
