# SPDX-License-Identifier: BSD-3-Clause
"""`d2ke update` gives the model of `d2ke_update`."""

import csv

import numpy as np
import pytest
from command_cases import refused, run
from model_file_cases import put, splice, strings_csv, strings_fasta

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


def test_what_is_refused(tmp_path, capsys):
    words, labels = ["aab", "bba", "abb", "baa"] * 6, ["x", "y", "y", "x"] * 6
    strings_csv(tmp_path / "old.csv", words, labels)
    for name, options in (("m.h5", ["--keep-sums"]), ("plain.h5", [])):
        train = ["train", tmp_path / "old.csv", "--R", "16", "--out", tmp_path / name]
        run(capsys, *train, *options)
    out = tmp_path / "updated.h5"

    def update(model, lines):
        put(tmp_path / "new.csv", lines)
        return refused(capsys, "update", tmp_path / model, tmp_path / "new.csv", "--out", out)

    old = (tmp_path / "old.csv").read_text("utf-8").splitlines()
    assert "has no sums of products, which d2ke train --keep-sums keeps" in update("plain.h5", old)
    error = update("m.h5", [old[0], old[1].replace("x", "z")])
    assert "is 'z', which is not one of the model's 2 classes" in error
    assert "labels are needed: --labels says which" in update("m.h5", ["sequence", "aab", "bba"])
    assert not out.exists()
