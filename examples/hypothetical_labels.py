# SPDX-License-Identifier: BSD-3-Clause
"""Clustering by the error of a classifier: nearest neighbour, plug-in, support vector machines.

The framework of section 2 of "Discriminative Similarity for Clustering and Semi-Supervised
Learning" (Yang et al., 2017): a labelling of the objects is hypothetical; a classifier is trained
with it; the best labelling is the one whose classifier has the least error. `cdsk` and `lpdsk` use
the kernel classifier. Here the classifier is, in a few lines each,

- the plug-in classifier of kernel density estimates: its leave-one-out error, relaxed, is a
  sum of similarities between objects of different labels;
- the nearest neighbour, where this similarity is 1 for neighbours: no label may change between an
  object and its nearest neighbour, and clusters of that kind are merged;
- a support vector machine: without any labels (maximum margin clustering, by turns of
  training and labelling), and with a few (transductive).

The objects are digits as sets of points, and what is known of them is their kernel distance.

    python examples/hypothetical_labels.py            # four pairs of digits
    python examples/hypothetical_labels.py --small    # one pair
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.sparse.csgraph import connected_components

import d2ke

LABELLED = 3  # of each class, for the transductive machine
PAIRS = ((3, 8), (1, 7), (3, 9), (5, 8))


def main(pairs: tuple[tuple[int, int], ...]) -> dict[str, list[float]]:
    """Print the accuracies of all classifiers on pairs of digits, and return them."""
    digits = d2ke.datasets.load("digits-points")
    labels = np.asarray(digits.labels)
    accuracies: dict[str, list[float]] = {}
    for pair in pairs:
        which = np.flatnonzero(np.isin(labels, pair))[:160]
        y = (labels[which] == pair[1]).astype(int)
        X = [digits.objects[int(i)] for i in which]
        K = gram(X)
        few = np.concatenate([np.flatnonzero(y == label)[:LABELLED] for label in (0, 1)])
        rest = np.setdiff1d(np.arange(len(y)), few)
        found = {
            "plug-in": d2ke.discriminative.clustering_accuracy(y, by_plug_in(K)),
            "nearest neighbour": d2ke.discriminative.clustering_accuracy(y, by_neighbour(K)),
            "SVM, no labels": d2ke.discriminative.clustering_accuracy(
                y, by_margin(K, by_plug_in(K))
            ),
            "SVM, 3 labels each": np.mean(inductive(K, y, few)[rest] == y[rest]),
            "SVM, transductive": np.mean(transductive(K, y, few)[rest] == y[rest]),
        }
        for name, value in found.items():
            accuracies.setdefault(name, []).append(100 * float(value))
    print(f"{'':20}" + "".join(f"{a} or {b}".rjust(9) for a, b in pairs))
    for name, values in accuracies.items():
        print(f"{name:20}" + "".join(f"{value:8.1f}%" for value in values))
    return accuracies


def gram(X):
    """Return the Gaussian of the kernel distance of point sets, which is positive definite."""
    D = d2ke.kernel_distance_matrix(X, sigma=1.0)
    return np.exp(-np.square(D / np.median(D)))


def by_plug_in(K):
    """Divide where the plug-in classifier's relaxed leave-one-out error is least.

    With densities sum_j K_ij it is the share of the similarity between the two clusters: a cut.
    Relaxed, its minimum is an eigenvector of the similarities.
    """
    S = K**4  # a narrower Gaussian
    np.fill_diagonal(S, 0)  # leave one out
    root = np.sqrt(S.sum(axis=1))
    second = np.linalg.eigh(S / np.outer(root, root))[1][:, -2] / root
    return (second > 0).astype(int)


def by_neighbour(K):
    """Divide so that no object differs from its nearest neighbour: leave-one-out error 0.

    The components of the graph of nearest neighbours are such clusters. The two with the largest
    mean similarity are merged, until two are left: the error stays 0.
    """
    K = K.copy()
    np.fill_diagonal(K, -np.inf)
    n = len(K)
    graph = np.zeros((n, n), dtype=bool)
    graph[np.arange(n), K.argmax(axis=1)] = True
    count, clusters = connected_components(graph, directed=False)
    while count > 2:
        members = np.eye(count, dtype=bool)[clusters]
        means = members.T @ np.where(np.isinf(K), 1.0, K) @ members
        sizes = members.sum(axis=0)
        means = means / np.outer(sizes, sizes)  # between two clusters
        np.fill_diagonal(means, -np.inf)
        a, b = np.unravel_index(means.argmax(), means.shape)
        clusters[clusters == b] = a
        clusters = np.unique(clusters, return_inverse=True)[1]
        count -= 1
    return clusters


def by_margin(K, start, C=1.0, rounds=20):
    """Train a support vector machine, label by it, and train again, in equal halves (balance)."""
    y = start
    for _ in range(rounds):
        decision = decisions(K, y, np.arange(len(K)), C)
        again = (decision > np.median(decision)).astype(int)
        if (again == y).all():
            break
        y = again
    return y


def inductive(K, y, few, C=1.0):
    """Train with the few labels only."""
    return (decisions(K, y[few], few, C) > 0).astype(int)


def transductive(K, y, few, rounds=(0.01, 0.1, 1.0)):
    """Train with the few labels and the others' hypothetical ones, whose weight grows.

    Two of the others' labels are exchanged as long as that makes the losses smaller (Joachims,
    1999): the classes keep the shares with which they began, here equal ones.
    """
    n = len(K)
    rest = np.setdiff1d(np.arange(n), few)
    decision = decisions(K, y[few], few, 1.0)
    guess = y.copy()
    guess[rest] = decision[rest] > np.median(decision[rest])
    for weight in rounds:
        for _ in range(50):
            C = np.full(n, weight)
            C[few] = 1.0
            decision = decisions(K, guess, np.arange(n), C)
            loss = np.maximum(0, 1 - np.where(guess == 1, decision, -decision))
            first, second = (rest[guess[rest] == label] for label in (0, 1))
            a, b = first[loss[first].argmax()], second[loss[second].argmax()]
            if not (loss[a] > 0 and loss[b] > 0 and loss[a] + loss[b] > 2):
                break
            guess[a], guess[b] = 1, 0
    return guess


def decisions(K, labels, rows, C):
    """Return the decision values of a machine trained on some rows, above 0 for label 1.

    Objects with weights of their own are rows of a kernel with 1 / C more on its diagonal: the
    squared hinge loss.
    """
    kernel = K[np.ix_(rows, rows)] + np.diag(np.broadcast_to(1 / np.asarray(C), len(rows)))
    model = d2ke.similarity_machine_fit(kernel, labels, C=1e6)
    return K[:, rows] @ model.coef[:, 0] + model.bias[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="one pair of digits")
    settings = parser.parse_args()
    main(PAIRS[:1] if settings.small else PAIRS)
