# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of alignments: two series, two strings, two documents.

    python examples/alignment.py --out pictures
    python examples/alignment.py --time         # long objects: seconds and memory

Draws the pictures of docs/alignment.md, and prints what the alignments are.
"""

from __future__ import annotations

import argparse
import tracemalloc
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
from matplotlib.figure import Figure

import d2ke

TEXTS = "time warps all of us", "it warps time also"
# Words of two documents as vectors, by hand: places, people, and what they do.
WORDS = {
    "Obama": (1.0, 4.2), "President": (1.3, 4.0), "speaks": (3.0, 2.6), "greets": (3.3, 2.9),
    "media": (4.6, 3.9), "press": (4.9, 3.7), "Illinois": (1.9, 1.2),
}  # fmt: skip
DOCUMENTS = ["Obama", "speaks", "media", "Illinois"], ["President", "greets", "press"]


def series() -> d2ke.distances.Alignment:
    """Align a wave with a shorter one that is slow in the middle."""
    t = np.linspace(0, 1, 36)
    s = np.linspace(-1, 1, 28)
    return d2ke.align(np.sin(9 * t) + 0.5 * t, np.sin(9 * (s**3 + 1) / 2) + (s**3 + 1) / 4, "dtw")


def strings() -> d2ke.distances.Alignment:
    """Align two sentences letter by letter."""
    return d2ke.align(*TEXTS, "levenshtein")


def documents() -> d2ke.distances.Alignment:
    """Move one document to another, word by word."""
    x, y = (np.array([WORDS[word] for word in words]) for words in DOCUMENTS)
    return d2ke.align(x, y, "emd")


def measure(letters: int = 100_000, numbers: int = 10_000) -> dict[str, tuple[float, float]]:
    """Print and return seconds of the processor and MB of memory for long objects."""
    rng = np.random.default_rng(0)
    x = rng.integers(97, 101, letters).astype(np.uint8)
    y = np.where(rng.random(letters) < 0.1, rng.integers(97, 101, letters), x).astype(np.uint8)
    a, b = rng.standard_normal((2, numbers)).cumsum(axis=1)
    calls = {
        f"strings of {letters} letters": partial(d2ke.align, x.tobytes(), y.tobytes()),
        f"series of {numbers} numbers": partial(d2ke.align, a, b),
    }
    table = {}
    for name, call in calls.items():
        start = process_time()
        call()
        seconds = process_time() - start
        tracemalloc.start()
        call()
        table[name] = seconds, tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        print(f"{name:28} {table[name][0]:6.2f} s {table[name][1]:6.1f} MB")
    return table


def main(folder: Path) -> None:
    """Draw all three."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in (("series", series), ("strings", strings), ("documents", documents)):
        alignment = make()
        print(alignment)
        print()
        figure = Figure(figsize=(5.2, 3.2), layout="constrained")
        ax = alignment.plot(figure.subplots())
        if name == "documents":
            for words in DOCUMENTS:
                for word in words:
                    ax.annotate(word, WORDS[word], (4, 4), textcoords="offset points", fontsize=8)
        figure.savefig(folder / f"alignment-{name}.png", dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("."), help="folder of the pictures")
    parser.add_argument("--time", action="store_true", help="measure long objects instead")
    settings = parser.parse_args()
    if settings.time:
        measure()
    else:
        main(settings.out)
