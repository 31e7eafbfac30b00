# SPDX-License-Identifier: BSD-3-Clause
"""MNIST's handwritten digits as crack codes of their contours (strings)."""

from __future__ import annotations

import gzip
import io
import math
import struct
import zlib
from functools import partial
from pathlib import Path

import numpy as np

from d2ke._base.progress import stages
from d2ke.datasets import boundary_code
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack
from papers.datasets.cache import cached_objects
from papers.datasets.source import STRINGS, Source, published

# Grey levels are 0 to 255; a pixel that is at least half black is ink.
_THRESHOLD = 128
_SMALL = 1 << 20  # bytes that may be unpacked of any file
_DEFLATE_RATIO = 1040  # deflate cannot make more than 1032 bytes of one
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
        If a file is not a complete idx file of unsigned bytes of the expected shape, the numbers
        of images and labels differ, or an image has no ink; the message names the file.

    Notes
    -----
    The strings take about 15 seconds to make and are kept in the cache of `papers.datasets`.
    """
    paths = (train_images, train_labels, test_images, test_labels)
    recipe = f"crack codes of {directions} directions, ink from {_THRESHOLD}"
    return cached_objects(
        f"mnist-str{directions}", paths, recipe, partial(_strings, paths, directions)
    )


def _strings(paths: tuple[Path, ...], directions: int) -> tuple[Objects, np.ndarray]:
    codes: list[str] = []
    labels = []
    for images_path, labels_path in (paths[:2], paths[2:]):
        images, digits = read_idx(images_path, 3), read_idx(labels_path, 1)
        if len(images) != len(digits):
            raise ValueError(
                f"{labels_path} has {len(digits)} labels, but {images_path} has "
                f"{len(images)} images"
            )
        inked = stages(images >= _THRESHOLD, f"contours of {images_path.name}", True)
        for number, image in enumerate(inked):
            codes.append(boundary_code(image, directions))
            if not codes[-1]:
                raise ValueError(f"{images_path}: image {number} has no ink")
        labels.append(digits.astype(np.int64))
    return pack(codes), np.concatenate(labels)


def read_idx(path: Path, n_dimensions: int) -> np.ndarray:
    """Read an idx file of unsigned bytes, compressed by gzip or not."""
    start = 4 + 4 * n_dimensions
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
                front = stream.read(start)
                sizes = struct.unpack(f">{n_dimensions}I", front[4:].ljust(start - 4, b"\0"))
                # One byte more than expected shows that there are more; no more is unpacked.
                limit = max(min(math.prod(sizes), _DEFLATE_RATIO * len(content)) + 1, _SMALL)
                content = front + stream.read(limit)
                if len(content) < start + limit:
                    stream.read(1)  # the end, where the sum is checked
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is not a complete .gz file: {error}") from error
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
