# SPDX-License-Identifier: BSD-3-Clause
"""Commands that are refused: a status, one line that says what is wrong, and no file is changed."""

import shlex

import h5py
import numpy as np
import pytest
from model_file_cases import put, series_npz, strings_csv

import d2ke
from d2ke.cli.main import main
from d2ke.io import save_mat
from d2ke.learners.solvers.liblinear import train
from d2ke.models.persistence import save_model

POINTS = np.random.default_rng(0).normal(size=(30, 2)) + 8 * (np.arange(30) // 10)[:, None]
PEOPLE = """\
id,name,address,year
a1,Anna Lee,Main St. 5,1970
a2,ANA LEE,main st 5,1970
b1,Jon Smith,Elm Rd 1,1981
"""
TEXTS = {
    "text.csv": "1,2\n3,x1\n", "ragged.csv": "1,2\n3\n", "empty.csv": "\n",
    "three.txt": "a\nb\na\n", "none.txt": "\n" * 30, "one.txt": "a\n" * 30,
    "two.txt": "1\n" * 29 + "2\n", "gaps.csv": "NA,NA\n1,2\n3,4\n",
    "marks.csv": "?,\n1,2\n3,4\n", "index.csv": '"",a\n1,2\n3,4\n',
    "people.csv": PEOPLE, "noid.csv": "name,text\na,xy\n,yx\nc,xx\n",
    "single.csv": "word\nabc\n", "new.fa": ">a\nab\n",
    "words.csv": "id,word,language\n" + "".join(f"w{i},{'ab' * i}c,de\n" for i in range(5)),
    "plain.csv": "sequence\nab\nba\n", "odd.csv": "sequence,label\naXb,x\n",
    "abc.csv": "a,b,c\nx,y,1\n", "z.csv": "sequence,label\naab,z\n",
    "old.csv": "word,age\nab,3\nba,old\n", "noage.csv": "word\nab\n",
    "notime.csv": "p,run\n1,r\n2,r\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write files of every kind, and models."""
    folder = tmp_path_factory.mktemp("files")
    gram = d2ke.discriminative.gaussian_gram(POINTS, h=2.0)
    for name, matrix in (("K.csv", gram), ("long.csv", POINTS), ("D.csv", 1 - gram)):
        np.savetxt(folder / name, matrix, delimiter=",", fmt="%.17g")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "bytes.csv").write_bytes(b"\xff\xfe1")
    for name in ("bad.mat", "bad.h5"):
        (folder / name).write_bytes(b"rubbish" * 50)
    save_mat(folder / "two.mat", {"A": gram, "B": gram, "s": "text"})
    arrays = {
        "two": {"A": gram, "g/B": gram},
        "points": {"X": POINTS},
        "far": {"X": 1e300 * POINTS},
    }
    for name, values in arrays.items():
        with h5py.File(folder / f"{name}.h5", "w") as store:
            for path, value in values.items():
                store[path] = value
    series_npz(folder / "series.npz", list(POINTS.reshape(6, 5, 2)), [0, 1] * 3)
    strings_csv(folder / "s.csv", ["aab", "bba", "abb", "baa"] * 6, ["x", "y", "y", "x"] * 6)
    strings_csv(folder / "n.csv", ["aab", "bba", "abb", "baa"] * 6, [0, 1, 1, 0] * 6)
    lines = [f"{'ab' * (i % 5)}c,{i},{'xy'[i % 2]},o" for i in range(20)]
    put(folder / "p.csv", ["word,age,group,note", *lines])
    lines = [f"r{i // 5},{i % 5},{i},{'ab'[i // 5 % 2]}" for i in range(60)]
    put(folder / "long_table.csv", ["run,clock,p,kind", *lines])
    save_model(folder / "linear.h5", train([0, 1] * 5, np.eye(10), "-q"))
    return folder


@pytest.fixture(scope="module", autouse=True)
def models(files):
    """Train the models of the files."""
    for name, words in {
        "m.h5": "s.csv --keep-sums",
        "sumless.h5": "s.csv",
        "numbers.h5": "n.csv",
        "records.h5": "p.csv --objects word,age --labels group",
        "timed.h5": "long_table.csv --ids run --time clock --objects p --labels kind",
    }.items():
        file, *options = words.split()
        command = ["train", str(files / file), *options, "--R", "16", "--out", str(files / name)]
        assert main(command) == 0


TO = "--out o.csv"
PREDICT = f"predict m.h5 s.csv {TO}"
DEDUPE = f"dedupe people.csv --objects name,address --radius name=2,address=3 {TO}"
TRAIN = "train p.csv --labels group --out o.h5 --objects"
REFUSED = [  # the command, and what the error has
    ("", "COMMAND"),
    *((f"demo --threads={value}", f"argument --threads: {value!r} is not an integer of at least 1")
      for value in ("0", "-1", "x", "2.5", "", "nan")),
    *((f"demo --seed={value}", f"argument --seed: {value!r} is not an integer of at least 0")
      for value in ("-1", "x", "1e3")),
    *((f"cluster digits {option}={value}", f"argument {option}: {value!r} is not")
      for option in ("--n-clusters", "--R", "--seed", "--lam", "--gamma")
      for value in ("-1", "x", "nan", "")),
    # Matrices and their labels.
    ("cluster K.csv", "n_clusters is needed", "--n-clusters"),
    ("cluster K.csv --n-clusters 3 --variable K", "variable", "K.csv"),
    ("cluster K.csv --n-clusters 3 --gamma 1", "gamma", "gram"),
    ("cluster K.csv --n-clusters 3 --R 8", "R (--R) is for objects"),
    ("cluster K.csv --n-clusters 3 --unknown ?", "unknown", "labels"),
    ("cluster K.csv --save-features Z.h5", "(--save-features) is for objects"),
    ("cluster K.csv --labels y.txt", "labels", "no file y.txt"),
    ("cluster K.csv --labels Y", "labels", "'Y'"),
    ("cluster K.csv --labels three.txt", "labels has 3 labels", "30 objects"),
    ("cluster digits --as gram", "--as", "digits"),
    ("cluster K.csv --n-clusters 3 --out c.txt", "out must end in .csv", "'c.txt'"),
    ("cluster K.csv --n-clusters 3 --picture c.bmp", "picture must end in", "c.bmp"),
    ("cluster K.csv --n-clusters 3 --names three.txt",
     "names has 3 names, but there are 30 objects"),
    ("cluster K.csv --n-clusters 3 --names no.txt", "names: there is no file"),
    ("cluster long.csv --n-clusters 3", "long.csv must be square", "(30, 2)", "--as"),
    ("cluster D.csv --n-clusters 3", "D.csv", "zeros on its diagonal", "--as"),
    ("cluster text.csv --n-clusters 3", "text.csv is not a table of numbers", "x1"),
    ("cluster ragged.csv --n-clusters 3", "ragged.csv", "number of columns changed"),
    ("cluster empty.csv --n-clusters 3", "empty.csv has no rows of numbers"),
    ("cluster bytes.csv --n-clusters 3", "bytes.csv is not a text file"),
    ("cluster bad.mat --n-clusters 3", "bad.mat cannot be read"),
    ("cluster bad.h5 --n-clusters 3", "bad.h5 is not an HDF5 file"),
    ("cluster two.mat --n-clusters 3", "two.mat has several matrices", "A, B"),
    ("cluster two.mat --variable C", "two.mat has no variable 'C'", "A, B"),
    ("cluster two.mat --variable s", "two.mat: s is not a matrix", "str"),
    ("cluster two.h5 --n-clusters 3", "two.h5 has several matrices", "A, g/B"),
    ("cluster points.h5 --as points --n-clusters 2 --out points.h5",
     "out and the input are the same file"),
    ("cluster far.h5 --as points --n-clusters 2 --out c.h5", "points are too far apart"),
    ("cluster points.h5 --as points --n-clusters 3 --similarity general",
     'similarity "general" is for a Gram matrix'),
    *((f"cluster {name}.csv --as points --n-clusters 2", said) for name, said in (
        ("gaps", "not a table of numbers: could not convert string"),
        ("marks", "not a table of numbers: could not convert string"),
        ("index", "the first column has no name"))),
    ("propagate K.csv", "labels are needed", "--labels"),
    ("propagate K.csv --labels none.txt", "labels has no known label"),
    ("propagate K.csv --labels one.txt", "at least two classes", "a"),
    ("propagate K.csv --labels two.txt --unknown x", "unknown must be an integer", "'x'"),
    # Files of objects.
    ("cluster words.csv", "words.csv is not a table of numbers", "--as objects"),
    ("cluster words.csv --objects no", "objects (--objects) must name", "'no'", "'word'"),
    ("cluster words.csv --objects word --variable X", "variable", "is for a matrix"),
    ("cluster words.csv --as gram --ids id", "ids (--ids) is for objects"),
    ("cluster words.csv --objects word --distance no", "distance", "levenshtein"),
    ("cluster words.csv --objects word --parameter a=1", "has no parameter 'a'"),
    ("cluster words.csv --objects word --objects language", "holds records"),
    ("cluster words.csv --objects word --R 8", "n_clusters is needed"),
    ("cluster single.csv --objects word", "holds 1 objects; at least 2"),
    ("cluster splice --labels y", "labels (--labels) is for files", "splice"),
    ("neighbors words.csv --objects word --k 1 --out g.txt", "out must end in .npz, .csv, got"),
    (f"neighbors words.csv --objects word --k 5 {TO}", "k is 5, but X has 5 objects"),
    (f"neighbors words.csv --objects word {TO}", "k or radius is needed"),
    (f"neighbors noid.csv --objects text --ids name --k 1 {TO}",
     "line 3, column 'name': the id is empty; it must name the row"),
    *((f"neighbors words.csv --objects word --k 1 {TO} {more}", *said) for more, *said in (
        ("--distance nix", "distance (--distance) must be one of", "'nix'"),
        ("--distance dtw", "X holds strings"),
        ("--parameter k=2", "'levenshtein' has no parameter 'k'"),
        ("--distance dtw --parameter window=-1", "window"),
        ("--distance kernel", "'kernel' needs the parameter 'sigma'"),
        ("--k 0", "argument --k: '0' is not"),
        ("--radius -1", "argument --radius: '-1' is not a finite number of at least 0"),
        ("--radius nan", "argument --radius: 'nan' is not"),
        ("--parameter window", "'window' is not NAME=VALUE"))),
    # Models.
    ("train s.csv --out o.csv", "out must end in .h5"),
    ("train s.csv --out o.h5 --report r.pdf", "must end in .html"),
    ("train plain.csv --out o.h5", "labels are needed: --labels says which column"),
    ("train s.csv --out o.h5 --labels z",
     "labels (--labels) must name one of the columns: s.csv has no column 'z'"),
    ("train s.csv --out o.h5 --distance dtw", "'dtw'"),
    *((f"train s.csv --out o.h5 --parameter {name}=3", "'levenshtein' has no parameter")
      for name in ("seed", "R", "windows")),
    ("train s.csv --out o.h5 --distance osa,indel --parameter mode=prefix",
     "--parameter and --costs are for one distance"),
    ("train abc.csv --out o.h5", "objects (--objects) of ", "labels must name"),
    ("train points.h5 --out points.h5", "out and the file of objects are the same file"),
    *((f"{command} m.h5 points.h5 --out {out}.h5", f"out and {name} are the same file")
      for command in ("predict", "embed", "update")
      for out, name in (("m", "the model"), ("points", "the file of objects"))),
    (f"predict x.h5 s.csv {TO}", "there is no file"),
    (f"predict m.h5 series.npz {TO}",
     "X holds series, but the model was trained on strings"),
    (f"predict m.h5 odd.csv --unseen-letters refuse {TO}", "X[0] has the letter 'X'",
     "unseen_letters (--unseen-letters) is 'refuse'"),
    (f"predict s.csv m.h5 {TO}", "the model's file comes first"),
    (f"predict linear.h5 s.csv {TO}", "is a LinearModel of features"),
    (f"predict numbers.h5 s.csv {TO}", "the model has classes that are numbers"),
    (f"predict m.h5 new.fa {TO} --report r.html", "a report needs labelled objects (--labels)"),
    (f"{PREDICT} --report r.pdf", "report must end in .html"),
    (f"{PREDICT} --alpha 2", "alpha (--alpha) must be below 1"),
    (f"predict timed.h5 notime.csv {TO}", "notime.csv has no column 'clock', which"),
    ("update sumless.h5 s.csv --out o.h5",
     "has no sums of products, which d2ke train --keep-sums keeps"),
    ("update m.h5 z.csv --out o.h5", "is 'z', which is not one of the model's 2 classes"),
    ("update m.h5 plain.csv --out o.h5", "labels are needed: --labels says which"),
    # Records.
    (f"{TRAIN} word,size", "has no column 'size'"),
    (f"{TRAIN} word --categories age", "'age', which is not among the col"),
    (f"{TRAIN} word --categories word --time note", "does not go with"),
    (f"{TRAIN} word,age --distance dtw", "--distance is COLUMN=DISTANCE"),
    (f"{TRAIN} word,age --parameter window=3", "for one distance, not"),
    ("train p.csv --labels group --out o.h5 --categories word",
     "'word', which is not among the columns"),
    (f"predict records.h5 old.csv {TO}", "line 3, column 'age': the value is 'old', not a number"),
    (f"predict records.h5 noage.csv {TO}", "has no column 'age'"),
    *((f"{DEDUPE} {more}", said) for more, said in (
        ("--ids number", "ids (--ids) must name one of the columns"),
        ("--clean case,umlauts", "clean (--clean)"),
        ("--threshold 2", "threshold (--threshold) is 2"),
        ("--out groups.txt", "out must end in"),
        ("--distance editt", "distance"),
        ("--report report.pdf", "report must end in"),
        *((f"--objects={names}", "is not different names with commas between")
          for names in ("name,name", "name,", "")))),
    *((f"{DEDUPE.replace('name,address', names)}", said) for names, said in (
        ("name,town", "objects (--objects) must name one of the columns"),
        ("name", "radius (--radius) names the column 'address'"),
        ("name,address,year", "radius (--radius) has no radius of the column"))),
    (f"dedupe people.csv --objects name {TO}", "--radius"),
]  # fmt: skip
MISSING = [  # files that are not there have another status
    *((f"{command} nix{end}", said)
      for command in ("train --out n.h5", "neighbors --k 1 --out g.npz", "cluster", "propagate")
      for end, said in (("", "data sets are splice, japanese-vowels"), (".csv", "nix.csv"))),
    *((f"{command} none/{end}", "none") for command, end in (
        ("neighbors words.csv --objects word --k 1 --out", "g.npz"),
        ("demo --figure", "file"), ("cluster digits --out", "c.h5"),
        ("cluster digits --picture", "c.png"), ("cluster digits --tree", "c.png"),
        ("cluster digits --save-features", "c.h5"))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "words", "said"),
    [(2, words, said) for words, *said in REFUSED] + [(1, words, said) for words, *said in MISSING],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refused(files, capsys, monkeypatch, status, words, said):
    monkeypatch.chdir(files)
    if status == 1:  # folders that are not there are named before the work, not after it
        monkeypatch.setattr("d2ke.cli.demo.load", None)
        monkeypatch.setattr("d2ke.cli.object_files.load", None)
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    try:
        found = main(shlex.split(words))
    except SystemExit as stop:
        found = stop.code
    error = capsys.readouterr().err
    assert found == status
    assert [text for text in said if text not in error] == [], error
    assert error.startswith("usage: ") or (error.startswith("d2ke: ") and error.count("\n") == 1)
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before
