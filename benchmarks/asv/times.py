# SPDX-License-Identifier: BSD-3-Clause
"""Times of d2ke alone, to be compared between commits: ``asv continuous main HEAD``.

Packing is not timed where it says so; inputs are the same in each run. The times are the
processor's, which other work on the machine changes less, of all threads together.
"""

import time

import numpy as np

import d2ke

THREADS = 2


def series(n, length, channels):
    """Draw random walks, packed."""
    rng = np.random.default_rng(1)
    return d2ke.pack(list(rng.standard_normal((n, length, channels)).cumsum(axis=1)))


def strings(n, shortest, longest):
    """Draw strings of four letters, packed."""
    rng = np.random.default_rng(2)
    lengths = rng.integers(shortest, longest + 1, n)
    return d2ke.pack(["".join(rng.choice(list("ACGT"), length)) for length in lengths])


def sets(n, size):
    """Draw sets of vectors of 16 numbers, packed."""
    rng = np.random.default_rng(3)
    return d2ke.pack(list(rng.standard_normal((n, size, 16))), kind="sets")


class AllPairs:
    """`distance_matrix` of one collection."""

    timer = time.process_time

    COLLECTIONS = {  # noqa: RUF012
        "dtw": lambda: series(200, 80, 3),
        "msm": lambda: series(100, 80, 1),
        "levenshtein": lambda: strings(1000, 34, 198),
        "damerau_levenshtein": lambda: strings(200, 34, 198),
        "mhd": lambda: sets(200, 100),
        "emd": lambda: sets(60, 20),
    }
    params = list(COLLECTIONS)  # noqa: RUF012
    param_names = ["distance"]  # noqa: RUF012

    def setup(self, distance):
        """Draw the objects."""
        self.objects = self.COLLECTIONS[distance]()

    def time_distance_matrix(self, distance):
        """All pairs."""
        d2ke.distance_matrix(self.objects, distance=distance, n_threads=THREADS)

    def time_one_pair(self, distance):
        """Time what a call costs beside its pairs."""
        d2ke.distance_matrix(self.objects[:1], self.objects[1:2], distance=distance)


class Models:
    """Training and prediction of strings."""

    timer = time.process_time

    def setup_cache(self):
        """Train a model, for the predictions."""
        words = list(strings(400, 40, 80))
        labels = [word.count("A") > len(word) // 4 for word in words]
        return labels, words, d2ke.d2ke_train(labels, words, n_threads=THREADS)

    def time_train(self, cache):
        """`d2ke_train` with the recipe of strings."""
        labels, words, _ = cache
        d2ke.d2ke_train(labels, words, n_threads=THREADS)

    def time_predict(self, cache):
        """`d2ke_predict` of all."""
        labels, words, model = cache
        d2ke.d2ke_predict(labels, words, model, n_threads=THREADS)

    def peakmem_train(self, cache):
        """Memory of the process that trains."""
        self.time_train(cache)


class Neighbors:
    """Searches for the nearest strings."""

    timer = time.process_time

    def setup(self):
        """Draw the strings."""
        self.words = strings(20000, 4, 12)

    def time_nearest(self):
        """`nearest` of 500 among 20000."""
        d2ke.nearest(self.words[:500], self.words, k=3, distance="levenshtein", n_threads=THREADS)
