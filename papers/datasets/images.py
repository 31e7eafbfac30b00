# SPDX-License-Identifier: BSD-3-Clause
"""Four sets of small images as sets of SIFT descriptors: flower, decor, style, letters2."""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.progress import stages
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack
from papers.datasets.cache import cached_objects
from papers.datasets.files import is_hidden
from papers.datasets.source import SETS, Source, published

_MAX_BYTES = 1 << 24  # of one image
# The counts below, which are the paper's where the paper has them, are those of this version of
# OpenCV (and of 4.5, 4.9 and 4.14); others may find a few key points more or less.
_COUNTED_WITH = "5.0.0"
_NAME_WITH_CLASS = re.compile(r"[0-9]+_([0-9]{1,9})_[0-9]+\.png")


def load_images(
    path: Path, *, name: str, label: str, left_out: tuple[str, ...] = (), named: bool = False
) -> tuple[Objects, np.ndarray]:
    """Read a zip archive of PNG images and of one table, and describe each image by SIFT.

    Key points and descriptors are those of OpenCV's ``SIFT_create()`` with its defaults, on the
    image converted from colour to grey by OpenCV; each descriptor is brought to unit length.
    Images without a key point are left out.

    Parameters
    ----------
    path : Path
        The archive.
    name : str
        Its name in the cache.
    label : str
        The table's column with the class; the column ``file`` has the image's name.
    left_out : tuple of str
        Images to leave out.
    named : bool
        Whether the images' names have the class as their second number. The class is then that
        number, and the table, which may repeat or lack a line, must agree.

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
        If the archive is damaged, has no table or several, the table lacks a column or an image,
        repeats one or names one that does not exist, or an image cannot be decoded; the message
        names the archive and the member.

    Notes
    -----
    Descriptors take 5 to 15 seconds to compute and are kept in the cache of `papers.datasets`,
    for each version of OpenCV.
    """
    cv2 = _opencv()
    recipe = f"SIFT of OpenCV {cv2.__version__}: {label}, {left_out}, {named}"
    make = partial(_described, path, label, left_out, named)
    return cached_objects(name, [path], recipe, make)


def _opencv() -> Any:
    try:
        import cv2
    except ImportError:
        raise ImportError(
            'descriptors of images need OpenCV, which is not installed: pip install "d2ke[images]"'
        ) from None
    return cv2


def _described(path: Path, label: str, left_out: Any, named: Any) -> tuple[Objects, np.ndarray]:
    cv2 = _opencv()
    sift = cv2.SIFT_create()
    sets, labels = [], []
    try:
        with zipfile.ZipFile(path) as archive:
            images = _members(path, archive)
            classes = _classes(path, archive, label, named, images)
            taken = sorted(images.keys() - set(left_out))
            for name in stages(taken, f"SIFT of {path.name}", True):
                image = _decoded(cv2, archive.read(images[name]))
                if image is None:
                    raise ValueError(f"{path}: {images[name]} cannot be decoded as an image")
                grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
                _, descriptors = sift.detectAndCompute(grey, None)
                if descriptors is not None:
                    lengths = np.linalg.norm(descriptors.astype(np.float64), axis=1)
                    sets.append((descriptors / lengths[:, None]).astype(np.float32))
                    labels.append(classes[name])
    # RuntimeError: encrypted, or (NotImplementedError) an unknown compression.
    except (zipfile.BadZipFile, EOFError, zlib.error, RuntimeError) as error:
        raise ValueError(f"{path} is not a complete .zip archive: {error}") from error
    if not sets:
        raise ValueError(f"{path}: no image has a key point")
    return pack(sets, channels_first=False), np.array(labels, dtype=np.int64)


def _decoded(cv2: Any, content: bytes) -> np.ndarray | None:
    try:
        return cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:  # no bytes at all, or more pixels than OpenCV takes
        return None


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, str]:
    """Map the names of the images, without their folder, to the members of the archive."""
    images: dict[str, str] = {}
    for member in archive.infolist():
        name = member.filename.rpartition("/")[2]
        if not name.endswith(".png") or is_hidden(name):
            continue
        if name in images:
            raise ValueError(f"{path}: {images[name]} and {member.filename} have the same name")
        if member.file_size > _MAX_BYTES:
            raise ValueError(
                f"{path}: {member.filename} has {member.file_size} bytes, more than any image"
            )
        images[name] = member.filename
    return images


def _classes(
    path: Path, archive: zipfile.ZipFile, label: str, named: bool, images: Mapping[str, str]
) -> dict[str, int]:
    """Return the class of each image."""
    tables = [name for name in archive.namelist() if name.endswith(".csv") and "__MAC" not in name]
    if len(tables) != 1:
        raise ValueError(f"{path} has {len(tables)} tables (.csv) instead of 1")
    where = f"{path}: {tables[0]}"
    size = archive.getinfo(tables[0]).file_size
    if size > _MAX_BYTES:
        raise ValueError(f"{where} has {size} bytes, more than any table")
    try:
        text = archive.read(tables[0]).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{where} is not UTF-8 text: {error}") from None
    rows = csv.DictReader(io.StringIO(text))
    classes = _named_classes(path, images) if named else {}
    listed: set[str] = set()
    try:
        missing = {"file", label} - set(rows.fieldnames or ())
        if missing:
            raise ValueError(f"{where} has no column {', '.join(sorted(missing))}")
        for row in rows:
            line, name, text = f"{where}, line {rows.line_num}", row["file"], row[label] or ""
            if not re.fullmatch("[0-9]{1,9}", text):
                raise ValueError(f"{line}: the class is {text!r}, not an integer from 0 on")
            if name not in images:
                raise ValueError(f"{line}: there is no image {name!r}")
            if classes.setdefault(name, int(text)) != int(text) or (name in listed and not named):
                raise ValueError(f"{line}: {name} has a class already, {classes[name]}")
            listed.add(name)
    except csv.Error as error:
        raise ValueError(f"{where}, line {rows.reader.line_num}: {error}") from None
    unknown = sorted(images.keys() - classes.keys())
    if unknown:
        raise ValueError(f"{where} has no line for the image {unknown[0]}")
    return classes


def _named_classes(path: Path, images: Mapping[str, str]) -> dict[str, int]:
    classes = {}
    for name, member in images.items():
        match = _NAME_WITH_CLASS.fullmatch(name)
        if match is None:
            raise ValueError(f"{path}: {member} is not named <brand>_<class>_<number>.png")
        classes[name] = int(match[1])
    return classes


def _remark() -> str:
    """Name the version of OpenCV, if another one may explain counts that differ."""
    version = _opencv().__version__
    if version == _COUNTED_WITH:
        return ""
    return (
        f"the published counts are those of OpenCV {_COUNTED_WITH}, and this is {version}: "
        f'pip install "opencv-python-headless=={_COUNTED_WITH}.*"'
    )


def _source(
    name: str, page: str, title: str, label: str, counts: dict[str, Any], **options: Any
) -> Source:
    return Source(
        name=name,
        loader=partial(load_images, name=name, label=label, **options),
        **SETS,
        title=title,
        page=f"https://www.kaggle.com/datasets/olgabelitskaya/{page}",
        files=(f"images/{name}.zip",),
        package="cv2",
        counts=counts | {"n_channels": 128},
        remark=_remark,
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
