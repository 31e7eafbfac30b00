# SPDX-License-Identifier: BSD-3-Clause
"""Damage files in many ways, and count what reading them gives.

    python tools/flips.py                    # 2,000 flipped bits in each file
    python tools/flips.py --flips 200

A damaged file must be refused by a ValueError "FILE is damaged", or give what the whole one gives.
Each kind of file is tried in a process of its own, so that a crash is seen. The status is 1 if
anything else happens.
"""

import argparse
import io
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import d2ke

SEED = 0
WORDS = d2ke.samplers.random_strings(60, "ACGT", length=(3, 12), seed=SEED)
Y = [str(word).count("A") > 1 for word in WORDS]
RNG = np.random.default_rng(SEED)
SERIES = [RNG.normal(size=(n, 2)) + i % 2 for i, n in enumerate(RNG.integers(5, 20, 40))]
RECORDS = {
    "word": list(map(str, WORDS)),
    "size": RNG.random(60).tolist(),
    "kind": d2ke.categories(["a", "b", "c"] * 20),
}


def models() -> dict[str, tuple[Any, Any]]:
    """Return models and what they predict from; None for those without objects."""
    Z = RNG.random((60, 5))
    return {
        "model of strings": (d2ke.d2ke_train(Y, WORDS, R=64), WORDS),
        "model of series": (d2ke.d2ke_train([0, 1] * 20, SERIES, R=64), SERIES),
        "model of records": (d2ke.d2ke_train(Y, RECORDS, R=64), RECORDS),
        "regression": (d2ke.d2ke_train(WORDS.lengths / 2, WORDS, R=64), WORDS),
        "several labels": (
            d2ke.d2ke_train(np.column_stack([Y, np.arange(60) % 2]).astype(int), WORDS, R=64),
            WORDS,
        ),
        "LinearModel": (d2ke.train(np.array(Y), Z), None),
        "SVMModel": (d2ke.svmtrain(np.array(Y).astype(int), Z @ Z.T), None),
    }


def read_model(path: Path, X: Any) -> bytes:
    """Return the decisions as bytes; without objects, all that the model holds."""
    model = d2ke.load_model(path)
    if X is None:
        again = io.BytesIO()
        d2ke.save_model(again, model)
        return again.getvalue()
    return np.ascontiguousarray(d2ke.d2ke_predict(None, X, model)[2]).tobytes()


def read_features(path: Path) -> bytes:
    """Return all that a features file holds."""
    store = d2ke.io.load_features(path)
    labels = b"" if store.labels is None else store.labels.tobytes()
    omega = b"" if store.omega is None else store.omega.values.tobytes()
    with d2ke.io.open_features(path) as opened:
        rest = repr((store.parameters, store.versions, opened.record, store.omega))
    return store.Z.tobytes() + labels + omega + rest.encode()


def files(folder: Path) -> dict[str, tuple[Path, Callable[[Path], bytes]]]:
    """Write files of each kind; return how they are read."""
    made: dict[str, tuple[Path, Callable[[Path], bytes]]] = {}
    for i, (kind, (model, X)) in enumerate(models().items()):
        path = folder / f"model{i}.h5"
        d2ke.save_model(path, model)
        made[kind] = path, lambda path, X=X: read_model(path, X)
    how = {"distance": "levenshtein", "gamma": 0.3}
    omega = d2ke.samplers.random_strings(200, "ACGT", length=(2, 8), seed=SEED)
    Z = d2ke.d2ke_embed(WORDS, omega, **how)
    labels = ["yes" if one else "no" for one in Y]
    d2ke.io.save_features(folder / "Z.h5", Z, labels=labels, omega=omega, parameters=how)
    d2ke.io.save_features(folder / "gzip.h5", Z, compression="gzip")
    d2ke.write_features(folder / "written.h5", WORDS, omega, labels=labels, **how)
    d2ke.write_distances(folder / "D.h5", SERIES, distance="dtw")
    for kind, name in (
        ("features file", "Z.h5"), ("features, gzip", "gzip.h5"),
        ("features by blocks", "written.h5"), ("distances by blocks", "D.h5"),
    ):  # fmt: skip
        made[kind] = folder / name, read_features
    return made


CHANGES = ("flipped", "cut", "appended", "zeroed")


def changed(content: bytes, how: str, rng: random.Random) -> bytes:
    """Return a file after one kind of damage."""
    place = rng.randrange(len(content))
    if how == "flipped":
        bits = content[place] ^ 1 << rng.randrange(8)
        return content[:place] + bytes([bits]) + content[place + 1 :]
    if how == "cut":
        return content[:place]
    if how == "appended":
        return content + rng.randbytes(rng.randint(1, 600))
    stop = min(len(content), place + rng.randint(1, 5000))
    return content[:place] + bytes(stop - place) + content[stop:]


def outcome(call: Callable[[], Any], wanted: Any, name: str) -> str:
    """Return what a call on a damaged file gave."""
    try:
        value = call()
    except (d2ke.ArgumentError, ValueError) as error:
        text = str(error)
        if name in text and "is damaged: " in text:
            return "refused"
        return "no file of d2ke" if "is not a " in text else f"WRONG: {error!r}"
    except Exception as error:
        return f"WRONG: {error!r}"
    return "equal" if value == wanted else "WRONG: another result"


def try_file(kind: str, n: int) -> Counter[str]:
    """Damage the file of a kind n times by flipped bits, and n / 20 times in the other ways."""
    rng, counts = random.Random(SEED), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        path, read = files(Path(folder))[kind]
        content, wanted = path.read_bytes(), read(path)
        for how in CHANGES:
            for _ in range(n if how == "flipped" else n // 20):
                damaged = changed(content, how, rng)
                if damaged == content:
                    continue
                path.write_bytes(damaged)
                counts[outcome(lambda: read(path), wanted, path.name)] += 1
        print(f"{kind}: {len(content):,} bytes", end="; ")
    return counts


def main() -> int:
    """Try each kind in a process of its own; return the status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--flips", type=int, default=2000, help="in each file")
    parser.add_argument("--kind", help="this kind alone, in this process")
    options = parser.parse_args()
    if options.kind is not None:
        counts = try_file(options.kind, options.flips)
        print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
        return int(any(name.startswith("WRONG") for name in counts))
    with tempfile.TemporaryDirectory() as folder:
        kinds = list(files(Path(folder)))
    again = [sys.executable, __file__, "--flips", str(options.flips), "--kind"]
    statuses = {kind: subprocess.run([*again, kind], timeout=3600).returncode for kind in kinds}
    bad = [f"{kind} ({status})" for kind, status in statuses.items() if status]
    print("failed: " + ", ".join(bad) if bad else "none failed")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
