# SPDX-License-Identifier: BSD-3-Clause
"""
A first model of sets of vectors
================================

A set of vectors has no order and no fixed size: the keypoints of an image, the places that
someone has visited. Here each handwritten digit is the set of its pixels with ink. Two sets are
compared by the modified Hausdorff distance: how far the points of one set are, on average, from
the nearest point of the other.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# Every set has another number of points.

data = d2ke.datasets.load("digits-points")
X, y = data.objects, data.labels
print(X)

fig, axes = plt.subplots(1, 5, figsize=(10, 2.6), sharex=True, sharey=True, layout="constrained")
for ax, points, label in zip(axes, X[:5], y[:5], strict=True):
    ax.scatter(points[:, 1], points[:, 0], s=25)
    ax.set(
        title=f"a {label}: {len(points)} points", aspect="equal", xlabel="column", xlim=(-0.5, 7.5)
    )
axes[0].set_ylabel("row")
axes[0].invert_yaxis()
plt.show()

# %%
# With ``distance="mhd"`` the vectors are sets; without it they would be series. Half of the
# random objects are sets of the training part, and half are sets of points drawn from it.

train, test = data.split(seed=0)
train = train[:600]
model = d2ke.d2ke_train(y[train], X[train], distance="mhd", R=1024)
print(model)
labels, accuracy, decisions = d2ke.d2ke_predict(y[test], X[test], model)
print(f"accuracy on {len(test)} test digits: {accuracy:.1f} %")

# %%
# A map of the test digits: the first two principal components of their features. Each dot is a
# set; similar digits are near each other.

Z = d2ke.d2ke_transform(X[test], model)
Z = Z - Z.mean(axis=0)
U, s, _ = np.linalg.svd(Z, full_matrices=False)
fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
for digit in range(10):
    of_digit = y[test] == digit
    ax.scatter(U[of_digit, 0] * s[0], U[of_digit, 1] * s[1], s=8, label=digit)
ax.set(xlabel="first principal component", ylabel="second principal component")
ax.set_title("Features of the test digits")
ax.legend(title="digit", fontsize=8, markerscale=2, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
