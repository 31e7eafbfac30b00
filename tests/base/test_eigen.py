# SPDX-License-Identifier: BSD-3-Clause
"""Eigenvectors by a process of its own: those of numpy, also where no process can be had."""

import sys

import numpy as np
import pytest

from d2ke._base import eigen


@pytest.mark.parametrize("executable", [sys.executable, "/no/such/python", "/bin/false"])
def test_eigenvectors(monkeypatch, executable):
    monkeypatch.setattr(eigen, "_LARGE", 10)
    monkeypatch.setattr(sys, "executable", executable)
    A = np.random.default_rng(0).standard_normal((300, 300))
    A += A.T
    values, vectors = eigen.symmetric_eigen(A)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose((vectors * values) @ vectors.T, A, atol=1e-9)


def test_what_does_not_converge_is_an_error(monkeypatch):
    monkeypatch.setattr(eigen, "_LARGE", 10)
    with pytest.raises(np.linalg.LinAlgError):
        eigen.symmetric_eigen(np.full((20, 20), np.nan))
