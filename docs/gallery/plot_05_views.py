# SPDX-License-Identifier: BSD-3-Clause
"""
Views of series
===============

A *view* is a function from objects to objects, such as the first difference of a series or its
first half. A model may have several *blocks*, each with its own view, distance and random
objects. Here are series of which no view alone shows the class, and a model that sees through
several.
"""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# The recipe: every series is a slow wave that begins anywhere. It is at a low or at a high level,
# and it has a short fast ripple somewhere or not. These make four classes.

rng = np.random.default_rng(0)


def series(level, ripple):
    t = np.linspace(0, 1, rng.integers(70, 100))
    x = np.sin(2 * np.pi * (t + rng.random())) + level + rng.normal(0, 0.3, t.shape).cumsum() / 20
    place = (t - rng.uniform(0.2, 0.8)) / 0.1
    return x + ripple * np.sin(2 * np.pi * 25 * t) * np.exp(-(place**2))


names = np.array(["low", "high", "low, ripple", "high, ripple"])
y = np.arange(600) % 4
X = d2ke.pack([series(level=label % 2, ripple=0.2 * (label // 2)) for label in y])
train, test = np.arange(300), np.arange(300, 600)

# %%
# Three views. ``difference`` takes the level away and shows the ripple. ``part`` keeps a part of
# every series, here the last third.

end = partial(d2ke.views.part, start=2 / 3, stop=1.0)
views = {
    "as it is": (),
    "difference": (d2ke.views.difference,),
    "last third": (end,),
}
fig, axes = plt.subplots(1, 3, figsize=(10, 2.8), layout="constrained")
for ax, (name, chain) in zip(axes, views.items(), strict=True):
    for k in range(4):
        seen = X[k : k + 1]
        for view in chain:
            seen = view(seen)
        ax.plot(seen[0], label=names[k])
    ax.set(title=name, xlabel="time step")
axes[0].set_ylabel("value")
axes[2].legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# A block for each view: 200 short segments of the training series are the random objects, and DTW
# is the distance. One model for each block alone, then one with all of them side by side.

blocks = {
    name: d2ke.Block(name, "dtw", d2ke.samplers.segments, 200, chain)
    for name, chain in views.items()
}
choices = {name: [block] for name, block in blocks.items()} | {"all three": list(blocks.values())}
accuracy = {}
for name, chosen in choices.items():
    model = d2ke.d2ke_train(y[train], X[train], blocks=chosen)
    accuracy[name] = d2ke.d2ke_predict(y[test], X[test], model)[1]
    print(f"{name:12} {accuracy[name]:5.1f} %")

fig, ax = plt.subplots(figsize=(6, 2.5), layout="constrained")
bars = ax.barh(list(accuracy), list(accuracy.values()))
ax.bar_label(bars, fmt="%.1f %%", padding=3)
ax.set(xlabel="accuracy on the test series, %", xlim=(0, 115))
ax.invert_yaxis()
plt.show()

# %%
# Without ``blocks=``, ``d2ke_train`` takes a recipe of six blocks for series, the difference
# among them.

model = d2ke.d2ke_train(y[train], X[train])
print(f"{d2ke.d2ke_predict(y[test], X[test], model)[1]:.1f} %")
