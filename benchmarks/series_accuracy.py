# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy of `d2ke_train` with its defaults beside aeon's MiniRocket, on the same divisions.

    python -m benchmarks.series_accuracy [--data NAME ...] [--seeds 5]

Test accuracy in percent, mean and standard deviation over divisions, and processor seconds of
training and prediction of one division. MiniRocketClassifier takes series of one length: those of
several are padded with zeros at their ends, or resized by linear interpolation; both are shown.
Needs aeon. Files are read from D2KE_DATA.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from aeon.classification.convolution_based import MiniRocketClassifier

import d2ke
from benchmarks import measure
from papers.datasets import load

DATA = ("gun-point", "japanese-vowels", "basic-motions")
Method = Callable[[np.ndarray, d2ke.Objects, d2ke.Objects, int], np.ndarray]


def main() -> None:
    """Print a row for each data set."""
    parser = measure.parser(__doc__)
    parser.add_argument("--data", nargs="+", default=list(DATA), metavar="NAME")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    measure.header("data", "n", *(text for name in METHODS for text in (name, "seconds")))
    for name in arguments.data:
        data = load(name)
        row = []
        for method in METHODS.values():
            accuracies, begin = [], time.process_time()
            for seed in range(arguments.seeds):
                a, b = data.split(seed=seed)
                found = method(data.labels[a], data.objects[a], data.objects[b], seed)
                accuracies.append(100 * np.mean(found == data.labels[b]))
            seconds = (time.process_time() - begin) / arguments.seeds
            row += [measure.mean_and_sd(accuracies), f"{seconds:.1f}"]
        measure.row(name, len(data.labels), *row)


def _ours(y: np.ndarray, X: d2ke.Objects, new: d2ke.Objects, seed: int) -> np.ndarray:
    model = d2ke.d2ke_train(y, X, seed=seed, n_threads=1)
    return d2ke.d2ke_predict(None, new, model, n_threads=1)[0]


def _padded(X: d2ke.Objects, length: int) -> np.ndarray:
    """Return (n, channels, length), with zeros at the ends."""
    cube = np.zeros((len(X), X.values.shape[1], length))
    for i, item in enumerate(X):
        cube[i, :, : min(len(item), length)] = item[:length].T
    return cube


def _resized(X: d2ke.Objects, length: int) -> np.ndarray:
    """Return (n, channels, length), interpolated."""
    cube = np.empty((len(X), X.values.shape[1], length))
    for i, item in enumerate(X):
        places = np.linspace(0, len(item) - 1, length)
        for channel, values in enumerate(item.T):
            cube[i, channel] = np.interp(places, np.arange(len(item)), values)
    return cube


def _minirocket(shape: Callable[[d2ke.Objects, int], np.ndarray]) -> Method:
    def predict(y: np.ndarray, X: d2ke.Objects, new: d2ke.Objects, seed: int) -> np.ndarray:
        length = max(9, int(X.lengths.max()))  # its kernels have 9 values
        model = MiniRocketClassifier(random_state=seed, n_jobs=1).fit(shape(X, length), y)
        return model.predict(shape(new, length))

    return predict


METHODS: dict[str, Method] = {
    "d2ke_train": _ours,
    "MiniRocket, padded": _minirocket(_padded),
    "MiniRocket, resized": _minirocket(_resized),
}


if __name__ == "__main__":
    main()
