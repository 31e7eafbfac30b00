# SPDX-License-Identifier: BSD-3-Clause
"""Write small models of this version and what they predict, which the tests of later ones read.

``python tools/keep_models.py`` writes them, at a release, into tests/models/released/VERSION/. No
random numbers are drawn for the objects, so that they are the same with any version of NumPy.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import d2ke

FOLDER = Path(__file__).parent.parent / "tests" / "models" / "released"
N = 24
Y = ["a", "b"] * (N // 2)
WORDS = ["".join("uvwxy"[(i * i + 3 * k) % 5] for k in range(5)) + "pq"[i % 2] for i in range(N)]
WAVES = [np.sin(np.arange(20 + i % 3) / (2 + i % 2) + i) for i in range(N)]
POINTS = [np.stack([np.cos(k * k + i) + i % 2 for k in range(8)]).reshape(4, 2) for i in range(N)]
NUMBERS = np.cos(np.arange(N)) + np.arange(N) % 2


def cases() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Return labels, objects and options of a model of each kind."""
    records = {"word": [None, *WORDS[1:]], "number": NUMBERS, "wave": WAVES}
    return {
        "strings": (Y, WORDS, {}),
        "tokens": (Y, [list(word) for word in WORDS], {"distance": "bag"}),
        "series": (Y, WAVES, {}),
        "sets": (Y, d2ke.pack(POINTS, kind="sets"), {}),
        "records": (Y, d2ke.pack_records({**records, "day": d2ke.categories(Y)}), {}),
        "values": (NUMBERS, WORDS, {}),
        "labels": (np.column_stack([np.arange(N) % 2, np.arange(N) % 3 == 0]), WORDS, {}),
    }


def write(folder: Path) -> None:
    """Write a model of each kind, and its decision values for its training objects."""
    folder.mkdir(parents=True)
    decisions = {}
    for name, (y, X, options) in cases().items():
        model = d2ke.d2ke_train(y, X, R=16, seed=0, **options)
        d2ke.save_model(folder / f"{name}.h5", model)
        decisions[name] = d2ke.d2ke_predict(None, X, model)[2].tolist()
    (folder / "decisions.json").write_text(json.dumps(decisions), "utf-8")


def check(folder: Path) -> None:
    """Compare what the models of a folder predict now with what they predicted."""
    decisions = json.loads((folder / "decisions.json").read_text("utf-8"))
    for name, (_, X, _) in cases().items():
        if name in decisions:  # a later version may have more kinds
            model = d2ke.load_model(folder / f"{name}.h5")
            found = d2ke.d2ke_predict(None, X, model)[2]
            np.testing.assert_allclose(found, decisions[name], rtol=1e-4, atol=1e-5, err_msg=name)


if __name__ == "__main__":
    write(FOLDER / d2ke.__version__)
