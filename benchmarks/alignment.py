# SPDX-License-Identifier: BSD-3-Clause
"""Alignment by the kernel distance: how often a known motion is found, how exactly, how fast.

    python -m benchmarks.alignment [--cases 100] [--points 1000] [--rounds 3] [--threads N]

Random shapes are turned and moved, with outliers and noise: errors in units of sigma, and seconds.
"oracle" compares with the exhaustive search on small sets of the plane.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial import KDTree

import d2ke
from benchmarks import measure

SHAPES = ("clusters", "blobs", "uniform", "curve", "surface")
OUTLIERS = 0.2
NOISE = 0.02  # in units of sigma
TOLERANCE = 1e-2
LARGE = 10_000


def random_rotation(rng: np.random.Generator, d: int) -> np.ndarray:
    """Draw a proper rotation uniformly."""
    Q, upper = np.linalg.qr(rng.standard_normal((d, d)))
    Q *= np.sign(np.diag(upper))
    Q[:, 0] *= np.linalg.det(Q)
    return Q


def loop(d: int, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return points of a random smooth closed curve at parameters in [0, 1]."""
    k = np.arange(1, 6)
    a, b = rng.standard_normal((2, 5, d)) / k[:, None]
    turns = 2 * math.pi * at[:, None] * k
    return 0.25 * (np.cos(turns) @ a + np.sin(turns) @ b)


def shape_of(shape: str, d: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n points of a random shape of a size of about 1."""
    if shape in ("clusters", "blobs"):
        count = int(rng.integers(4, 9))
        centres = rng.random((count, d))
        widths = rng.uniform(*((0.02, 0.15) if shape == "clusters" else (0.1, 0.3)), (count, 1))
        which = rng.integers(0, count, n)
        return centres[which] + widths[which] * rng.standard_normal((n, d))
    if shape == "uniform":  # a cube: nothing but the single points tells its symmetries apart
        return rng.random((n, d))
    if shape == "curve":
        return loop(d, rng.random(n), rng)
    x = rng.standard_normal((n, d))
    x /= np.linalg.norm(x, axis=1)[:, None]
    waves = np.sin(2 * x @ rng.standard_normal((d, 4))) @ rng.standard_normal(4)
    return 0.4 * x * (1 + 0.15 * waves)[:, None]


@dataclass(frozen=True)
class Case:
    """Q, which R q + T takes to P but for noise and outliers; `inliers` are points of Q."""

    P: np.ndarray
    Q: np.ndarray
    sigma: float
    R: np.ndarray
    T: np.ndarray
    inliers: np.ndarray
    extent: float

    def error(self, alignment: d2ke.measures.KernelAlignment, p: Any = 0.0, q: Any = 0.0) -> float:
        """Return the root mean square error of the moved inliers, in units of sigma.

        p, q: shifts of P and Q in `alignment`.
        """
        off = alignment(self.inliers + q) - (self.inliers @ self.R.T + self.T + p)
        return float(np.sqrt(np.square(off).sum(axis=1).mean())) / self.sigma


def known_motion(d: int, n: int, shape: str, seed: int, spacings: float = 0.25) -> Case:
    """Move a shape; a fifth of the points of either side are uniform in a box around it.

    sigma is so many times the median distance of a point to the next one.
    """
    rng = np.random.default_rng([seed, d, n, SHAPES.index(shape)])
    X = shape_of(shape, d, n, rng)
    sigma = spacings * float(np.median(KDTree(X).query(X, 2)[0][:, 1]))
    extent = float(np.ptp(X, axis=0).max())
    R, T = random_rotation(rng, d), 3 * extent * rng.standard_normal(d)
    out = int(OUTLIERS * n)
    inliers = X[out:]
    low, high = X.min(axis=0) - 0.1 * extent, X.max(axis=0) + 0.1 * extent
    noise = NOISE * sigma * rng.standard_normal(inliers.shape)
    P = np.concatenate([inliers + noise, rng.uniform(low, high, (out, d))])
    Q = np.concatenate([inliers, rng.uniform(low, high, (out, d))])
    Q, inliers = (Q - T) @ R, (inliers - T) @ R
    return Case(P, Q[rng.permutation(len(Q))], sigma, R, T, inliers, extent)


def success(d: int, spacings: float, settings: argparse.Namespace) -> None:
    """Align random cases, the shapes in turn."""
    errors, reached, seconds, extents = [], [], [], []
    for seed in range(settings.cases):
        case = known_motion(d, settings.points, SHAPES[seed % len(SHAPES)], seed, spacings)
        begin = time.perf_counter()
        alignment = d2ke.kernel_align(
            case.P, case.Q, sigma=case.sigma, n_threads=settings.threads, seed=seed
        )
        seconds.append(time.perf_counter() - begin)
        errors.append(case.error(alignment))
        true = d2ke.kernel_distance(case.P, case.Q @ case.R.T + case.T, sigma=case.sigma)
        reached.append(alignment.distance <= true * (1 + 1e-9))
        extents.append(case.extent / case.sigma)
    measure.row(
        *(d, spacings, f"{min(extents):.0f} to {max(extents):.0f}"),
        *(f"{(np.array(errors) < most).mean():.0%}" for most in (TOLERANCE, 10 * TOLERANCE)),
        *(f"{np.mean(reached):.0%}", f"{np.median(errors):.4f}", f"{np.median(seconds):.2f}"),
    )


def large(d: int, shape: str, settings: argparse.Namespace) -> None:
    """Time 10000 points."""
    case = known_motion(d, LARGE, shape, 0)
    call = partial(d2ke.kernel_align, case.P, case.Q, sigma=case.sigma, n_threads=settings.threads)
    cpu, alignment = measure.least(call, settings.rounds)
    seconds, _ = measure.least(call, settings.rounds, time.perf_counter)
    measure.row(d, shape, f"{seconds:.2f}", f"{cpu:.2f}", f"{case.error(alignment):.4f}")


def oracle(motion: str, most: int, settings: argparse.Namespace) -> None:
    """Compare with the exhaustive search on small random sets of the plane."""
    gaps = []
    for seed in range(settings.cases):
        rng = np.random.default_rng(seed)
        n, m = rng.integers(1, most, 2)
        P, Q = (rng.standard_normal((k, 2)) * rng.choice([0.5, 2, 4]) for k in (n, m))
        given = {"sigma": 1.0, "motion": motion, "n_threads": settings.threads}
        try:
            best = d2ke.kernel_align(P, Q, method="fptas", eps=0.2, **given)
        except ValueError:  # more candidates than are tried
            continue
        gaps.append(d2ke.kernel_align(P, Q, **given).distance ** 2 - best.distance**2)
    measure.row(motion, len(gaps), sum(gap > 1e-9 for gap in gaps))


# Columns, what computes a row, and its arguments.
PARTS: dict[str, tuple[tuple[str, ...], Callable[..., None], list[tuple]]] = {
    "success": (
        (
            *("d", "sigma / spacing", "extent / sigma", "error < 0.01 sigma", "< 0.1 sigma"),
            *("as near as the true motion", "median error, sigma", "median seconds"),
        ),
        success,
        [(d, spacings) for d in (2, 3) for spacings in (0.25, 1.0)],
    ),
    "large": (
        ("d", "shape", "seconds", "processor seconds", "error, sigma"),
        large,
        [(d, shape) for d in (2, 3) for shape in SHAPES],
    ),
    "oracle": (
        ("motion", "cases", "auto worse"),
        oracle,
        [("translation", 30), ("rotation", 20), ("rigid", 8)],
    ),
}


def main() -> None:
    parser = measure.parser(__doc__, rounds=3, threads=0)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--only", choices=PARTS)
    settings = parser.parse_args()
    for part in [settings.only] if settings.only else PARTS:
        columns, compute, arguments = PARTS[part]
        print(f"\n{part}\n")
        measure.header(*columns)
        for given in arguments:
            compute(*given, settings)


if __name__ == "__main__":
    main()
