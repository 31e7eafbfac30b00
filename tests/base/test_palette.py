# SPDX-License-Identifier: BSD-3-Clause
"""The colours of pictures differ for all eyes, and can be seen on white and on black."""

from itertools import combinations

import numpy as np
import pytest

from d2ke.plots.style import COLOURS, GREY, on_top

# Linear RGB as red-, green- and blue-blind eyes see it (Machado, Oliveira and Fernandes 2009).
VISIONS = {
    "all": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                 [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x = XYZ @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_are_far_from_each_other(vision):
    seen = [lab(np.array(VISIONS[vision]) @ linear(colour)) for colour in COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 16


@pytest.mark.parametrize("colour", [*COLOURS, GREY])
def test_colours_are_seen_on_white_and_on_black(colour):
    luminance = XYZ[1] @ linear(colour)
    assert (luminance + 0.05) / 0.05 >= 3
    assert 1.05 / (luminance + 0.05) >= 1.6


def test_text_on_colours():
    pytest.importorskip("matplotlib")
    assert on_top("#FFFFFF") == on_top("#DDBB77") == "black"
    assert on_top("#000000") == on_top("#8800EE") == "white"
