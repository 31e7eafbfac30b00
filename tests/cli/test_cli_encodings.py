# SPDX-License-Identifier: BSD-3-Clause
"""Labels, columns and files' names that the encoding of the output does not have."""

import csv
import io
import os
import subprocess
import sys

import pytest

from d2ke.cli.main import console, main

SCRIPT = """
import sys
from d2ke.cli.main import console, main

console(lambda: max([main(words.split(" ")) for words in sys.argv[1:]]))
"""
COMMANDS = [
    "train Δ.csv --out Ω.h5 --R 64 --keep-sums --report Ω.html",
    "update Ω.h5 Δ.csv --out Ω2.h5",
    "predict Ω.h5 Δ.csv --out Φ.csv --report Φ.html",
    "embed Ω.h5 Δ.csv --out Ψ.h5",
    "neighbors Δ.csv --out Λ.npz --k 3",
    "index Δ.csv --out Ж.d2ke",
    "cluster Δ.csv --as objects --labels label --R 64 --out Γ.csv",
    "propagate Δ.csv --as objects --labels label --R 64 --labeled 5 --out Γ2.csv",
    "dedupe Δ.csv --objects größe --radius 1 --distance levenshtein --out Θ.csv --report Θ.html",
]
FEW = [
    "train Δ.csv --out Ω.h5 --R 16",
    "predict Ω.h5 Δ.csv --out Φ.csv",
    "dedupe Δ.csv --objects größe --radius 1 --distance levenshtein --out Θ.csv",
]
CLASSES = "groß", "猫"
CODE_PAGE = {"PYTHONIOENCODING": "cp1252"}
SHOWN = ["model: \\u03a9.h5", "groß", "\\u732b"]  # with that code page
ASCII = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
needs_posix = pytest.mark.skipif(os.name != "posix", reason="a locale of POSIX")


def run(folder, variables, *commands):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, *commands],
        env={**os.environ, **variables},
        cwd=folder,
        capture_output=True,
    )


def write_table(folder):
    with open(folder / "Δ.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["größe", "label"])
        table.writerows([["aü猫b"[: 2 + k % 3] * (3 + k % 4), CLASSES[k % 2]] for k in range(24)])


def predicted(folder):
    with open(folder / "Φ.csv", encoding="utf-8", newline="") as file:
        return {row["predicted"] for row in csv.DictReader(file)}


@pytest.mark.filterwarnings("ignore")
def test_a_code_page_in_this_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path)
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, "cp1252"))
    with pytest.raises(SystemExit) as ended:
        console(lambda: max(main(words.split(" ")) for words in FEW))
    sys.stdout.flush()
    assert ended.value.code == 0
    printed = output.getvalue().decode("cp1252")
    assert [text for text in SHOWN if text not in printed] == []
    assert predicted(tmp_path) == set(CLASSES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        pytest.param(CODE_PAGE, SHOWN, id="code page"),
        pytest.param(
            ASCII, ["model: \\udcce\\udca9.h5", "gro\\xdf", "\\u732b"], id="C", marks=needs_posix
        ),
    ],
)
def test_every_command_writes_what_the_output_cannot_show(variables, shown, tmp_path):
    pytest.importorskip("jinja2")
    folder = tmp_path / "Maße 猫"
    folder.mkdir()
    write_table(folder)
    commands = COMMANDS
    if variables is ASCII:  # an argument that is no name of a file has to be ASCII
        commands = [words.replace("--objects größe", "--objects label") for words in commands]
    done = run(folder, variables, *commands)
    assert (done.returncode, done.stderr) == (0, b"")
    printed = done.stdout.decode("cp1252")
    assert [text for text in shown if text not in printed] == []
    results = [words.split(" --out ")[1].split()[0] for words in COMMANDS]
    assert {*results, "Ω.html", "Φ.html", "Θ.html"} < set(os.listdir(folder))
    assert predicted(folder) == set(CLASSES)


@pytest.mark.slow
def test_errors_are_shown_too(tmp_path):
    done = run(tmp_path, CODE_PAGE, "train Δ猫.csv --out Ω.h5")
    assert done.returncode == 1
    assert done.stderr.rstrip() == b"d2ke: there is no file \\u0394\\u732b.csv"
