# SPDX-License-Identifier: BSD-3-Clause
"""
Choosing parameters
===================

Which distance scale gamma, how many random objects, of which lengths? ``search`` tries the
settings of a grid by cross-validation: it trains on a part of the training objects and scores on
the rest, in turn. The distances to the random objects are computed once for all settings that
share them.
"""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# Recordings of vowels by nine speakers, as series. The random series are normal numbers; their
# lengths are searched, and how many there are.

data = d2ke.datasets.load("japanese-vowels")
X, y = data.objects, data.labels
train, test = data.split(seed=0)

sampler = partial(d2ke.samplers.random_series, n_channels=12, sigma=1.0)
grid = {"length": [(1, 5), (5, 20)], "R": [16, 64, 256], "gamma": np.logspace(-3, 0.5, 8)}
result = d2ke.search(y[train], X[train], distance="dtw", sampler=sampler, grid=grid)
print(f"{len(result.tried)} settings; the best has {result.accuracy:.1f} % in cross-validation:")
print(result.parameters)

# %%
# The best accuracy for each gamma and each R, over all other parameters.

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for R in grid["R"]:
    best = [
        max(score for p, score in result.tried if p["R"] == R and p["gamma"] == gamma)
        for gamma in grid["gamma"]
    ]
    ax.semilogx(grid["gamma"], best, "o-", label=f"R = {R}")
ax.set(xlabel="gamma", ylabel="cross-validated accuracy, %")
ax.legend()
plt.show()

# %%
# The chosen settings, trained on the whole training part and applied to the test part.

chosen = result.parameters
omega = sampler(chosen["R"], length=chosen["length"], seed=0)
Z = d2ke.d2ke_embed(X, omega, distance="dtw", gamma=chosen["gamma"])
Z = d2ke.embedding.Scaling.fit(Z[train], chosen["scaling"]).apply(Z)
model = d2ke.train_classifier(y[train], Z[train], loss=chosen["loss"], C=chosen["C"])
print(f"{d2ke.predict(y[test], Z[test], model)[1][0]:.1f} % of the test recordings")
