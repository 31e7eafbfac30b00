# SPDX-License-Identifier: BSD-3-Clause
"""Two-sample tests: how often they reject at level 0.05, and how long they take.

``python -m benchmarks.two_sample [--sizes 256 1024 4096] [--trials 40] [--shift 0.1]``

Beside d2ke's tests: the same permutation test in plain numpy, and Compress Then Test of goodpoints
(``pip install goodpoints``). The second sample is the first one's normal law in 5 dimensions, moved
by the shift along the first axis; "level" is without it. One thread, processor time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np

import d2ke
from benchmarks import measure

DIMS, SIGMA, ALPHA = 5, 2.0, 0.05
MOST = 3000  # points of a sample of which all kernel values are held


def plain(P: np.ndarray, Q: np.ndarray, seed: int) -> float:
    """Permute in a loop."""
    pooled, n = np.concatenate([P, Q]), len(P)
    K = np.exp(-np.square(pooled[:, None] - pooled).sum(axis=2) / (2 * SIGMA**2))
    rng = np.random.default_rng(seed)
    w = np.where(np.arange(len(K)) < n, 1 / n, -1 / (len(K) - n))
    observed = w @ K @ w
    drawn = []
    for _ in range(199):
        v = rng.permutation(w)
        drawn.append(v @ K @ v)
    return (1 + sum(value >= observed for value in drawn)) / 200


def by_points(P: np.ndarray, Q: np.ndarray, seed: int, **how: int) -> float:
    """Test with all kernel values."""
    given = {"sigma": SIGMA, "n_permutations": 199, "seed": seed, "n_threads": 1}
    return d2ke.kernel_two_sample_test(P, Q, **given, **how).p_value


def by_features(P: np.ndarray, Q: np.ndarray, seed: int) -> float:
    """Test with 256 random features of every point."""
    points = np.concatenate([P, Q])
    sets = d2ke.pack([point[None] for point in points], channels_first=False)
    Z = d2ke.measures.kernel_features(sets, sigma=SIGMA, method="rff", n_features=256, n_threads=1)
    return d2ke.measures.features_two_sample_test(Z, len(P), n_permutations=199, seed=seed).p_value


def compressed(P: np.ndarray, Q: np.ndarray, seed: int) -> float:
    """Compress, then test, as the peer's example does."""
    from goodpoints.ctt import ctt

    width = float(np.sqrt(2) * SIGMA)
    result = ctt(P, Q, 2, B=199, s=16, lam=width, null_seed=seed, statistic_seed=seed)
    return 0.0 if result.rejects else 1.0


# A test, and for how many points of a sample at most; the peer permutes 32 groups, too.
TESTS: dict[str, tuple[Callable[[np.ndarray, np.ndarray, int], float], int]] = {
    "numpy": (plain, 1024),
    "d2ke, all pairs": (by_points, MOST),
    "d2ke, 32 groups": (partial(by_points, n_groups=32), 1 << 30),
    "d2ke, features": (by_features, 1 << 30),
    "goodpoints ctt": (compressed, 1 << 30),
}


def main(sizes: list[int], trials: int, shift: float) -> None:
    """Print a table."""
    measure.header("n = m", "test", "level", "power", "seconds")
    for n in sizes:
        for name, (test, most) in TESTS.items():
            if n > most or (name == "goodpoints ctt" and find_spec("goodpoints") is None):
                continue
            rejected, seconds = [0, 0], 0.0
            for trial in range(trials):
                rng = np.random.default_rng(trial)
                for moved in (0, 1):
                    P, Q = rng.standard_normal((2, n, DIMS))
                    Q[:, 0] += moved * shift
                    taken, p = measure.least(
                        partial(test, P, Q, 1000 + trial)
                    )  # not the data's seed
                    rejected[moved] += p <= ALPHA
                    seconds += taken
            level, power = (count / trials for count in rejected)
            shares = f"{level:.2f}", f"{power:.2f}"
            measure.row(n, name, *shares, f"{seconds / 2 / trials:.4f}")


if __name__ == "__main__":
    parser = measure.parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 1024, 4096])
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--shift", type=float, default=0.1)
    settings = parser.parse_args()
    main(settings.sizes, settings.trials, settings.shift)
