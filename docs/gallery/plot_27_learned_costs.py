# SPDX-License-Identifier: BSD-3-Clause
"""
What slips of the hand teach
============================

Someone types words, and at times hits the key beside the right one. ``learn_costs`` sees only what
was typed and what was meant, and finds out which keys are neighbours.
"""

import re

import matplotlib.pyplot as plt
import numpy as np

import d2ke

# %%
# Words of the documentation of d2ke, each typed with one slip: a neighbouring key of its row.

texts = [str(getattr(d2ke, name).__doc__) for name in d2ke.__all__]
words = sorted({word for text in texts for word in re.findall(r"[a-z]{5,}", text)})

rows = ["qwertyuiop", "asdfghjkl", "zxcvbnm"]
near = {}
for row in rows:
    for i, key in enumerate(row):
        near[key] = row[max(0, i - 1) : i] + row[i + 1 : i + 2]

rng = np.random.default_rng(0)
meant = rng.choice(words, 3000).tolist()
typed = []
for word in meant:
    i = rng.integers(len(word))
    typed.append(word[:i] + rng.choice(list(near[word[i]])) + word[i + 1 :])
print(f"{len(words)} words; typed {typed[:3]} for {meant[:3]}")

# %%
# The costs, learned from the first half.

costs = d2ke.learn_costs(typed[:1500], meant[:1500])
print(costs)

# %%
# Rows and columns of the picture are in the order of the keyboard: the cheap edits, dark, are those
# of neighbours in a row of keys. White are letters that stay what they are.

keys = "".join(rows)
table = np.full((len(keys), len(keys)), np.nan)
for (wrong, right), cost in costs["substitution"].items():
    table[keys.index(wrong), keys.index(right)] = cost
fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
shown = ax.imshow(table, cmap="Blues_r")
ax.set(xlabel="the right letter", ylabel="the typed letter", title="Cost of a substitution")
ax.set_xticks(range(len(keys)), keys)
ax.set_yticks(range(len(keys)), keys)
fig.colorbar(shown)
plt.show()

# %%
# Which word was meant? The second half is looked up among all words. A slip is one edit, but often
# several words are one edit away.

for name, parameters in (("osa", {}), ("weighted_levenshtein", costs)):
    nearest, _ = d2ke.nearest(typed[1500:], words, k=1, distance=name, **parameters)
    right = np.array(words)[nearest[:, 0]] == np.array(meant[1500:])
    print(f"{name}: {100 * right.mean():.1f} % of the words are found")
