# SPDX-License-Identifier: BSD-3-Clause
"""Clustering, propagation and classification by discriminative similarity, and their bounds."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from snapshot_cases import blobs, d2ke, exact, rounded

FORMS = ("K", "points", "features")


def similarity(form):
    """Return well-separated points, their Gram matrix, or features, by the argument's name."""
    X, _ = blobs(45)
    if form == "points":
        return {"points": X}
    if form == "features":
        return {"features": np.exp(-0.1 * ((X[:, None] - X[:12]) ** 2).sum(axis=2))}
    return {"K": d2ke.gaussian_gram(X, h=1.5)}


def indefinite():
    """Return a symmetric similarity of the same classes with eigenvalues of both signs."""
    X, y = blobs(45)
    K = d2ke.gaussian_gram(X, h=1.5)
    rng = np.random.default_rng(93)
    noise = 0.05 * rng.standard_normal(K.shape)
    return K + noise + noise.T, y


def values(result, form):
    """Return the fields of a result that are values, and the labels of some objects as new ones."""
    assert isinstance(result, d2ke.Clustering | d2ke.Propagation)
    rows = next(iter(similarity(form).values()))[:9]
    new = {"K_new" if form == "K" else form: rows}
    kept = [getattr(result, one.name) for one in fields(result) if one.name != "trained"]
    return [*kept, d2ke.discriminative_predict(result, **new)]


@rounded("neighbor_similarities", 1e-9)
def neighbor_similarities():
    X, _ = blobs(45)
    return d2ke.neighbor_similarities(X, n_neighbors=5).toarray()


def cluster(form):
    """Cluster by every variant."""
    made = {}
    for variant in ("hard", "relaxed"):
        for risk in ("margin", "ise"):
            made[f"{variant} {risk}"] = d2ke.cdsk(
                **similarity(form), n_clusters=3, variant=variant, risk=risk
            )
    more = {"lam": 5.0, "trace_weight": 0.5, "smoothing": 0.1, "max_iter": 3, "seed": 2}
    made["more"] = d2ke.cdsk(**similarity(form), n_clusters=2, **more)
    if form == "K":
        S, _ = indefinite()
        made["general"] = d2ke.cdsk(np.abs(S), 3, similarity="general")
    return {name: values(result, form) for name, result in made.items()}


def propagate(form):
    """Propagate labels by every variant."""
    _, y = blobs(45)
    known = np.where(np.arange(45) < 9, y, -1)
    text = ["" if one < 0 else "abc"[one] for one in known]
    made = {}
    for variant in ("hard", "relaxed"):
        for risk in ("margin", "ise"):
            made[f"{variant} {risk}"] = d2ke.lpdsk(
                **similarity(form), y=known, variant=variant, risk=risk
            )
    more = {"lam": 5.0, "trace_weight": 0.5, "balance": False, "max_iter": 3, "unknown": ""}
    made["more"] = d2ke.lpdsk(**similarity(form), y=text, **more)
    if form == "K":
        S, _ = indefinite()
        made["general"] = d2ke.lpdsk(np.abs(S), known, similarity="general")
    return {name: values(result, form) for name, result in made.items()}


# The weights are found to a tolerance, within which rounding decides where the search ends.
for _form in FORMS:
    rounded(f"cdsk/{_form}", 1e-3, _form)(cluster)
    rounded(f"lpdsk/{_form}", 1e-3, _form)(propagate)


@rounded("kernel_classifier", 1e-5)
def kernel_classifier():
    _, y = blobs(45)
    labels = np.array(["a", "b", "c"])[y]
    made = []
    for form in ("K", "features"):
        given = similarity(form)
        for more in ({}, {"risk": "ise"}, {"lam": 4.0}):
            model = d2ke.kernel_classifier_fit(y=labels, **given, **more)
            assert isinstance(model, d2ke.KernelClassifier)
            new = {"K_new" if key == "K" else key: one[:9] for key, one in given.items()}
            made += [model, d2ke.kernel_classifier_predict(model, **new)]
    S, _ = indefinite()
    return [*made, d2ke.kernel_classifier_fit(S, y, similarity="general")]


@rounded("similarity_machine", 1e-7)
def similarity_machine():
    S, y = indefinite()
    made = []
    for labels in (y, np.where(y == 0, "no", "yes")):
        for more in ({}, {"C": 10.0, "lam_plus": 0.5, "lam_minus": 3.0, "tol": 1e-4}):
            model = d2ke.similarity_machine_fit(S, labels, **more)
            made += [model, d2ke.similarity_machine_predict(model, S[:9])]
    return [made, d2ke.psd_split(S)]


@rounded("simplex_qp", 1e-5)
def simplex_qp():
    rng = np.random.default_rng(94)
    A = rng.standard_normal((20, 8))
    H, f = A.T @ A, rng.standard_normal(8)
    found = [
        d2ke.simplex_qp([[2.0, 0.0], [0.0, 1.0]], [0.0, 0.0]),
        d2ke.simplex_qp(H, f, tol=1e-12),
        d2ke.simplex_qp(H, f, start=np.full(8, 0.125), tol=1e-12, max_steps=500),
    ]
    assert isinstance(found[0], d2ke.SimplexSolution)
    return [[one.alpha, one.objective, one.converged] for one in found]


@exact("gaussian_gram and bandwidth")
def gaussian_gram():
    X, _ = blobs(45)
    return [
        d2ke.gaussian_gram(X), d2ke.gaussian_gram(X, X[:7] + 0.5, h=2.0),
        d2ke.bandwidth(X), d2ke.bandwidth(X, n_neighbors=1), d2ke.bandwidth(X[:, :1]),
    ]  # fmt: skip


@rounded("bounds", 1e-10)
def bounds():
    X, y = blobs(45)
    S, _ = indefinite()
    K = d2ke.gaussian_gram(X, h=1.5)
    rng = np.random.default_rng(95)
    alpha = rng.random(45)
    alpha /= alpha.sum()
    return [
        [d2ke.kernel_risk_bound(K, y, alpha, **given),
         d2ke.kernel_similarity_bound(K, y, alpha, **given),
         d2ke.similarity_risk_bound(S, y, alpha, **given)]
        for given in ({}, {"margin": 1.5, "delta": 0.2})
    ] + [d2ke.density_error_bound(X, y > 0, alpha, h=h) for h in (0.5, 2.0)]  # fmt: skip


@rounded("clustering measures", 1e-12)
def measures():
    rng = np.random.default_rng(96)
    y, labels = rng.integers(4, size=50), rng.integers(5, size=50)
    names = np.array(list("abcd"))[y]
    return [
        [d2ke.clustering_accuracy(one, other), d2ke.normalized_mutual_information(one, other)]
        for one, other in ((y, labels), (names, labels), (names, y), (y, y * 0))
    ]
