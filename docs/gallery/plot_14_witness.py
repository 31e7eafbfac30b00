# SPDX-License-Identifier: BSD-3-Clause
"""
Where do two samples differ?
============================

The *witness function* of two samples is the difference of their smoothed densities: positive
where the first sample has more points, negative where the second one has. Its difference of means
over the two samples is the square of their kernel distance, so it shows where that distance comes
from.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# Both samples have the same mean and the same covariances, up to chance, and differ in shape: a
# ring and a round cloud.

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 400)
ring = 2 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.3, size=(400, 2))
cloud = rng.normal(0, ring.std(), size=(500, 2))

# %%
# The test: could chance divide one sample into two parts as different as these? The p-value is
# how often.

test = d2ke.kernel_two_sample_test(ring, cloud, sigma=0.7)
print(f"kernel distance {test.distance:.3f}, p-value {test.p_value:.3f}")

# %%
# The witness function on a grid, with the Gaussian kernel of the same sigma.


def witness(places):
    def mean_kernel(points):
        squared = ((places[:, None] - points) ** 2).sum(axis=2)
        return np.exp(-squared / (2 * test.sigma**2)).mean(axis=1)

    return mean_kernel(ring) - mean_kernel(cloud)


side = np.linspace(-5, 5, 81)
grid = np.stack(np.meshgrid(side, side), axis=-1)
values = witness(grid.reshape(-1, 2)).reshape(81, 81)

fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
axes[0].scatter(*ring.T, s=8, label="ring")
axes[0].scatter(*cloud.T, s=8, label="cloud")
axes[0].set(title="the samples", xlabel="x", ylabel="y", xlim=(-5, 5), ylim=(-5, 5), aspect="equal")
axes[0].legend()
most = np.abs(values).max()
image = axes[1].contourf(side, side, values, levels=np.linspace(-most, most, 15), cmap="RdBu")
axes[1].set(title="witness function", xlabel="x", ylabel="y", aspect="equal")
fig.colorbar(image, ax=axes[1], label="more of the ring (blue) or of the cloud (red)")
plt.show()

# %%
# The mean of the witness over the ring minus that over the cloud, beside the square of the
# distance.

print(f"{witness(ring).mean() - witness(cloud).mean():.6f} {test.distance**2:.6f}")
