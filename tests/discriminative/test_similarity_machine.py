# SPDX-License-Identifier: BSD-3-Clause
"""The Similarity Machine against a direct solution."""

import numpy as np
import pytest
from discriminative_cases import blobs
from scipy.optimize import minimize

import d2ke


def smooth_solution(S, y, C, lam_plus, lam_minus):
    """Minimise the Similarity Machine's objective directly, with a smoothed hinge."""
    positive, negative = d2ke.psd_split(S)
    penalty, n, soft = lam_plus * positive + lam_minus * negative, len(S), 1e-4

    def loss(parameters):
        a, b = parameters[:n], parameters[n]
        z = (1 - y * (S @ a + b)) / soft
        value = a @ penalty @ a / 2 + C * soft * np.logaddexp(0, z).sum()
        slope = -C * y / (1 + np.exp(-np.clip(z, -500, 500)))
        return value, np.r_[penalty @ a + S @ slope, slope.sum()]

    start, options = np.zeros(n + 1), {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15,
                                       "gtol": 1e-9, "maxcor": 60}  # fmt: skip
    for soft in (1e-1, 1e-2, 1e-3, 1e-4):  # noqa: B007
        start = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return S @ start[:n] + start[n]


@pytest.mark.parametrize(("lam_plus", "lam_minus"), [(1.0, 1.0), (0.5, 2.0)])
@pytest.mark.parametrize("seed", [0, 1])
def test_similarity_machine_is_the_direct_solution(seed, lam_plus, lam_minus):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 2))
    S = np.tanh(X @ X.T - 0.5) + 0.3 * np.eye(14)
    assert np.linalg.eigvalsh(S)[0] < -0.05
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=14) > 0, 1, -1)
    model = d2ke.similarity_machine_fit(
        S, y, C=1.0, lam_plus=lam_plus, lam_minus=lam_minus, tol=1e-8
    )
    decision = d2ke.similarity_machine_predict(model, S)[1][:, 0]
    direct = smooth_solution(S, y, 1.0, lam_plus, lam_minus)
    assert decision == pytest.approx(direct, abs=1e-3)


def test_similarity_machine_of_many_classes_and_of_a_kernel():
    X, y = blobs(90, c=3)
    K = d2ke.discriminative.gaussian_gram(X, h=1.0)
    names = np.array(["x", "y", "z"])[y]
    model = d2ke.similarity_machine_fit(K[:60, :60], names[:60], C=10.0)
    labels, decision = d2ke.similarity_machine_predict(model, K[60:, :60])
    assert (labels == names[60:]).all()
    assert decision.shape == (30, 3)
    for column, name in enumerate("xyz"):  # of a kernel, the usual machine
        svm = d2ke.svmtrain(names[:60] == name, K[:60, :60], "-t 4 -c 10")
        usual = d2ke.svmpredict(None, K[60:, :60], svm)[2][:, 0]
        assert decision[:, column] == pytest.approx(usual, abs=5e-3)
