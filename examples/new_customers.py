# SPDX-License-Identifier: BSD-3-Clause
"""Two hundred customers that come a week later, beside three thousand whose groups are known.

python examples/new_customers.py
"""

import numpy as np

import d2ke

rng = np.random.default_rng(0)
LETTERS = list("abdefiklmnoprstu")


def drawn(n):
    """Draw names and streets of n people."""
    word = ["".join(rng.choice(LETTERS, 6)) for _ in range(3 * n)]
    names = [f"{word[i]} {word[n + i]}" for i in range(n)]
    return names, [f"{word[2 * n + i]} {rng.integers(1, 99)}" for i in range(n)]


def misspelt(text):
    """Replace a letter."""
    at = rng.integers(len(text))
    return text[:at] + rng.choice(list("aeiou")) + text[at + 1 :]


names, streets = drawn(3000)
found = d2ke.dedupe({"name": names, "street": streets}, radius={"name": 2, "street": 1})

known = rng.choice(3000, 100, replace=False)  # half of the new customers are old ones, misspelt
others = drawn(100)
new = {
    "name": [misspelt(misspelt(names[i])) for i in known] + others[0],
    "street": [streets[i] for i in known] + others[1],
}
labels = found.assign(new).labels
joined = labels <= found.labels.max()
right = labels[:100] == found.labels[known]
print(f"precision {right.sum() / joined.sum():.3f}, recall {right.mean():.3f}")
