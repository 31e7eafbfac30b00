# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy of `d2ke_train` of strings beside tf-idf of letters with a linear SVM.

    python -m benchmarks.strings_accuracy words [--folder /usr/share/dict] [--seeds 3]
    python -m benchmarks.strings_accuracy fastsk [--folder FOLDER] [--strands both] [--sets SET ...]

`words`: the language of a word, in percent, means over divisions, and seconds of training. The
lists are Debian's packages wamerican, wngerman, wfrench, witalian, wspanish, wpolish, wportuguese
and wdutch. Words have 4 to 12 letters; words of two languages are left out, and half of them train.

`fastsk`: DNA, proteins and sentences, area under the ROC curve on the divisions that FastSK
publishes. FOLDER has NAME.train.fasta and NAME.test.fasta, labelled 0 and 1, and published.csv with
the AUC of FastSK, whose parameters were searched for each set; by default it is D2KE_DATA/fastsk.
With both strands, letters of DNA become large ones. Seconds are of one core.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure

LISTS = ("american-english", "ngerman", "french", "italian", "spanish", "polish", "portuguese",
         "dutch")  # fmt: skip
WORDS = [*((f"any, {n}", 4, False, n) for n in (60, 500, 5000)), ("lower case", 4, True, 500),
         ("9 to 12 letters", 9, False, 500)]  # of each language, of which half train  # fmt: skip
LONGEST = 12
DNA = ("EP300", "SIN3A", "TP53")
SETS = (*DNA, "2.19", "3.19", "AImed", "MedLine")


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


def read_fasta(file: Path) -> tuple[np.ndarray, list[str]]:
    """Return labels and strings; a header is what follows the first >."""
    y, X = [], []
    for line in file.read_text("utf-8").splitlines():
        if line.startswith((">", "LABEL>")):
            y.append(line.partition(">")[2].strip())
            X.append("")
        else:
            X[-1] += line
    return np.array(y), X


def tfidf(longest: int, lower: bool = False) -> Any:
    """Return scikit-learn's pipeline for strings."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, longest), lowercase=lower)
    return make_pipeline(letters, LinearSVC())


def words(options: argparse.Namespace) -> None:
    """Print the table of words."""
    measure.header("words", "train", "d2ke", "tf-idf", "tf-idf with case", "seconds", "tf-idf's")
    for title, shortest, lower, size in WORDS:
        lists = read_words(options.folder or Path("/usr/share/dict"), shortest, lower)
        rows = []
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            drawn = [rng.choice(len(some), size, replace=False) for some in lists.values()]
            X = [some[i] for some, rows_ in zip(lists.values(), drawn, strict=True) for i in rows_]
            order, half = rng.permutation(len(X)), len(X) // 2
            X, y = [X[i] for i in order], np.repeat(list(lists), size)[order]
            started = time.perf_counter()
            model = d2ke.d2ke_train(y[:half], X[:half])
            trained = time.perf_counter()
            peers = [tfidf(5, lower).fit(X[:half], y[:half]) for lower in (True, False)]
            ended = time.perf_counter()
            reached = [100 * peer.score(X[half:], y[half:]) for peer in peers]
            accuracy = d2ke.d2ke_predict(y[half:], X[half:], model)[1]
            rows.append((accuracy, *reached, trained - started, (ended - trained) / 2))
        a, b, c, ours, theirs = np.mean(rows, axis=0)
        numbers = f"{a:.1f}", f"{b:.1f}", f"{c:.1f}", f"{ours:.2f}", f"{theirs:.2f}"
        measure.row(title, half, *numbers)


def fastsk(options: argparse.Namespace) -> None:
    """Print the table of FastSK's sets, and the mean of the first five."""
    from sklearn.metrics import roc_auc_score

    folder = options.folder or Path(os.environ["D2KE_DATA"], "fastsk")
    with (folder / "published.csv").open() as file:
        published = {row["set"]: float(row["fastsk_auc"]) for row in csv.DictReader(file)}
    measure.header("AUC", "d2ke", "tf-idf", "FastSK, published", "seconds")
    reached = []
    for name in options.sets:
        y, X = read_fasta(folder / f"{name}.train.fasta")
        true, new = read_fasta(folder / f"{name}.test.fasta")
        strands = options.strands if name in DNA else "one"
        if strands == "both":
            X, new = ([x.upper() for x in side] for side in (X, new))
        started = time.perf_counter()
        model = d2ke.d2ke_train(y, X, strands=strands, n_threads=1)
        trained = time.perf_counter()
        decisions = d2ke.d2ke_predict(None, new, model, n_threads=1)[2][:, -1]
        seconds = f"{trained - started:.1f} + {time.perf_counter() - trained:.1f}"
        scores = decisions, tfidf(6).fit(X, y).decision_function(new)
        aucs = [roc_auc_score(true == np.unique(y)[1], score) for score in scores]
        reached.append((*aucs, published[name]))
        measure.row(name, *(f"{value:.3f}" for value in reached[-1]), seconds)
    if tuple(options.sets[:5]) == SETS[:5]:
        mean = np.mean(reached[:5], axis=0)
        measure.row("mean of 5", *(f"{value:.3f}" for value in mean), "")


def main() -> None:
    """Print a table."""
    parser = measure.parser(__doc__)
    parser.add_argument("what", choices=["words", "fastsk"])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="SET")
    parser.add_argument("--strands", choices=["one", "both"], default="one")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", ".*letters that no training string has")
    {"words": words, "fastsk": fastsk}[options.what](options)


if __name__ == "__main__":
    main()
