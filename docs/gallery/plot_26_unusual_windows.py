# SPDX-License-Identifier: BSD-3-Clause
"""
Unusual windows of a long series
================================

A machine repeats itself, and sometimes it doesn't. ``window_outliers`` compares each window of a
series with its nearest other window, and returns those that are least like any other one. They may
have another shape, or the usual shape at another level.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

rng = np.random.default_rng(0)
steps = np.arange(6000)
x = np.sin(2 * np.pi * steps / 120) + 0.4 * np.sin(4 * np.pi * steps / 120 + 1)
x[1500:1620] = 0.3  # a sensor that is stuck
x[3300:3420] += 1.2  # a level that is too high
x[4800:4920] = x[4800:5040:2]  # twice as fast
x += 0.1 * rng.normal(size=6000)

# %%
# The three windows, and a score for each step.

found = d2ke.window_outliers(x, 120, n=3)
print(found.starts, found.scores.round(1))

fig, (above, below) = plt.subplots(2, 1, figsize=(9, 4), sharex=True, layout="constrained")
above.plot(x, linewidth=0.6)
below.plot(found.step_scores, linewidth=0.8)
above.set(ylabel="value")
below.set(xlabel="step", ylabel="score")
for start in found.starts:
    for ax in (above, below):
        ax.axvspan(start, start + found.length, color="tab:orange", alpha=0.3)
plt.show()

# %%
# Shapes alone miss the level, and values alone tell less of the stuck sensor: by default both
# count. The profiles below are the distances of each window to its nearest other one.

fig, axes = plt.subplots(2, 1, figsize=(9, 4), sharex=True, layout="constrained")
for ax, normalize in zip(axes, (True, False), strict=True):
    ax.plot(d2ke.window_profile(x, 120, normalize=normalize).distances, linewidth=0.8)
    ax.set(ylabel="distance of shapes" if normalize else "distance of values")
axes[1].set(xlabel="start of the window")
plt.show()
