# SPDX-License-Identifier: BSD-3-Clause
"""Four sets of small images as sets of SIFT descriptors: flower, decor, style, letters2."""

from __future__ import annotations

import csv
import io
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from d2ke import Objects, pack
from papers.datasets.files import complete
from papers.datasets.source import SETS, Source, published

# The counts below, which are the paper's where the paper has them, are those of this version of
# OpenCV (and of 4.5, 4.9 and 4.14); others may find a few key points more or less.
_REMARK = "they are those of OpenCV 5.0.0, and other versions find a few key points more or less"


def load_images(
    path: Path, *, label: str, left_out: tuple[str, ...] = (), named: bool = False
) -> tuple[Objects, np.ndarray]:
    """Read a zip archive of PNG images and of one table, and describe each image by SIFT.

    Key points and descriptors are those of OpenCV's ``SIFT_create()`` with its defaults, on the
    image converted from colour to grey by OpenCV; each descriptor is brought to unit length.
    Images without a key point are left out.

    Parameters
    ----------
    path : Path
        The archive.
    label : str
        The table's column with the class; the column ``file`` has the image's name.
    left_out : tuple of str
        Images to leave out.
    named : bool
        Whether the images' names have the class as their second number, which is then taken
        instead of the table.

    Returns
    -------
    objects : Objects
        One set of 128-dimensional float32 vectors for each image, in the order of the names.
    labels : ndarray of int64
        The classes.

    Raises
    ------
    ImportError
        If OpenCV is not installed.
    ValueError
        If the archive is damaged, the table has no line for an image, or an image cannot be
        decoded; the message names the archive and the member.
    """
    try:
        import cv2
    except ImportError:
        raise ImportError(
            'descriptors of images need OpenCV, which is not installed: pip install "d2ke[images]"'
        ) from None
    sift = cv2.SIFT_create()
    sets, labels = [], []
    with complete(path), zipfile.ZipFile(path) as archive:
        members = {
            name.rpartition("/")[2]: name for name in archive.namelist() if "__MACOSX" not in name
        }
        (table,) = (member for name, member in members.items() if name.endswith(".csv"))
        rows = csv.DictReader(io.StringIO(archive.read(table).decode("utf-8-sig")))
        classes = {row["file"]: row[label] for row in rows}
        for name in sorted(members.keys() - set(left_out)):
            if not name.endswith(".png"):
                continue
            text = name.split("_")[1] if named else classes.get(name)
            image = cv2.imdecode(
                np.frombuffer(archive.read(members[name]), np.uint8), cv2.IMREAD_COLOR
            )
            if image is None or text is None:
                problem = "has no class" if text is None else "cannot be decoded as an image"
                raise ValueError(f"{path}: {members[name]} {problem}")
            grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
            _, descriptors = sift.detectAndCompute(grey, None)
            if descriptors is not None:
                lengths = np.linalg.norm(descriptors.astype(np.float64), axis=1)
                sets.append((descriptors / lengths[:, None]).astype(np.float32))
                labels.append(int(text))
    return pack(sets, channels_first=False), np.array(labels, dtype=np.int64)


def _source(
    name: str, page: str, title: str, label: str, counts: dict[str, Any], **options: Any
) -> Source:
    return Source(
        name=name,
        loader=partial(load_images, label=label, **options),
        **SETS,
        title=title,
        page=f"https://www.kaggle.com/datasets/olgabelitskaya/{page}",
        files=(f"images/{name}.zip",),
        package="cv2",
        counts=counts | {"n_channels": 128},
        remark=_REMARK,
    )


SOURCES = (
    _source(
        "flower",
        "flower-color-images",
        "Flower Color Images",
        "label",
        published((21, 20, 19, 22, 21, 25, 23, 15, 26, 18), lengths=(66, 429), n_train=147),
    ),
    _source(
        "decor",
        "traditional-decor-patterns",
        "Traditional Decor Patterns",
        "decor_label",
        published((88, 96, 92, 55, 60, 39, 54), lengths=(35, 914), n_train=339),
        # The image with the most key points, 1071, which the paper's counts do not have.
        left_out=("04_06_1_014.png",),
    ),
    _source(
        "style",
        "style-color-images",
        "Style Color Images",
        "product_label",
        published((189, 66, 191, 61, 48, 78, 88, 49, 60, 63), lengths=(6, 530), n_train=625),
        # The table has 0_3_016.png and 6_2_021.png twice, 0_3_017.png and 6_0_016.png never.
        named=True,
    ),
    _source(
        "letters2",
        "classification-of-handwritten-letters",
        "Classification of Handwritten Letters",
        "label",
        published(
            (
                *(114, 104, 129, 144, 111, 152, 149, 141, 127, 155, 129),
                *(159, 156, 141, 155, 148, 157, 139, 151, 140, 137, 133),
                *(135, 145, 140, 136, 142, 140, 150, 151, 168, 139, 164),
            ),
            lengths=(1, 22),
            n_train=3277,
        ),
    ),
)
