# SPDX-License-Identifier: BSD-3-Clause
"""The language of a word: `d2ke_train` beside tf-idf of letter n-grams and a linear SVM.

    python -m benchmarks.words [--folder /usr/share/dict] [--seeds 3]

The word lists are Debian's packages wamerican, wngerman, wfrench, witalian, wspanish, wpolish,
wportuguese and wdutch. Words have 4 to 12 letters, and words of two languages are left out. Half of
the words train, and both methods see the same ones.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from d2ke import d2ke_predict, d2ke_train

LISTS = ("american-english", "ngerman", "french", "italian", "spanish", "polish", "portuguese",
         "dutch")  # fmt: skip
SIZES = (60, 500, 5000)  # words of each language, of which half train
LONGEST = 12


def read_words(folder: Path, shortest: int, lower: bool) -> dict[str, list[str]]:
    """Return the words of each language that no other language has."""
    lists = {}
    for name in LISTS:
        content = (folder / name).read_bytes()
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = content.decode("latin-1")
        words = dict.fromkeys((text.lower() if lower else text).split("\n"))
        lists[name] = [w for w in words if shortest <= len(w) <= LONGEST and w.isalpha()]
    distinct, counts = np.unique([w for some in lists.values() for w in some], return_counts=True)
    shared = set(distinct[counts > 1].tolist())
    return {name: [w for w in some if w not in shared] for name, some in lists.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("/usr/share/dict"))
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", ".*letters that no training string has")
    print("accuracy in percent and seconds of training; means over divisions")
    names = f"{'train':>6} {'d2ke':>6} {'tf-idf':>7} {'with case':>11} {'seconds':>8} {'tf-idf':>7}"
    print(f"{'words':16} {names}")
    cases = [("any", 4, False, size) for size in SIZES]
    cases += [("lower case", 4, True, 500), ("9 to 12 letters", 9, False, 500)]
    for title, shortest, lower, size in cases:
        lists = read_words(options.folder, shortest, lower)
        rows = []
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            X, y = [], []
            for name, some in lists.items():
                X += [some[i] for i in rng.choice(len(some), size, replace=False)]
                y += [name] * size
            order = rng.permutation(len(X))
            X, y = [X[i] for i in order], np.array(y)[order]
            half = len(X) // 2
            started = time.perf_counter()
            model = d2ke_train(y[:half], X[:half])
            ours = time.perf_counter() - started
            accuracy = d2ke_predict(y[half:], X[half:], model)[1]
            started = time.perf_counter()
            peers = [
                make_pipeline(
                    TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 5), lowercase=lower),
                    LinearSVC(),
                ).fit(X[:half], y[:half])
                for lower in (True, False)
            ]
            theirs = (time.perf_counter() - started) / 2
            reached = [100 * peer.score(X[half:], y[half:]) for peer in peers]
            rows.append((accuracy, *reached, ours, theirs))
        a, b, c, ours, theirs = np.mean(rows, axis=0)
        print(f"{title:16} {half:6} {a:6.1f} {b:7.1f} {c:11.1f} {ours:8.2f} {theirs:7.2f}")


if __name__ == "__main__":
    main()
