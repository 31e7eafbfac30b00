# SPDX-License-Identifier: BSD-3-Clause
"""A block of features of your own: the number of letters of a string, beside the recipe."""

from dataclasses import dataclass

import numpy as np

import d2ke
from d2ke.models import FeatureBlock, recipe


@dataclass(frozen=True, eq=False)
class Length(FeatureBlock):
    """One feature: the number of letters."""

    name: str = "length"
    family: str = "length"
    R = 1

    def features(self, X, n_threads=None, rows=None):
        """Return the lengths of strings, float32 of shape (n, 1)."""
        return X.lengths[:, None].astype(np.float32)


def main():
    """Predict the seconds that it takes to type a string, by its letters and their number."""
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcd"), size)) for size in rng.integers(5, 36, 400)]
    seconds = [0.2 * len(word) + rng.normal(0, 0.1) for word in words]
    blocks = [*recipe(words, R=64), Length()]
    model = d2ke.d2ke_train(seconds[:300], words[:300], blocks=blocks)
    print(model)
    r2 = d2ke.d2ke_predict(seconds[300:], words[300:], model)[1]
    print(f"R^2 on new strings: {r2:.3f}")


if __name__ == "__main__":
    main()
