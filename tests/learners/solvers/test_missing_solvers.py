# SPDX-License-Identifier: BSD-3-Clause
"""Without LIBLINEAR and LIBSVM, which are an extra, all that does not need them works."""

import importlib.metadata as metadata
import sys

import numpy as np
import pytest

import d2ke
import matlab_compat
from d2ke._base.config import configuration

X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
Y = [0.0, 0.0, 1.0, 1.0]


@pytest.fixture
def without_solvers(monkeypatch):
    for name in ("liblinear", "liblinear.liblinear", "libsvm", "libsvm.svm"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize(
    "call",
    [
        lambda: d2ke.train(Y, X),
        lambda: d2ke.svmtrain(Y, X @ X.T),
        lambda: d2ke.similarity_machine_fit(X @ X.T, Y),
        lambda: d2ke.search(Y, ["aa", "ab", "bb", "ba"], "dsk_rbf", distance="indel", n_folds=2),
        lambda: matlab_compat.train(Y, X, "-s 2"),
        lambda: matlab_compat.train(Y, X, "-v 2"),
        lambda: matlab_compat.svmtrain(Y, X, "-t 0"),
        lambda: matlab_compat.svmtrain(Y, X, "-t 0 -v 2"),
    ],
)  # fmt: skip
def test_the_error_names_the_command(call, without_solvers):
    with pytest.raises(ImportError, match=r'pip install "d2ke\[svm\]"'):
        call()


def test_what_needs_no_solver_works(without_solvers):
    words = ["aabab", "abaab", "aaba", "bcbcc", "ccbcb", "cbbcc"]
    model = d2ke.d2ke_train(["ab"] * 3 + ["bc"] * 3, words, distance="levenshtein")
    assert d2ke.d2ke_predict(["ab"], ["abab"], model)[0].tolist() == ["ab"]
    model = d2ke.train(Y, X, "-s 2", solver="block")
    assert d2ke.predict(Y, X, model)[1][0] == 100.0


def test_the_configuration_says_so(monkeypatch):
    def version(name):
        if name.startswith("lib"):
            raise metadata.PackageNotFoundError(name)
        return metadata.version(name)

    monkeypatch.setattr("d2ke._base.config.version", version)
    assert configuration()["libsvm-official"] == 'not installed: pip install "d2ke[svm]"'
