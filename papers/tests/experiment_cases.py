# SPDX-License-Identifier: BSD-3-Clause
"""Small settings and data sets, on which a method takes a moment."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from d2ke.datasets import Dataset
from d2ke.objects.packing import pack
from papers.datasets import REGISTRY, load
from papers.methods import Division
from papers.settings import Setting

GRAM = {"gram_gammas": (1.0, 10.0), "gram_costs": (1.0, 10.0)}
SMALL = {
    "digits-str8": Setting(
        omega={"length": ((2, 20), (20, 40))},
        R=64,
        search_R=32,
        costs=(1.0, 100.0),
        **GRAM,
    ),
    "digits-points": Setting(
        omega={"size": ((3, 15), (10, 30))}, R=64, search_R=32, costs=(1.0, 100.0), **GRAM
    ),
    "splice": Setting(omega={"length": ((60, 100),)}, R=64, search_R=64, costs=(0.1, 1.0), **GRAM),
    "auslan": Setting(
        omega={"length": ((2, 25),), "sigma": (2.0,)},
        R=32,
        search_R=32,
        gammas=(1.0,),
        costs=(10.0, 100.0),
        scale_channels=True,
        single=True,
        **GRAM,
    ),
}


def signs(n=160, seed=0):
    """Make series of 2 channels, of unequal length: slow or quick waves, one class each."""
    rng = np.random.default_rng(seed)
    labels = np.array(["slow", "quick"])[rng.integers(2, size=n)]
    series = []
    for label in labels:
        t = np.arange(rng.integers(15, 30))[:, None] / (5.0 if label == "slow" else 2.0)
        wave = np.sin(t + rng.uniform(0, 6, 2)) * [3.0, 0.1] + [7.0, -2.0]
        series.append(wave + 0.02 * rng.standard_normal(wave.shape))
    return Dataset("signs", pack(series), labels, replace(REGISTRY["auslan"], counts={}))


whole_set = cache(load)


def subset(name, n=200):
    pytest.importorskip("sklearn")
    whole = whole_set(name)
    return Dataset(whole.name, whole.objects[:n], whole.labels[:n], whole.source)


def division_of(dataset, seed=0, **options):
    setting = SMALL["auslan"] if dataset.name == "signs" else SMALL[dataset.name]
    return Division.of(dataset, setting, seed, **{"n_threads": 1} | options)


# ---------------------------------------------------------------- Division
