# SPDX-License-Identifier: BSD-3-Clause
"""Without LIBLINEAR and LIBSVM, which are an extra, all that does not need them works."""

import importlib.metadata as metadata
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import d2ke
import matlab_compat
from d2ke._base.config import configuration
from d2ke.cli import demo
from d2ke.cli.session import Session

X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
Y = [0.0, 0.0, 1.0, 1.0]


@pytest.fixture
def without_solvers(monkeypatch):
    for name in ("liblinear", "liblinear.liblinear", "libsvm", "libsvm.svm"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize(
    ("needs", "call"),
    [
        ("train with -s 1", lambda: d2ke.train(Y, X, "-c 1")),
        ("train with -s 0", lambda: d2ke.train(Y, X, "-s 0")),
        ("train with -R", lambda: d2ke.train(Y, X, "-s 2 -B 1 -R")),
        ("train with a sparse Z", lambda: d2ke.train(Y, sparse.csr_array(X))),
        ('train with solver="liblinear"', lambda: d2ke.train(Y, X, solver="liblinear")),
        ("svmtrain", lambda: d2ke.svmtrain(Y, X @ X.T)),
        ("svmtrain", lambda: d2ke.similarity_machine_fit(X @ X.T, Y)),
        ("svmtrain", lambda: d2ke.search(
            Y, ["aa", "ab", "bb", "ba"], "dsk_rbf", distance="indel", n_folds=2
        )),
        ("train with -s 1", lambda: matlab_compat.train(Y, X)),
        ("train with a sparse Z", lambda: matlab_compat.train(Y, sparse.csr_array(X), "-s 2")),
        ("train with -v", lambda: matlab_compat.train(Y, X, "-s 2 -v 2")),
        ("train with -C", lambda: matlab_compat.train(Y, X, "-s 2 -C")),
        ("svmtrain", lambda: matlab_compat.svmtrain(Y, X, "-t 0")),
        ("svmtrain", lambda: matlab_compat.svmtrain(Y, X, "-t 0 -v 2")),
        ("svmtrain", lambda: matlab_compat.svmtrain(Y, X, "-t 0 -b 1")),
    ],
)  # fmt: skip
def test_the_error_says_what_needs_them_and_names_the_command(needs, call, without_solvers):
    with pytest.raises(ImportError) as refused:
        call()
    library = "LIBSVM" if needs == "svmtrain" else "LIBLINEAR"
    assert str(refused.value).startswith(f"{needs} needs {library}, which cannot be loaded (")
    assert 'pip install "d2ke[svm]"' in str(refused.value)


@pytest.mark.parametrize("options", ["-s 2", "-s 2 -B 1 -c 3 -e 1e-6"])
@pytest.mark.parametrize("labels", [Y, ["a", "a", "b", "c"]])
def test_the_block_solver_is_in_place_of_liblinear(options, labels, without_solvers, tmp_path):
    model = d2ke.train(labels, X, options)
    block = d2ke.train(labels, X, options, solver="block")
    assert (model.method, block.method) == ("block", "block")
    assert np.array_equal(model.weights, block.weights)
    d2ke.save_model(tmp_path / "model.h5", model)
    assert d2ke.load_model(tmp_path / "model.h5").method == "block"


def test_it_is_chosen_only_without_liblinear():
    pytest.importorskip("liblinear")
    model = d2ke.train(Y, X, "-s 2")
    assert model.method == "liblinear"
    assert np.array_equal(model.weights, d2ke.train(Y, X, "-s 2", solver="liblinear").weights)
    assert d2ke.train_least_squares(Y, X, 1.0).method == "ridge"


def test_a_package_without_its_library_is_not_there(without_solvers, monkeypatch):
    def broken(name):
        raise Exception("LIBLINEAR library not found.")

    monkeypatch.setattr("d2ke.learners.solvers.calls.import_module", broken)
    with pytest.raises(ImportError, match=r"cannot be loaded \(LIBLINEAR library not found"):
        d2ke.train(Y, X, "-s 0")


def test_the_demo_leaves_out_one_method(without_solvers, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("sklearn")
    lines = []
    two = {name: demo.TASKS[name] for name in ("splice", "japanese-vowels")}
    monkeypatch.setattr(demo, "TASKS", two)
    monkeypatch.setattr(demo, "_one_prediction", lambda split: [])
    monkeypatch.setattr(demo, "_evaluate", lambda method, split: (90.0, 1.0))
    options = SimpleNamespace(figure=str(tmp_path / "picture.png"), seed=0)
    demo.demo(options, Session(report=lines.append))
    assert lines[0].startswith("kernel SVM is left out: it needs LIBSVM, which cannot be loaded (")
    methods = [line[35:49].strip() for line in lines[3:-2]]
    assert methods == ["d2ke_train", "1-NN", "tf-idf + SVM", "d2ke_train", "1-NN"]


def test_what_needs_no_solver_works(without_solvers):
    words = ["aabab", "abaab", "aaba", "bcbcc", "ccbcb", "cbbcc"]
    model = d2ke.d2ke_train(["ab"] * 3 + ["bc"] * 3, words, distance="levenshtein")
    assert d2ke.d2ke_predict(["ab"], ["abab"], model)[0].tolist() == ["ab"]
    assert d2ke.predict(Y, X, d2ke.train(Y, X))[1][0] == 100.0
    model = matlab_compat.train([[1], [1], [-1], [-1]], X, "-s 2 -q")
    assert matlab_compat.predict([[1], [1], [-1], [-1]], X, model, "-q")[1][0] == 100.0


def test_the_configuration_says_so(monkeypatch):
    def version(name):
        if name.startswith("lib"):
            raise metadata.PackageNotFoundError(name)
        return metadata.version(name)

    monkeypatch.setattr("d2ke._base.config.version", version)
    assert configuration()["libsvm-official"] == 'not installed: pip install "d2ke[svm]"'
