# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during the commands that take long: at once, and no file is changed."""

import os

import numpy as np
import pytest
from interrupt_cases import check_interrupt
from interrupts import needs_proc
from model_file_cases import strings_csv

from d2ke.cli.main import main


def words_csv(file, n):
    letters = np.frombuffer(b"ACGT", "u1")[np.random.default_rng(0).integers(4, size=(n, 600))]
    words = [row.tobytes().decode() for row in letters]
    strings_csv(file, words, ["many" if word.count("A") > 150 else "few" for word in words])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write a small table and a model of it, and a table that takes long."""
    folder = tmp_path_factory.mktemp("long")
    words_csv(folder / "small.csv", 60)
    words_csv(folder / "large.csv", 40_000)
    words = ["--R", "64", "--threads", "2", "--out", str(folder / "m.h5")]
    assert main(["train", str(folder / "small.csv"), *words]) == 0
    return folder


@needs_proc
@pytest.mark.parametrize(
    ("command", "out", "after"),
    [
        ("train", "m.h5", 0.5),
        pytest.param("train", "m.h5", 0.2, marks=pytest.mark.slow),
        pytest.param("train", "m.h5", 0.7, marks=pytest.mark.slow),
        pytest.param("train", "m.h5", 3.0, marks=pytest.mark.slow),
        ("predict", "labels.csv", 0.5),
        pytest.param("predict", "labels.csv", 1.2, marks=pytest.mark.slow),
        ("neighbors", "graph.npz", 0.4),
    ],
)
def test_interrupt(folder, tmp_path, command, out, after):
    out = tmp_path / out
    content = (folder / "m.h5").read_bytes() if command == "train" else b"what was here before"
    out.write_bytes(content)
    words = [folder / "large.csv", "--out", out, "--threads", "2"]
    if command == "predict":
        words.insert(0, folder / "m.h5")
    elif command == "neighbors":
        words += ["--k", "3"]
    module = "neighbors" if command == "neighbors" else "models"
    check_interrupt(f"d2ke.cli.{module}", [command, *words], after)
    assert out.read_bytes() == content
    assert os.listdir(tmp_path) == [out.name]


@pytest.mark.slow
@needs_proc
def test_interrupted_features_are_kept_in_a_part(folder, tmp_path):
    out, files = tmp_path / "features.h5", [str(folder / "m.h5"), str(folder / "large.csv")]
    check_interrupt("d2ke.cli.models", ["embed", *files, "--out", out, "--threads", "2"], 0.8)
    assert not out.exists()  # a part may be there, or nothing yet
