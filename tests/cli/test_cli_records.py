# SPDX-License-Identifier: BSD-3-Clause
"""`d2ke train --objects NAME,NAME`: records of tables, with gaps, by columns of several kinds."""

import csv
from datetime import date

import numpy as np
import pytest
from command_cases import rows, run

from d2ke.cli.main import main
from d2ke.models.persistence import load_model

RNG = np.random.default_rng(0)
N = 60
OLD, TOWN = RNG.random((2, N)) < 0.5
TABLE = {
    "word": [("ab" if one else "ba") * 2 + str(RNG.choice(["c", "d"])) for one in TOWN],
    "age": [f"{value:.1f}" for value in np.where(OLD, 60.0, 30.0) + RNG.normal(size=N)],
    "code": [str(RNG.choice(["1", "2", "3"])) for _ in range(N)],
    "group": [f"{'old' if a else 'new'} {int(b)}" for a, b in zip(OLD, TOWN, strict=True)],
    "note": ["x"] * N,
}
TABLE["word"][3] = TABLE["age"][5] = TABLE["code"][7] = ""
TABLE["age"][6] = "NA"


def refused(capsys, *words):
    assert main([*map(str, words), "--threads", "1"]) != 0
    return capsys.readouterr().err


def write(file, names):
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows(zip(*(TABLE[name] for name in names), strict=True))


def train(capsys, folder, *more):
    write(folder / "people.csv", list(TABLE))
    return run(
        capsys, "train", folder / "people.csv", "--objects", "word,age,code", "--categories",
        "code", "--labels", "group", "--R", 32, "--out", folder / "model.h5", *more,
    )  # fmt: skip


def test_train_and_predict(capsys, tmp_path):
    text = train(capsys, tmp_path, "--report", tmp_path / "report.html")
    assert "60 records: word (strings, 1 missing), age (numbers, 2 missing), code (cat" in text
    assert "labels from 'group'" in text
    model = load_model(tmp_path / "model.h5")
    kinds = {name: given.kind for name, given in model.inputs.items()}
    assert kinds == {"word": "strings", "age": "numbers", "code": "categories"}
    assert "D2KE of people.csv" in (tmp_path / "report.html").read_text("utf-8")
    # The columns in another order, and none that is not needed.
    write(tmp_path / "new.csv", ["group", "code", "age", "word"])
    result = tmp_path / "labels.csv"
    text = run(capsys, "predict", tmp_path / "model.h5", tmp_path / "new.csv", "--out", result)
    assert "accuracy" in text
    right = [row["predicted"] == row["true"] for row in rows(result)]
    assert np.mean(right) > 0.9
    run(capsys, "embed", tmp_path / "model.h5", tmp_path / "new.csv", "--out", tmp_path / "z.h5")


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_tables_of_arrow(capsys, tmp_path, suffix):
    pa = pytest.importorskip("pyarrow")
    module = pytest.importorskip(f"pyarrow.{suffix}")
    walks = [(RNG.normal(size=12) + 2 * one).tolist() for one in TOWN]
    walks[4] = None
    table = pa.table({"walk": walks, "age": np.where(OLD, 60.0, 30.0), "label": TABLE["group"]})
    file = tmp_path / f"people.{suffix}"
    getattr(module, "write_table" if suffix == "parquet" else "write_feather")(table, file)
    text = run(
        capsys, "train", file, "--objects", "walk,age", "--distance", "walk=dtw", "--R", 64,
        "--out", tmp_path / "model.h5",
    )  # fmt: skip
    assert "1 missing), age (numbers)" in text
    text = run(capsys, "predict", tmp_path / "model.h5", file, "--out", tmp_path / "labels.csv")
    assert "accuracy" in text


def test_dates_mean_the_same_in_every_file(capsys, tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    days = [date(2024, 1, 1 + i % 28) for i in range(N)]
    table = {"id": [i // 4 for i in range(N)], "day": [days[N - 1 - i] for i in range(N)],
             "word": TABLE["note"], "v": RNG.normal(size=N).tolist(),
             "label": [i // 4 % 2 for i in range(N)]}  # fmt: skip
    table["word"] = [("ab", "ba")[one] * 3 for one in table["label"]]
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    records = ["--objects", "word,day,v"]
    series = ["--ids", "id", "--time", "day", "--objects", "v", "--labels", "label"]
    for options, said in (
        (records, "objects from 'word', 'day' (dates"),
        (series, "time from 'day' (dat"),
    ):
        results = set()
        for old, new in (("a.csv", "a.parquet"), ("a.parquet", "a.csv")):
            model, result = tmp_path / "model.h5", tmp_path / "labels.csv"
            text = run(capsys, "train", tmp_path / old, *options, "--out", model, "--R", "16")
            assert text.count(said) == 2  # of the file, and of the model
            assert load_model(model).columns["uses"] == {"day": "dates"}
            assert said in run(capsys, "predict", model, tmp_path / new, "--out", result)
            results.add(result.read_text("utf-8"))
        assert len(results) == 1
        pq.write_table(pa.table({**table, "day": list(range(N))}), tmp_path / "b.parquet")
        text = refused(
            capsys, "predict", model, tmp_path / "b.parquet", "--out", tmp_path / "b.csv"
        )
        assert "column 'day' holds numbers; dates are needed, as in training" in text
    text = run(capsys, "train", tmp_path / "a.csv", *series[:2], *series[4:], "--out", model)
    assert "not used: 'day' (dates, in days since 1970-01-01), 'word'" in text
