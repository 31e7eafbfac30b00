# SPDX-License-Identifier: BSD-3-Clause
"""Trained models of objects, neighbours, two-sample tests, errors of the kernel, labelled files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from snapshot_cases import blobs, clouds, d2ke, exact, rounded, words


def trained(y, X, new, folder, **options):
    """Train, save, load, predict, transform and explain."""
    model = d2ke.d2ke_train(y, X, **options)
    models = [model]
    if not callable(options.get("distance")):
        d2ke.save_model(folder / "model.h5", model)
        models += [d2ke.load_model(folder / "model.h5")]
    if not isinstance(model, d2ke.D2KEModel):
        raise TypeError(model)
    text = str(model).partition("\nseconds")[0]
    made = [text, model.kind, model.C, model.accuracy, model.confusion, model.linear]
    made += [model.scaling, d2ke.d2ke_transform(new, model)]
    made += [d2ke.d2ke_predict(None, new, one)[::2] for one in models]
    try:
        told = d2ke.d2ke_explain(X[0], model)
        made += [str(told), isinstance(told, d2ke.Explanation)]
    except (TypeError, ValueError) as error:
        made += [error]
    return made


@rounded("d2ke_train/strings", 1e-7)
def of_strings(folder: Path):
    data = d2ke.datasets.load("splice")
    return trained(data.labels[::9], data.objects[::9], data.objects[1::50], folder)


@rounded("d2ke_train/series", 1e-7)
def of_series(folder: Path):
    data = d2ke.datasets.load("japanese-vowels")
    return trained(data.labels[:120], data.objects[:120], data.objects[120:160], folder, seed=3)


@rounded("d2ke_train/sets and numbers", 1e-7)
def of_sets(folder: Path):
    X = clouds(70, 50, 3)
    y = np.array([len(one) + one.sum() for one in X])
    return [
        trained(y[:40], X[:40], X[40:], folder, distance="mhd", R=64),
        trained(y[:40] > 10, X[:40], X[40:], folder, distance=_gap, R=16),
        trained(y[:40] > 10, X[:40], X[40:], folder, distance=["dtw", "msm"], R=16),
    ]


def _gap(x, y):
    return float(abs(len(x) - len(y)))


@rounded("d2ke_train/blocks", 1e-7)
def of_blocks(folder: Path):
    X, y = words(71, 60), np.arange(60) % 3
    infix = d2ke.Block("infix", "levenshtein", d2ke.samplers.segments, 12,
                       parameters={"mode": "infix"})  # fmt: skip
    marked = d2ke.Block("marked", "levenshtein", d2ke.samplers.segments, 8,
                        views=(d2ke.views.mark_ends,))  # fmt: skip
    return trained(y, X, words(72, 9), folder, blocks=[infix, marked])


@exact("nearest")
def nearest_objects(folder: Path):
    made = {}
    X, Y = words(73, 80, lengths=(1, 30)), words(74, 30, lengths=(1, 30))
    for name in ("levenshtein", "osa", "indel", "jaccard"):
        made[name] = [*d2ke.nearest(X, k=3, distance=name), *d2ke.nearest(X, Y, k=2, distance=name)]
        made[name] += [d2ke.within(X, Y, radius=0.5 if name == "jaccard" else 9, distance=name)]
    P, Q = clouds(75, 60, 2, np.float64, (5, 25)), clouds(76, 20, 2, np.float32, (5, 25))
    for name in ("dtw", "msm", "twe", "erp", "mhd", "hausdorff", "emd"):
        made[name] = [*d2ke.nearest(P, k=4, distance=name, include_self=True, info=True)[:2]]
        made[name] += [*d2ke.nearest(P, Q, k=1, distance=name)]
        made[name] += [d2ke.within(P, radius=6.0, distance=name)]
    made["dtw window"] = [*d2ke.nearest(P, k=2, distance="dtw", window=3)]
    found = d2ke.nearest(P, k=2, distance=_gap, info=True)
    made["Python"] = [*found[:2], isinstance(found[2], d2ke.NeighborsInfo)]
    indices, near = d2ke.nearest(P, k=2, distance="dtw", checkpoint=folder / "n")
    parts = near.ravel(), indices.ravel().astype(np.int32), np.arange(0, 121, 2, dtype=np.int32)
    made["file"] = [sparse.csr_array(parts, shape=(60, 60))]
    return made


@rounded("two samples", 1e-9)
def two_samples():
    X, _ = blobs(40)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 20)
    return [
        d2ke.kernel_two_sample_test(X[:20], X[20:] + 0.5, n_permutations=99),
        d2ke.gram_two_sample_test(K, 20, n_permutations=99),
        d2ke.features_two_sample_test(X, 20, n_permutations=99),
    ]


@rounded("kernel's error, resampled", 1e-9)
def resampled():
    Z = blobs(40, 16)[0]
    found = d2ke.bootstrap_kernel_error(Z, n_resamples=20)
    return [
        found,
        isinstance(found, d2ke.KernelBootstrap),
        d2ke.lipschitz_constant(Z[0], 0.5),
        d2ke.soft_min_distance(np.abs(Z), gamma=0.5),
        d2ke.features_needed_for_risk(0.1, 0.05, 0.5, 0.5),
        d2ke.kernel_coordinates(Z, np.eye(16) * 2.0),
    ]


@exact("files of objects")
def object_files(folder: Path):
    texts = {
        "a.ts": "@problemName a\n@univariate true\n@classLabel true x y\n@data\n1,2,3:x\n4,5:y\n",
        "a.fasta": ">one|x\nACGT\nAC\n>two|y\nTTT\n",
        "a.arff": "@relation a\n@attribute s string\n@attribute class {x,y}\n@data\n'ab',x\nb,y\n",
        "a.csv": "text,label\nabc,x\nde,y\n",
        "b.csv": "id,a,b,label\n1,0.5,1,x\n1,2,3,x\n2,1,1,y\n",
        "c.csv": "id,a,b,label\n1,0.5,nan,x\n",
    }
    made = {}
    for name, text in texts.items():
        (folder / name).write_text(text)
        try:
            made[name] = d2ke.io.read_objects(folder / name)
        except ValueError as error:
            made[name] = str(error).replace(str(folder), "FOLDER")
    for name in ("ts", "fasta", "arff"):
        made[name] = getattr(d2ke.io, f"read_{name}")(folder / f"a.{name}")
    d2ke.io.save_mat(folder / "m.mat", {"a": np.eye(2), "b": "text"})
    made["whos"] = str(d2ke.io.whos_mat(folder / "m.mat"))
    return made
