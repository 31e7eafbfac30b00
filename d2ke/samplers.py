# SPDX-License-Identifier: BSD-3-Clause
"""Samplers of random objects, for `d2ke_embed` and for blocks of models."""

from d2ke.models.shapelets import shapelets
from d2ke.objects.samplers.random_objects import random_series, random_sets, random_strings
from d2ke.objects.samplers.training import (
    markov_strings,
    noise,
    resampled,
    segments,
    training_objects,
)

__all__ = [
    "markov_strings",
    "noise",
    "random_series",
    "random_sets",
    "random_strings",
    "resampled",
    "segments",
    "shapelets",
    "training_objects",
]
