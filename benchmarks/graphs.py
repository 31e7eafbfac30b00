# SPDX-License-Identifier: BSD-3-Clause
"""Graphs: accuracy and seconds beside Weisfeiler-Leman kernels, in the same folds and run.

python -m benchmarks.graphs accuracy [--repeats 3] [--sets MUTAG PTC_MR ENZYMES]
python -m benchmarks.graphs large       # training with 4,000 graphs, nearest of 100,000
python -m benchmarks.graphs documents   # bag, emd and tf-idf
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

import d2ke

C = 10.0 ** np.arange(-2, 4)


def folds(y, repeats):
    for seed in range(repeats):
        splits = StratifiedKFold(10, shuffle=True, random_state=seed)
        yield list(splits.split(np.zeros(len(y)), y))


def ours(distance):
    def fit(y, X, train, test):
        model = d2ke.d2ke_train(y[train], X[train], distance=distance, seed=0, n_threads=1)
        return d2ke.d2ke_predict(None, X[test], model, n_threads=1)[0]

    return fit


def kernel_ridge(y, D, train, test):
    """Predict by a ridge on exp(-gamma d) itself, with gamma of the recipe, C by left-out error."""
    gamma = 1 / np.median(D[np.ix_(train, train)])
    K = np.exp(-gamma * D)
    classes = np.unique(y)
    Y = np.where(y[train, None] == classes, 1.0, -1.0)
    values, vectors = np.linalg.eigh(K[np.ix_(train, train)])
    least = np.inf
    for penalty in 10.0 ** np.arange(-4, 1.5, 0.5):
        inverse = vectors / (values + penalty) @ vectors.T
        alpha = inverse @ Y
        error = ((alpha / np.diag(inverse)[:, None]) ** 2).sum()
        if error < least:
            least, chosen = error, alpha
    return classes[(K[np.ix_(test, train)] @ chosen).argmax(axis=1)]


def svm(y, kernels, train, test):
    """Predict by an SVM, with the kernel and the C that inner folds choose."""
    best = None
    for K in kernels:
        grid = GridSearchCV(SVC(kernel="precomputed"), {"C": C}, cv=5)
        grid.fit(K[np.ix_(train, train)], y[train])
        if best is None or grid.best_score_ > best[0]:
            best = grid.best_score_, grid.predict(K[np.ix_(test, train)])
    return best[1]


def counts(graphs):
    """Return normalized kernels of the counts of codes of up to 0, ..., 5 rounds."""
    kernels = []
    for rounds in range(6):
        codes = d2ke.graph_codes(graphs, rounds)
        owners = np.repeat(np.arange(len(codes)), codes.lengths)
        N = sparse.csr_array((np.ones(len(owners)), (owners, codes.values)))
        K = (N @ N.T).toarray()
        scale = np.sqrt(np.diag(K))
        kernels.append(K / np.outer(scale, scale))
    return kernels


def grakel_kernels(graphs, name):
    from grakel import Graph
    from grakel.kernels import VertexHistogram, WeisfeilerLehman, WeisfeilerLehmanOptimalAssignment

    given = []
    for edges, labels in graphs:
        ends = {k: [] for k in range(len(labels))}
        for u, v in edges.tolist():
            ends[u].append(v)
        given.append(Graph(ends, node_labels=dict(enumerate(labels.tolist()))))
    kernels = []
    for n_iter in range(1, 6):
        if name == "WL":
            kernel = WeisfeilerLehman(
                n_iter=n_iter, normalize=True, base_graph_kernel=VertexHistogram
            )
        else:
            kernel = WeisfeilerLehmanOptimalAssignment(n_iter=n_iter, normalize=True)
        kernels.append(kernel.fit_transform(given))
    return kernels


def measure(title, prepare, predict, y, repeats):
    begin, accuracies = time.process_time(), []
    data = prepare()
    for splits in folds(y, repeats):
        right = sum((predict(y, data, *split) == y[split[1]]).sum() for split in splits)
        accuracies.append(100 * right / len(y))
    seconds = time.process_time() - begin
    print(f"  {title:34} {np.mean(accuracies):5.1f} +- {np.std(accuracies):.1f} {seconds:8.1f} s")
    sys.stdout.flush()


def records(graphs, sets):
    return d2ke.pack_records({"codes": d2ke.graph_codes(graphs), "nodes": sets})


def accuracy(options):
    for name in options.sets:
        accuracy_on(Path(os.environ["D2KE_DATA"]) / "graphs" / f"{name}.zip", options)


def accuracy_on(path, options):
    graphs, y, attributes = d2ke.io.read_graphs(path)
    bare = [(edges, len(labels)) for edges, labels in graphs]
    row = partial(measure, y=y, repeats=options.repeats)
    print(f"{path.stem}: {len(y)} graphs")
    row("d2ke, bag", lambda: d2ke.graph_codes(graphs), ours("bag"))
    row(
        "ridge on exp(-gamma d)",
        lambda: d2ke.distance_matrix(d2ke.graph_codes(graphs), distance="bag"),
        kernel_ridge,
    )
    row("WL counts + SVM", lambda: counts(graphs), svm)
    if importlib.util.find_spec("grakel"):
        for name in ("WL", "WL-OA"):
            row(f"GraKeL, {name} + SVM", partial(grakel_kernels, graphs, name), svm)
    row("d2ke without labels", lambda: d2ke.graph_codes(bare), ours("bag"))
    if options.slow:
        row(
            "d2ke without labels, structure",
            lambda: records(bare, d2ke.graph_structure(bare)),
            ours({"codes": "bag", "nodes": "emd"}),
        )
        if attributes is not None:
            row("d2ke, and attributes", lambda: records(graphs, attributes), ours({"codes": "bag"}))


def random_graphs(n, seed, size=30):
    """Trees with a few more edges and three labels; their class is how far edges reach."""
    rng = np.random.default_rng(seed)
    nodes = np.arange(1, size)
    for i in range(n):
        reach = rng.integers(1, 4 + i % 2, size - 1)
        edges = np.column_stack([nodes, np.maximum(0, nodes - reach)])
        yield np.vstack([edges, rng.integers(0, size, (3, 2))]), rng.integers(0, 3, size)


def large(options):
    warnings.simplefilter("ignore")  # self loops
    graphs = list(random_graphs(4000, 0))
    y = np.arange(4000) % 2
    begin = time.process_time()
    codes = d2ke.graph_codes(graphs)
    after = time.process_time()
    model = d2ke.d2ke_train(y, codes, distance="bag", n_threads=1)
    done = time.process_time()
    print(f"4,000 graphs: codes {after - begin:.1f} s, training {done - after:.1f} s")
    print(model)
    sys.stdout.flush()
    n = options.n
    codes = d2ke.graph_codes(list(random_graphs(n, 1)))
    begin = time.process_time()
    indices, _, info = d2ke.neighbors.nearest_info(codes, k=5, distance="bag", n_threads=1)
    seconds = time.process_time() - begin
    rows = np.random.default_rng(0).choice(n, min(1000, n), replace=False)
    D = d2ke.distance_matrix(codes[rows], codes, distance="bag")
    D[np.arange(len(rows)), rows] = np.inf
    same = np.array_equal(indices[rows], np.argsort(D, axis=1, kind="stable")[:, :5])
    print(
        f"nearest of {n}, k = 5: {seconds:.0f} s, {info.computed} of {info.pairs} pairs; "
        f"equal to brute force on {len(rows)} queries: {same}"
    )


def documents(options):
    """Short documents of four topics, which choose words, or meanings that 50 words share."""
    rng = np.random.default_rng(0)
    n, vocabulary, meanings = 300, 2000, 40
    meaning = np.arange(vocabulary) % meanings
    vectors = rng.normal(size=(meanings, 8))[meaning] + 0.3 * rng.normal(size=(vocabulary, 8))
    common = 1 / np.arange(1, vocabulary + 1)
    for chosen in ("words", "meanings"):
        of_words = chosen == "words"
        liking = rng.normal(size=(4, vocabulary if of_words else meanings))
        topics = common * np.exp(0.7 * liking) if of_words else np.exp(0.7 * liking)[:, meaning]
        topics /= topics.sum(axis=1, keepdims=True)
        y = rng.integers(0, 4, n)
        documents_of(y, [rng.choice(vocabulary, rng.integers(20, 60), p=topics[k]) for k in y],
                     vectors, chosen)  # fmt: skip


def documents_of(y, words, vectors, chosen):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    texts = np.array([" ".join(f"w{w}" for w in of_text) for of_text in words])

    def tfidf(y, texts, train, test):
        vectorizer = TfidfVectorizer(sublinear_tf=True)
        grid = GridSearchCV(LogisticRegression(max_iter=1000), {"C": C}, cv=5)
        grid.fit(vectorizer.fit_transform(texts[train]), y[train])
        return grid.predict(vectorizer.transform(texts[test]))

    print(f"{len(y)} documents of 20 to 60 words, 4 topics, which choose {chosen}")
    measure("bag", lambda: d2ke.pack(words, kind="strings"), ours("bag"), y, 1)
    measure("emd", lambda: d2ke.pack([vectors[w] for w in words], kind="sets"), ours("emd"), y, 1)
    measure("tf-idf and logistic regression", lambda: texts, tfidf, y, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["accuracy", "large", "documents"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sets", nargs="+", default=["MUTAG", "PTC_MR", "ENZYMES"])
    parser.add_argument("--slow", action="store_true", help="attributes and structure, too")
    parser.add_argument("--n", type=int, default=100_000)
    options = parser.parse_args()
    {"accuracy": accuracy, "large": large, "documents": documents}[options.what](options)


if __name__ == "__main__":
    main()
