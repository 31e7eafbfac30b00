# SPDX-License-Identifier: BSD-3-Clause
"""`d2ke update` gives the model of `d2ke_update`."""

import csv

import numpy as np
import pytest
from command_cases import run
from model_file_cases import splice, strings_csv, strings_fasta

import d2ke
from d2ke.models.persistence import load_model


@pytest.mark.parametrize(("write", "suffix"), [(strings_csv, ".csv"), (strings_fasta, ".fasta")])
def test_update(tmp_path, capsys, write, suffix):
    X, y = splice("test")
    old, new, model, out = (
        tmp_path / name for name in (f"old{suffix}", f"new{suffix}", "m.h5", "updated.h5")
    )
    write(old, *splice("train"))
    write(new, X, y)
    run(capsys, "train", old, "--keep-sums", "--R", "32", "--out", model)
    before = model.read_bytes()
    text = run(capsys, "update", model, new, "--out", out)
    assert text.splitlines()[-1] == f"model: {out}"
    assert model.read_bytes() == before
    first, updated = load_model(model), load_model(out)
    assert (updated.n_train, updated.n_added) == (first.n_train, len(X))
    wanted = d2ke.d2ke_update(y, X, first)
    np.testing.assert_allclose(updated.linear.weights, wanted.linear.weights, rtol=1e-9)
    # A model that was updated takes more, and its file is read as that of the first one.
    run(capsys, "update", out, new, "--out", tmp_path / "again.h5")
    assert load_model(tmp_path / "again.h5").n_added == 2 * len(X)
    assert "accuracy" in run(capsys, "predict", out, new, "--out", tmp_path / "labels.csv")


def test_records_and_a_regression(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for name, n in (("old", 60), ("new", 20)):
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
            table = csv.writer(stream)
            table.writerow(["word", "age", "y"])
            for _ in range(n):
                word = "".join(rng.choice(list("ab"), 6))
                table.writerow([word, rng.integers(20, 60), word.count("a") + 0.5])
    model, out = tmp_path / "m.h5", tmp_path / "updated.h5"
    run(
        capsys, "train", tmp_path / "old.csv", "--objects", "word,age", "--labels", "y",
        "--R", "64", "--keep-sums", "--out", model,
    )  # fmt: skip
    run(capsys, "update", model, tmp_path / "new.csv", "--out", out)
    updated = load_model(out)
    assert (updated.classes, updated.n_added, list(updated.inputs)) == (None, 20, ["word", "age"])
