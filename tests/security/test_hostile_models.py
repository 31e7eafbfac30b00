# SPDX-License-Identifier: BSD-3-Clause
"""Models and searches: what a file claims is not believed before it is checked."""

import json

import h5py
import numpy as np
import pytest
from seals import seal_model

import d2ke
from d2ke.model_selection.result import _FORMAT
from d2ke.objects.hdf5 import put_text


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_nested_searches_are_refused(deep, tmp_path, refused):
    (tmp_path / "s.json").write_text(deep, "utf-8")
    assert "does not hold" in refused("d2ke.load_search(sys.argv[1])", tmp_path / "s.json")
    record = {"format": _FORMAT, "accuracy": 1.0, "tried": [], "info": {}, "parameters": {"k": 0}}
    (tmp_path / "s.json").write_text(json.dumps(record).replace('{"k": 0}', deep), "utf-8")
    assert "does not hold" in refused("d2ke.load_search(sys.argv[1])", tmp_path / "s.json")


def test_nested_models_are_refused(tmp_path, refused):
    d2ke.save_model(tmp_path / "m", d2ke.train([0, 1], np.eye(2)))
    with h5py.File(tmp_path / "m", "r+") as file:
        del file["structure"]
        put_text(file, "structure", np.array("[" * 100_000 + "]" * 100_000))
    seal_model(tmp_path / "m")
    assert "is damaged" in refused("d2ke.load_model(sys.argv[1])", tmp_path / "m")
