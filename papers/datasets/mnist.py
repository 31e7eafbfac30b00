# SPDX-License-Identifier: BSD-3-Clause
"""MNIST's handwritten digits as crack codes of their contours (strings)."""

from __future__ import annotations

import gzip
import math
import struct
from functools import partial
from pathlib import Path

import numpy as np

from d2ke import Objects, pack
from papers.datasets.contours import boundary_code
from papers.datasets.files import complete
from papers.datasets.source import STRINGS, Source, published

# Grey levels are 0 to 255; a pixel that is at least half black is ink.
_THRESHOLD = 128
_UNSIGNED_BYTES = 8  # the type of an idx file's elements


def load_mnist_strings(
    train_images: Path,
    train_labels: Path,
    test_images: Path,
    test_labels: Path,
    *,
    directions: int = 8,
) -> tuple[Objects, np.ndarray]:
    """Read the four idx files, and code the contours of each digit.

    A pixel is ink from grey level 128 on; the contours of all shapes and holes are followed by
    `boundary_code`. The strings of the paper are not published, but these have exactly their
    lengths: 34 to 198 with 4 directions and 17 to 99 with 8.

    Parameters
    ----------
    train_images, train_labels, test_images, test_labels : Path
        The files, as they are distributed (``.gz``) or uncompressed.
    directions : {8, 4}, default 8
        As in `boundary_code`.

    Returns
    -------
    objects : Objects
        70000 strings over the letters ``"0"`` to ``"7"`` (``"0"`` to ``"3"``): the training
        images, then the test images.
    labels : ndarray of int64
        The digits 0 to 9.

    Raises
    ------
    ValueError
        If a file is not a complete idx file of unsigned bytes; the message names the file.
    """
    paths = ((train_images, train_labels), (test_images, test_labels))
    images = np.concatenate([read_idx(path, 3) for path, _ in paths])
    digits = np.concatenate([read_idx(path, 1) for _, path in paths])
    codes = [boundary_code(image, directions) for image in images >= _THRESHOLD]
    return pack(codes), digits.astype(np.int64)


def read_idx(path: Path, n_dimensions: int) -> np.ndarray:
    """Read an idx file of unsigned bytes, compressed by gzip or not."""
    start = 4 + 4 * n_dimensions
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        with complete(path):
            content = gzip.decompress(content)
    if content[:4] != bytes([0, 0, _UNSIGNED_BYTES, n_dimensions]) or len(content) < start:
        raise ValueError(
            f"{path} is not an idx file of unsigned bytes in {n_dimensions} dimensions; it begins "
            f"with {content[:4]!r}"
        )
    shape = struct.unpack(f">{n_dimensions}I", content[4:start])
    if len(content) - start != math.prod(shape):
        raise ValueError(
            f"{path} has {len(content) - start} values instead of {math.prod(shape)} "
            f"({' x '.join(map(str, shape))})"
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


_FILES = (
    "mnist/train-images-idx3-ubyte.gz",
    "mnist/train-labels-idx1-ubyte.gz",
    "mnist/t10k-images-idx3-ubyte.gz",
    "mnist/t10k-labels-idx1-ubyte.gz",
)

SOURCES = tuple(
    Source(
        name=f"mnist-str{directions}",
        loader=partial(load_mnist_strings, directions=directions),
        **STRINGS,
        title="The MNIST database of handwritten digits",
        page="http://yann.lecun.com/exdb/mnist/",
        files=_FILES,
        alternatives={file: (file.removesuffix(".gz"),) for file in _FILES},
        alphabet="01234567"[:directions],
        n_train=60000,
        counts=published(
            (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958),
            lengths=lengths,
            n_train=60000,
        ),
    )
    for directions, lengths in ((8, (17, 99)), (4, (34, 198)))
)
