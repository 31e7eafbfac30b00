# SPDX-License-Identifier: BSD-3-Clause
"""Models and searches: what a file claims is not believed before it is checked."""

import io
import json
import zipfile

import numpy as np
import pytest
from hostile_files import HUGE, model_file, npy

import d2ke
from d2ke.model_selection.result import _FORMAT

MODELS = {
    "weights": {"weights.npy": npy((HUGE,))},
    "a product beyond 64 bits": {"weights.npy": npy((2**40, 2**40))},
    "header": {"header.npy": npy((), f"<U{2**28}")},
    "objects": {"weights.npy": npy((1,), "|O")},
    "negative": {"weights.npy": npy((-1, 4))},
    "another part": {"more.npy": npy((2**33,))},
}


@pytest.mark.parametrize("name", MODELS)
def test_models_claim_no_memory(name, tmp_path, refused):
    model_file(tmp_path / "m", MODELS[name])
    assert "not a model" in refused("d2ke.load_model(sys.argv[1])", tmp_path / "m")


def test_models_are_no_bombs(tmp_path, refused):
    zeros = npy((2**25,)) + bytes(2**28)
    model_file(tmp_path / "m", {"weights.npy": zeros}, zipfile.ZIP_DEFLATED)
    assert (tmp_path / "m").stat().st_size < 2**20
    assert "larger than the file" in refused("d2ke.load_model(sys.argv[1])", tmp_path / "m")


def test_models_with_pickles_are_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return open, (str(tmp_path / "owned"), "w")

    np.savez(tmp_path / "m.npz", header=np.array([Evil()], dtype=object))
    with pytest.raises(ValueError, match="not a model"):
        d2ke.load_model(tmp_path / "m.npz")
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_nested_searches_are_refused(deep, tmp_path, refused):
    (tmp_path / "s.json").write_text(deep)
    assert "does not hold" in refused("d2ke.load_search(sys.argv[1])", tmp_path / "s.json")
    record = {"format": _FORMAT, "accuracy": 1.0, "tried": [], "info": {}, "parameters": {"k": 0}}
    (tmp_path / "s.json").write_text(json.dumps(record).replace('{"k": 0}', deep))
    assert "does not hold" in refused("d2ke.load_search(sys.argv[1])", tmp_path / "s.json")


def test_nested_models_are_refused(tmp_path, refused):
    content = io.BytesIO()
    np.save(content, np.array("[" * 100_000 + "]" * 100_000))
    model_file(tmp_path / "m", {"header.npy": content.getvalue()})
    assert "not a model" in refused("d2ke.load_model(sys.argv[1])", tmp_path / "m")
