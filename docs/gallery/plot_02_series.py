# SPDX-License-Identifier: BSD-3-Clause
"""
A first model of time series
============================

Nine speakers say the same Japanese vowels. Who is speaking? The recordings are time series of
unequal length with 12 channels, and they are compared by dynamic time warping (DTW), which
forgives differences in speed.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# Each object is a matrix: time in rows, channels in columns. Here are the first channels of one
# recording of each of three speakers.

data = d2ke.datasets.load("japanese-vowels")
X, y = data.objects, data.labels
print(X)

speakers = np.unique(y)[:3]
fig, axes = plt.subplots(1, 3, figsize=(9, 2.8), sharey=True, layout="constrained")
for ax, speaker in zip(axes, speakers, strict=True):
    series = X[int(np.flatnonzero(y == speaker)[0])]
    ax.plot(series[:, :5])
    ax.set(title=f"speaker {speaker}", xlabel="time step")
axes[0].set_ylabel("value of the channel")
axes[2].legend([f"channel {k + 1}" for k in range(5)], fontsize=7)
plt.show()

# %%
# The data come with a division into 270 recordings for training and 370 for the test.

train, test = data.split(seed=0)
model = d2ke.d2ke_train(y[train], X[train])
print(model)
labels, accuracy, decisions = d2ke.d2ke_predict(y[test], X[test], model)
print(f"accuracy on {len(test)} test recordings: {accuracy:.1f} %")

# %%
# The model has one *decision value* for each speaker, and the largest one wins. The picture shows
# the decision values of all test recordings, sorted by the true speaker: the blocks on the
# diagonal are the right answers.

order = np.argsort(y[test], kind="stable")
fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
image = ax.imshow(decisions[order], aspect="auto", cmap="RdBu_r", vmin=-1.5, vmax=1.5,
                  interpolation="nearest")  # fmt: skip
ax.set_xticks(range(len(model.classes)), model.classes)
ax.set(xlabel="speaker", ylabel="test recording, sorted by speaker", title="Decision values")
fig.colorbar(image, ax=ax)
plt.show()
