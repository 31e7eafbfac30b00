# SPDX-License-Identifier: BSD-3-Clause
"""Biological and other long strings: `d2ke_train` beside tf-idf of letters with a linear SVM.

    python -m benchmarks.strings_accuracy --folder fastsk [--strands both] [SET ...]

The folder has the divisions that FastSK publishes: NAME.train.fasta and NAME.test.fasta, labelled
0 and 1, and published.csv with the AUC of FastSK, whose parameters were searched for each set. With
both strands, letters of DNA become large ones. Seconds are of one core, for training and for
prediction of the test set.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import d2ke

DNA = ("EP300", "SIN3A", "TP53")
SETS = (*DNA, "2.19", "3.19", "AImed", "MedLine")
MEAN = 5  # of the first sets


def read(file: Path) -> tuple[np.ndarray, list[str]]:
    """Return labels and strings; a header is what follows the first >."""
    y, X = [], []
    for line in file.read_text("utf-8").splitlines():
        if line.startswith((">", "LABEL>")):
            y.append(line.partition(">")[2].strip())
            X.append("")
        else:
            X[-1] += line
    return np.array(y), X


def ours(y: np.ndarray, X: list[str], new: list[str], strands: str) -> tuple[np.ndarray, str]:
    """Return decisions of d2ke, and the seconds of training and prediction."""
    started = time.perf_counter()
    model = d2ke.d2ke_train(y, X, strands=strands, n_threads=1)
    trained = time.perf_counter()
    decisions = d2ke.d2ke_predict(None, new, model, n_threads=1)[2]
    ended = time.perf_counter()
    return decisions[:, -1], f"{trained - started:.1f} + {ended - trained:.1f}"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS, metavar="SET")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--strands", choices=["one", "both"], default="one")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", ".*letters that no training string has")
    with (options.folder / "published.csv").open() as file:
        published = {row["set"]: float(row["fastsk_auc"]) for row in csv.DictReader(file)}
    print(f"{'AUC':8} {'d2ke':>6} {'tf-idf':>7} {'FastSK, published':>18} {'seconds':>12}")
    reached = []
    for name in options.sets:
        y, X = read(options.folder / f"{name}.train.fasta")
        true, new = read(options.folder / f"{name}.test.fasta")
        strands = options.strands if name in DNA else "one"
        if strands == "both":
            X, new = ([x.upper() for x in side] for side in (X, new))
        decisions, seconds = ours(y, X, new, strands)
        tfidf = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 6), lowercase=False)
        peer = make_pipeline(tfidf, LinearSVC()).fit(X, y)
        scores = decisions, peer.decision_function(new)
        aucs = [roc_auc_score(true == np.unique(y)[1], score) for score in scores]
        reached.append((*aucs, published[name]))
        a, b, c = reached[-1]
        print(f"{name:8} {a:6.3f} {b:7.3f} {c:18.3f} {seconds:>12}", flush=True)
    if tuple(options.sets[:MEAN]) == SETS[:MEAN]:
        a, b, c = np.mean(reached[:MEAN], axis=0)
        print(f"{'mean of 5':8} {a:6.3f} {b:7.3f} {c:18.3f}")


if __name__ == "__main__":
    main()
