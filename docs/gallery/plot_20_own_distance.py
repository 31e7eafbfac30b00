# SPDX-License-Identifier: BSD-3-Clause
"""
A distance of your own
======================

Any function of two objects can be the distance. In Python it takes objects of any kind. Compiled,
here by numba, it runs on all threads, and no Python runs for a pair.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from numba import carray, cfunc, types
from scipy import LowLevelCallable

import d2ke

# %%
# The objects are directions of the wind during a day, in degrees: one number for each hour, for
# some hours only. 359 degrees are near 1 degree, but distances of numbers miss that. Days of one
# class turn clockwise, days of the other counterclockwise.

rng = np.random.default_rng(0)


def day(turn):
    hours = rng.integers(12, 25)
    changes = rng.normal(4 * turn, 12, hours)
    return (rng.uniform(0, 360) + np.cumsum(changes)) % 360


y = np.arange(400) % 2
days = [day(1 if label else -1) for label in y]

fig, ax = plt.subplots(figsize=(5, 4), subplot_kw={"projection": "polar"}, layout="constrained")
for label, name in enumerate(["anticlockwise", "clockwise"]):
    for k, wind in enumerate(days[label:6:2]):
        ax.plot(np.deg2rad(wind), np.arange(len(wind)), color=f"C{label}",
                label=name if k == 0 else None)  # fmt: skip
ax.set_theta_zero_location("N")
ax.set_theta_direction(-1)
ax.set_xlabel("direction of the wind; the radius is the hour")
ax.legend(loc="upper left", bbox_to_anchor=(-0.35, 1.1), fontsize=8)
plt.show()

# %%
# The distance: how differently the wind turned. Changes from one hour to the next are angles,
# which are compared hour by hour on a circle; hours that one day does not have count as a quarter
# turn.


def turning(a, b):
    a, b = np.diff(a), np.diff(b)
    n = min(len(a), len(b))
    apart = np.abs((a[:n] - b[:n] + 180) % 360 - 180)
    return apart.sum() + 90 * abs(len(a) - len(b))


train, test = np.arange(200), np.arange(200, 400)
model = d2ke.d2ke_train(y[train], [days[i] for i in train], distance=turning, R=100)
labels, accuracy, _ = d2ke.d2ke_predict(y[test], [days[i] for i in test], model)
print(f"accuracy {accuracy:.1f} %")

# %%
# The same distance, compiled. The signature is for series of float64: pointers to the values,
# the number of vectors of each object, and the number of channels.

signature = types.float64(
    types.CPointer(types.float64),
    types.intp,
    types.CPointer(types.float64),
    types.intp,
    types.intp,
    types.voidptr,
)


@cfunc(signature)
def compiled_turning(x, n_x, y, n_y, dim, user_data):
    a, b = carray(x, n_x), carray(y, n_y)
    total = 90.0 * abs(n_x - n_y)
    for t in range(min(n_x, n_y) - 1):
        change = (a[t + 1] - a[t]) - (b[t + 1] - b[t])
        total += abs((change + 180.0) % 360.0 - 180.0)
    return total


compiled = LowLevelCallable(compiled_turning.ctypes)

# %%
# Both give the same distances; the time is different.

seconds = {}
results = {}
for name, distance in (("Python", turning), ("compiled", compiled)):
    start = perf_counter()
    results[name] = d2ke.distance_matrix(days, days[:200], distance)
    seconds[name] = perf_counter() - start
    print(f"{name}: {results[name].size} distances in {seconds[name]:.4f} s")
print(f"largest difference: {np.abs(results['Python'] - results['compiled']).max():.1g} degrees")

fig, ax = plt.subplots(figsize=(5.5, 2.2), layout="constrained")
bars = ax.barh(list(seconds), [s / results["Python"].size * 1e6 for s in seconds.values()])
ax.bar_label(bars, fmt="%.3g", padding=3)
ax.set(xscale="log", xlim=(0.01, 1000), xlabel="microseconds for one distance")
plt.show()
