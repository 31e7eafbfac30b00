# SPDX-License-Identifier: BSD-3-Clause
"""Graphs: accuracy and seconds beside Weisfeiler-Leman kernels, in the same folds.

    python -m benchmarks.graphs accuracy [--repeats 3] [--sets MUTAG PTC_MR ENZYMES] [--slow]
    python -m benchmarks.graphs large [--n 100000]    # training with 4,000, the nearest of n
    python -m benchmarks.graphs documents             # bag, emd and tf-idf

Accuracy in percent over 10 folds, mean and deviation over the repeats; processor seconds from
graphs to predictions. The number of rounds and C of the SVM are chosen by 5 inner folds.
"""

from __future__ import annotations

import os
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

import d2ke
from benchmarks import measure

C = 10.0 ** np.arange(-2, 4)


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


def grakel_graphs(graphs):
    from grakel import Graph

    given = []
    for edges, labels in graphs:
        ends = {k: [] for k in range(len(labels))}
        for u, v in edges.tolist():
            ends[u].append(v)
        given.append(Graph(ends, node_labels=dict(enumerate(labels.tolist()))))
    return given


def grakel_kernels(graphs, optimal):
    from grakel.kernels import VertexHistogram, WeisfeilerLehman, WeisfeilerLehmanOptimalAssignment

    given = grakel_graphs(graphs)
    make = partial(WeisfeilerLehman, base_graph_kernel=VertexHistogram)
    if optimal:
        make = WeisfeilerLehmanOptimalAssignment
    return [make(n_iter=n_iter, normalize=True).fit_transform(given) for n_iter in range(1, 6)]


def show(title, prepare, predict, y, repeats):
    """Print a row: the data are prepared once, and folds are drawn for each repeat."""
    begin, accuracies = time.process_time(), []
    data = prepare()
    for seed in range(repeats):
        folds = StratifiedKFold(10, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
        right = sum((predict(y, data, *split) == y[split[1]]).sum() for split in folds)
        accuracies.append(100 * right / len(y))
    spread = f"{np.mean(accuracies):.1f} ± {np.std(accuracies):.1f}"
    measure.row(title, spread, f"{time.process_time() - begin:.1f}")


def all_distances(graphs):
    return d2ke.distance_matrix(d2ke.graph_codes(graphs), distance="bag")


def records(graphs, sets):
    return d2ke.pack_records({"codes": d2ke.graph_codes(graphs), "nodes": sets})


def accuracy(options):
    for name in options.sets:
        path = Path(os.environ["D2KE_DATA"], "graphs", f"{name}.zip")
        graphs, y, attributes = d2ke.io.read_graphs(path)
        bare = [(edges, len(labels)) for edges, labels in graphs]
        codes, without = d2ke.graph_codes, partial(d2ke.graph_codes, bare)
        methods = {
            "d2ke, bag": (partial(codes, graphs), ours("bag")),
            "ridge on exp(-gamma d)": (
                partial(all_distances, graphs),
                kernel_ridge,
            ),
            "WL counts and SVM": (partial(counts, graphs), svm),
            "d2ke without labels": (without, ours("bag")),
        }
        if measure.installed("grakel"):
            methods["GraKeL, WL and SVM"] = (partial(grakel_kernels, graphs, False), svm)
            methods["GraKeL, WL-OA and SVM"] = (partial(grakel_kernels, graphs, True), svm)
        if options.slow:
            both = ours({"codes": "bag", "nodes": "emd"})
            given = partial(records, bare, d2ke.graph_structure(bare))
            methods["d2ke without labels, structure"] = (given, both)
            if attributes is not None:
                given = partial(records, graphs, attributes)
                methods["d2ke, and attributes"] = (given, ours({"codes": "bag"}))
        measure.header(f"{name}, {len(y)} graphs", "accuracy", "seconds")
        for title, (prepare, predict) in methods.items():
            show(title, prepare, predict, y, options.repeats)


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
    graphs, y = list(random_graphs(4000, 0)), np.arange(4000) % 2
    seconds, codes = measure.least(partial(d2ke.graph_codes, graphs))
    trained, _ = measure.least(partial(d2ke.d2ke_train, y, codes, distance="bag", n_threads=1))
    measure.header("what", "processor seconds")
    measure.row("codes of 4,000", f"{seconds:.1f}")
    measure.row("training with 4,000", f"{trained:.1f}")
    n = options.n
    codes = d2ke.graph_codes(list(random_graphs(n, 1)))
    nearest = partial(d2ke.nearest, codes, k=5, distance="bag", n_threads=1)
    seconds, (indices, _) = measure.least(nearest)
    measure.row(f"5 nearest of {n}", f"{seconds:.1f}")
    rows = np.random.default_rng(0).choice(n, min(1000, n), replace=False)
    D = d2ke.distance_matrix(codes[rows], codes, distance="bag")
    D[np.arange(len(rows)), rows] = np.inf
    np.testing.assert_array_equal(indices[rows], np.argsort(D, axis=1, kind="stable")[:, :5])


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

    measure.header(f"topics choose {chosen}", "accuracy", "seconds")
    show("bag", lambda: d2ke.pack(words, kind="strings"), ours("bag"), y, 1)
    show("emd", lambda: d2ke.pack([vectors[w] for w in words], kind="sets"), ours("emd"), y, 1)
    show("tf-idf and logistic regression", lambda: texts, tfidf, y, 1)


def main():
    parser = measure.parser(__doc__)
    parser.add_argument("what", choices=["accuracy", "large", "documents"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sets", nargs="+", default=["MUTAG", "PTC_MR", "ENZYMES"])
    parser.add_argument("--slow", action="store_true", help="attributes and structure, too")
    parser.add_argument("--n", type=int, default=100_000)
    options = parser.parse_args()
    {"accuracy": accuracy, "large": large, "documents": documents}[options.what](options)


if __name__ == "__main__":
    main()
