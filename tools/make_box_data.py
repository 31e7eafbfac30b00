# SPDX-License-Identifier: BSD-3-Clause
"""Make the data sets that come with d2ke, data/splice.mat and data/japanese_vowels.mat.

    python tools/make_box_data.py FOLDER

FOLDER holds ``splice/splice.data`` as UCI distributes it, and the two files of
``uea/JapaneseVowels``, which have UCI's series and division. See data/README.md.

Both files have n x 1 cells: ``X``, strings or series (channels in rows, as in the authors' cells),
and ``y``, the classes as strings. ``train`` marks the training part of the published division,
which comes first.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from d2ke import pack
from d2ke.datasets import read_ts
from d2ke.io import save_mat
from d2ke.objects.container import Objects
from d2ke.objects.joining import concatenate

BOX = Path(__file__).resolve().parent.parent / "data"


def read_splice(path: Path) -> tuple[Objects, list[str]]:
    """Read a class, a name and a sequence on each line, divided by commas."""
    rows = [line.split(",") for line in path.read_text(encoding="ascii").splitlines() if line]
    objects = pack([sequence.strip() for _, _, sequence in rows])
    return objects, [label.strip() for label, *_ in rows]


def cell(items: list[str]) -> np.ndarray:
    """Return a column cell."""
    column = np.empty((len(items), 1), dtype=object)
    column[:, 0] = items
    return column


def main(folder: Path) -> None:
    """Write both files."""
    objects, labels = read_splice(folder / "splice" / "splice.data")
    save_mat(BOX / "splice.mat", {"X": objects, "y": cell(labels)})
    vowels = folder / "uea" / "JapaneseVowels"
    parts = [read_ts(vowels / f"JapaneseVowels_{part}.ts")[:2] for part in ("TRAIN", "TEST")]
    objects = concatenate([part for part, _ in parts])
    labels = [str(label) for _, some in parts for label in some]
    train = np.arange(len(labels)) < len(parts[0][0])
    variables = {"X": objects, "y": cell(labels), "train": train.reshape(-1, 1)}
    save_mat(BOX / "japanese_vowels.mat", variables)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
