# SPDX-License-Identifier: BSD-3-Clause
"""The error of the kernel of R random objects, against the kernel that D2KE approximates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from d2ke.embedding.features import d2ke_features
from d2ke.theory.error_estimates import kernel_error
from papers.methods import Division
from papers.settings import sample

# Training objects; random objects of the reference; of all blocks together; values of R.
FULL = (200, 16384, 8192, tuple(2**k for k in range(4, 12)))
QUICK = (100, 4096, 2048, tuple(2**k for k in range(4, 10)))


def kernel_errors(
    division: Division, parameters: Mapping[str, Any], *, quick: bool = False
) -> dict[str, Any]:
    """Measure |k~ - k| over pairs of training objects for growing R.

    Parameters
    ----------
    division : Division
        Where the training objects come from.
    parameters : mapping
        Chosen by D2KE there: gamma, and the parameters of p(omega).
    quick : bool
        Use fewer objects of both kinds.

    Returns
    -------
    dict
        Lists "R", and for each R "blocks", "rms", "rms_sd", "max", "max_sd" and "expected", see
        `d2ke.theory.kernel_error`; numbers "n_objects" and "n_reference" (random objects).
    """
    n, n_reference, pool, sizes = QUICK if quick else FULL
    objects = division.train[: min(n, len(division.train))]
    sampler = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in parameters.items()
        if name in division.setting.omega
    }

    def features(R: int, stream: int) -> np.ndarray:
        # Not the model's random objects, which have the division's seed alone.
        seed = np.random.SeedSequence([division.seed, stream])
        omega = sample(division.dataset, division.train, sampler, R, seed)
        D = division.distances(objects, omega)
        return d2ke_features(D, parameters["gamma"], n_threads=division.n_threads)

    error = kernel_error(
        features(pool, 1),
        features=features(n_reference, 2),
        sizes=sizes,
        n_threads=division.n_threads,
    )
    return {
        "n_objects": len(objects),
        "n_reference": n_reference,
        "R": error.sizes.tolist(),
        "blocks": error.n_blocks.tolist(),
        "rms": error.rms_mean.tolist(),
        "rms_sd": error.rms_sd.tolist(),
        "max": error.max_mean.tolist(),
        "max_sd": error.max_sd.tolist(),
        "expected": error.expected_rms.tolist(),
    }
