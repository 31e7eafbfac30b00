# SPDX-License-Identifier: BSD-3-Clause
"""Compare the MD5 of distances of made-up objects with those of other systems and processors.

``python tools/distance_bits.py`` prints lines "instruction set, distance, options, objects, MD5" of
all distances, with "differs" at the end where tests/distances/distance_bits.txt has another MD5;
the exit status is then 1. That file has two MD5 a line: with fused multiplication and addition
(AVX2, AVX-512, arm64), and without. ``--write`` writes it. A test compares the same lines. The
objects are made of fractions of 2**53, by additions and products, which are the same everywhere.
"""

from __future__ import annotations

import platform
import random
import sys
from collections.abc import Iterable, Iterator
from hashlib import md5
from pathlib import Path
from typing import Any

import numpy as np

import d2ke
from d2ke._ext import isa
from d2ke.distances.registry import BY_NAME

FILE = Path(__file__).resolve().parent.parent / "tests" / "distances" / "distance_bits.txt"

# Options by distance that lead to other loops. Every parameter must occur; a test asks for that.
WINDOWS: list[dict[str, Any]] = [{}, {"window": 5}]
NORMALIZED: list[dict[str, Any]] = [{}, {"normalize": True}]
MODES: list[dict[str, Any]] = [{"mode": "prefix"}, {"mode": "infix"}]
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "dtw": [
        *WINDOWS,
        {"window": "rws"},
        {"ground": "sqeuclidean"},
        {"ground": "manhattan"},
        {"ground": "haversine", "sphere_radius": 6371000.0},
        {"missing": "arow"},
    ],
    "msm": [*WINDOWS, {"c": 0.1}, {"independent": False}],
    "erp": [*WINDOWS, {"g": 0.5}],
    "twe": [*WINDOWS, {"nu": 0.1, "lmbda": 0.3}],
    "edr": [*WINDOWS, {"epsilon": 0.1, "normalize": True}],
    "lcss": [*WINDOWS, {"epsilon": 0.1}],
    "adtw": [*WINDOWS, {"penalty": 0.1}],
    "wdtw": [*WINDOWS, {"g": 0.3}],
    "ddtw": WINDOWS,
    "frechet": WINDOWS,
    "window": [{}, {"normalize": False, "dilation": 2}],
    "levenshtein": [*NORMALIZED, *MODES],
    "osa": NORMALIZED,
    "damerau_levenshtein": NORMALIZED,
    "hamming": NORMALIZED,
    "indel": NORMALIZED,
    "jaro_winkler": [{}, {"prefix_weight": 0.2}],
    "gapped": [{}, {"strands": "both"}],
    "weighted_levenshtein": [
        {},
        {"substitution": {("a", "b"): 0.3}, "mismatch": 0.7, "insertion": 0.9, "deletion": 1.1},
        {"substitution": np.full((7, 7), 1 / 3), "alphabet": "abcde -"},
        *({"gap_open": 0.7, "gap_extend": 0.1, **mode} for mode in [*MODES, {"mode": "local"}]),
        {"transposition": 0.3, "insertion": {"a": 0.4, None: 0.8}},
    ],
    "emd": [{}, {"ground": "sqeuclidean"}],
    "kernel": [
        {"sigma": 0.7},
        {"sigma": 0.7, "kernel": "laplace", "normalize": True},
        {"sigma": 50.0},
        {"sigma": 50.0, "kernel": "laplace"},
    ],
}


def drawn() -> dict[str, list[Any]]:
    """Return lists of objects by kind."""
    draw = random.Random(5)

    def vectors(n: int, dim: int) -> np.ndarray:
        return np.array([[draw.random() for _ in range(dim)] for _ in range(n)])

    def steps(n: int, dim: int) -> np.ndarray:
        return np.add.accumulate(vectors(n, dim) - 0.5, axis=0)

    sets = [vectors(draw.randint(2, 20), 3) for _ in range(20)]
    near = [points + 2.0**-20 * vectors(*points.shape) for points in sets[:5]]
    words = ["".join(draw.choices("abcde -", k=draw.randint(1, 90))) + "ab" for _ in range(50)]
    return {
        "series": [steps(draw.randint(4, 70), 1) for _ in range(25)],
        "series of 3 channels": [steps(draw.randint(4, 50), 3) for _ in range(25)],
        "places": [vectors(draw.randint(4, 40), 2) * (180, 720) - (90, 360) for _ in range(20)],
        "sets": [*sets, *near],
        "sets of 40 dimensions": [vectors(draw.randint(2, 20), 40) for _ in range(15)],
        "strings": words,
    }


def cases(names: Iterable[str]) -> Iterator[tuple[str, str, dict[str, Any], Any]]:
    """Yield a title, and a distance, its options and packed objects."""
    objects = drawn()
    for name in names:
        kind = BY_NAME[name].kind
        for options in OPTIONS.get(name, [{}]):
            sphere = options.get("ground") == "haversine"
            for title in ["places"] if sphere else [key for key in objects if key.startswith(kind)]:
                items = objects[title]
                if kind == "strings":
                    if name == "hamming":
                        items = [word[:5] for word in items if len(word) >= 5]
                    if options.get("strands") == "both":
                        items = [
                            word.translate(str.maketrans("abcde -", "ACGTNCG")) for word in items
                        ]
                    yield _title(name, options, title), name, options, d2ke.pack(items)
                    continue
                for dtype in ("float64", "float32"):
                    items = [points.astype(dtype) for points in objects[title]]
                    if options.get("missing"):
                        for points in items:
                            points[1::5] = np.nan
                    packed = d2ke.pack(items, channels_first=False, missing="missing" in options)
                    yield _title(name, options, f"{title} {dtype}"), name, options, packed


def _title(name: str, options: dict[str, Any], kind: str) -> str:
    shown = (f"{key}={np.array(value).ravel()[0]}" for key, value in options.items())
    return " ".join([name, *(text.replace(" ", "") for text in shown), kind])


def digests(*names: str) -> dict[str, str]:
    """Return the MD5 of matrices of these distances with the instruction set in use, by title."""
    result = {}
    for title, name, options, packed in cases(names):
        D = d2ke.distance_matrix(packed, None, name, **options)
        result[title] = md5(D.astype(D.dtype.newbyteorder("<")).tobytes()).hexdigest()
    return result


def listed(variant: str) -> dict[str, str]:
    """Return the digests of the file for an instruction set of this processor, by title."""
    plain = variant == "baseline" and platform.machine().lower() not in ("arm64", "aarch64")
    lines = (line.rsplit(" ", 2) for line in FILE.read_text("ascii").splitlines())
    return {title: unfused if plain else fused for title, fused, unfused in lines}


def main(arguments: list[str]) -> int:
    """Print or write the lines, and return the exit status."""
    names, status = d2ke.distance_names(), 0
    if arguments == ["--write"]:
        isa.select("avx2")
        fused = digests(*names)
        isa.select("baseline")
        lines = [f"{title} {fused[title]} {plain}\n" for title, plain in digests(*names).items()]
        FILE.write_text("".join(lines), "ascii", newline="\n")
        return 0
    for variant in isa.supported():
        isa.select(variant)
        wanted = listed(variant)
        for title, digest in digests(*names).items():
            differs = digest != wanted.get(title)
            status |= differs
            print(variant, title, digest, "differs" * differs)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
