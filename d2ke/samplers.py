# SPDX-License-Identifier: BSD-3-Clause
"""Samplers of random objects, for `d2ke_embed` and for blocks of models."""

from d2ke.models.windows import windows
from d2ke.objects.samplers.fitted_objects import (
    markov_strings,
    random_segments,
    representatives,
    resampled_sets,
)
from d2ke.objects.samplers.of_blocks import (
    noise,
    pieces,
    resampled,
    segments,
    shares,
    training_objects,
)
from d2ke.objects.samplers.random_objects import random_series, random_sets, random_strings

__all__ = [
    "markov_strings",
    "noise",
    "pieces",
    "random_segments",
    "random_series",
    "random_sets",
    "random_strings",
    "representatives",
    "resampled",
    "resampled_sets",
    "segments",
    "shares",
    "training_objects",
    "windows",
]
