# SPDX-License-Identifier: BSD-3-Clause
"""
A two-sample test of strings
============================

Do two collections of strings come from one source? A two-sample test needs a positive definite
kernel, which Levenshtein's distance does not give by itself. The features of D2KE do: they are
distances to random strings, put through an exponential.
"""

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# DNA strings of three classes: the end of an exon (EI), the beginning of one (IE), and neither
# (N). One test compares strings of IE with strings of N, another one compares two halves of N.

data = d2ke.datasets.load("splice")
omega = d2ke.samplers.random_strings(512, "ACGT", length=(2, 60), seed=0)
Z = d2ke.d2ke_embed(data.objects, omega, distance="levenshtein", gamma=0.05)
rng = np.random.default_rng(0)
of_class = {name: rng.permutation(np.flatnonzero(data.labels == name)) for name in ("IE", "N")}

n = 100
pairs = {
    "IE and N": (of_class["IE"][:n], of_class["N"][:n]),
    "N and N": (of_class["N"][:n], of_class["N"][n : 2 * n]),
}
tests = {}
for name, (one, other) in pairs.items():
    tests[name] = d2ke.measures.features_two_sample_test(Z[np.concatenate([one, other])], n)
    print(f"{name}: distance {tests[name].distance:.4f}, p-value {tests[name].p_value:.3f}")

# %%
# The test mixes both samples and divides them again at random, many times. The histogram has the
# distances of these divisions, the line is the distance of the real one. If the line is far to
# the right, chance does not explain it.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharex=True, layout="constrained")
for ax, (name, test) in zip(axes, tests.items(), strict=True):
    ax.hist(test.null, bins=40, color="0.7", label="random divisions")
    ax.axvline(test.distance, color="C3", linewidth=2, label="the samples")
    ax.set(title=f"{name}: p = {test.p_value:.3f}", xlabel="kernel distance")
axes[0].set_ylabel("number of divisions")
axes[0].legend()
plt.show()

# %%
# How many strings are needed to see the difference? The share of 40 tests with a p-value of at
# most 0.05. For equal sources that share should be about 0.05, whatever the number of strings.

sizes = [10, 20, 40, 80, 160]
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, (first, second) in {"IE and N": ("IE", "N"), "N and N": ("N", "N")}.items():
    shares = []
    for n in sizes:
        rejected = 0
        for trial in range(40):
            one = rng.choice(of_class[first][:350], n, replace=False)
            other = rng.choice(of_class[second][350:], n, replace=False)
            rows = Z[np.concatenate([one, other])]
            test = d2ke.measures.features_two_sample_test(rows, n, n_permutations=199, seed=trial)
            rejected += test.p_value <= 0.05
        shares.append(rejected / 40)
    print(name, dict(zip(sizes, shares, strict=True)))
    ax.plot(sizes, shares, "o-", label=name)
ax.axhline(0.05, color="black", linestyle="--", label="level 0.05")
ax.set(
    xlabel="strings in each sample", ylabel="share of tests that see a difference", ylim=(0, 1.03)
)
ax.legend()
plt.show()
