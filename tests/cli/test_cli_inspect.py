# SPDX-License-Identifier: BSD-3-Clause
"""`d2ke inspect`, the names of columns in all commands, exit statuses and completion."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_cases import typed

from d2ke.cli.commands import COMMANDS, STATUSES, TITLE
from d2ke.cli.main import _parser, main
from d2ke.cli.options import OPTIONS
from d2ke.cli.shell import shell_words

WORDS = """\
name,word,language,age,seen
a,kitten,en,3.5,2024-01-02
b,sitten,en,,2024-01-03
c,Katze,de,4.5,2024-01-02
d,Katzen,de,5,2024-01-02
"""
COLUMNS = """\
column    holds    missing  different  read as   first entries
name      text     0        4          not used  a, b, c
word      text     0        4          objects   kitten, sitten, Katze
language  text     0        2          labels    en, en, de
age       numbers  1        3          not used  3.5, 4.5, 5
seen      dates    0        2          not used  2024-01-02, 2024-01-03, 2024-01-02
"""


@pytest.fixture
def words(tmp_path):
    (tmp_path / "words.csv").write_text(WORDS, "utf-8")
    return tmp_path / "words.csv"


def inspect(capsys, *arguments, status=0):
    assert main(["inspect", *map(str, arguments)]) == status
    return capsys.readouterr()


def test_a_table(capsys, words):
    text = inspect(capsys, words, "--objects", "word", "--labels", "language").out
    assert text.startswith("words.csv: 4 strings over 9 letters, lengths 5 to 6; labels of 2 ")
    assert "lengths: 5 to 6, median 6\n" in text
    assert "labels: 2 classes: en (2), de (2)\n" in text
    assert COLUMNS in text


def test_the_next_command_reads_the_same(capsys, words, monkeypatch):
    monkeypatch.chdir(words.parent)
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    text = inspect(capsys, words, "--objects", "word,age", "--labels", "language").out
    headline, next_line = text.splitlines()[0], text.splitlines()[-1]
    command = typed(next_line.removeprefix("next: d2ke "))
    assert command[:2] == ["train", str(words)]
    assert command[-2:] == ["--report", "report.html"]
    assert main([*command[:-2], "--R", "8", "--threads", "1"]) == 0
    assert headline in capsys.readouterr().out.splitlines()
    assert "next: d2ke predict model.h5 FILE" in inspect(capsys, "model.h5").out


def test_columns_that_must_be_named_are_listed_first(capsys, words):
    out = inspect(capsys, words).out
    assert [line.split()[0] for line in out.splitlines()[:3]] == ["column", "name", "word"]
    assert "which columns hold the objects, and which the labels?" in out
    # The names that are proposed are read.
    command = typed(out.splitlines()[-1].removeprefix("next: d2ke inspect "))
    assert command[1:] == ["--objects", "word", "--ids", "name", "--labels", "language"]
    assert "ids from 'name'" in inspect(capsys, *command).out


def test_proposed_names_of_series_and_records(capsys, tmp_path):
    file = tmp_path / "long.csv"
    again = f"next: d2ke inspect {shell_words(str(file))}"
    rows = [f"run {i},2024-01-0{t + 1},{t * i},{'ab'[i % 2]}" for i in range(4) for t in range(5)]
    file.write_text("\n".join(["run,day,height,sort", *rows, ""]), "utf-8")
    out = inspect(capsys, file).out
    assert out.endswith(f"{again} --ids run --time day --labels sort\n")
    file.write_text("no,name,town\n3,Ann,Ulm\n1,Bob,Ulm\n2,Cid,Bonn\n7,Ann,Bonn\n", "utf-8")
    out = inspect(capsys, file).out
    assert out.endswith(f"{again} --objects name --ids no --labels town\n")
    # No command is proposed where the names are not at fault.
    file.write_text("id,text\n3,\n1,Bob\n", "utf-8")
    out, error = inspect(capsys, file, status=2)
    assert "next:" not in out
    assert "line 2, column 'text': the string is empty" in error


def test_files_without_columns(capsys, tmp_path):
    (tmp_path / "two.fasta").write_text(">p1 |a\nACGT\n>p2 |a\nAC\n", "utf-8")
    out = inspect(capsys, tmp_path / "two.fasta").out
    assert "first objects, with their ids: p1 (a), p2 (a)\n" in out
    assert (
        "first objects, numbered by their place: 0 (EI), 1 (EI), 2 (EI)\n"
        in inspect(capsys, "splice").out
    )


def test_other_commands_come_next(capsys, words, monkeypatch):
    monkeypatch.chdir(words.parent)
    text = inspect(capsys, words, "--objects", "word").out
    assert "labels: none; --labels NAME, if one of the columns holds them\n" in text
    assert "next: d2ke neighbors" in text
    commands = [line.removeprefix("next: d2ke ") for line in text.splitlines()[-2:]]
    for command in (commands[0], commands[1].replace("clusters 5", "clusters 2")):
        assert main([*typed(command.replace("--k 5", "--k 2")), "--threads", "1"]) == 0
    words.write_text(WORDS.replace("b,sitten,en", "b,sitten,"), "utf-8")
    text = inspect(capsys, words, "--objects", "word", "--labels", "language").out
    assert "2 classes: de (2), en (1); 1 objects without" in text
    assert f"next: d2ke propagate {shell_words(str(words))} --objects word --labels" in text
    assert "next: d2ke dedupe" in inspect(capsys, words, "--objects", "word,age").out


def test_numbers_and_series(capsys, tmp_path):
    rows = [f"{i},{t},{i * t},{i / 2}" for i in range(4) for t in range(3 + i)]
    file = tmp_path / "walks.csv"
    file.write_text("\n".join(["id,time,x,y", *rows]), "utf-8")
    text = inspect(capsys, file, "--objects", "x", "--labels", "y").out
    assert "lengths: 3 to 6, median 4.5\n" in text
    assert "labels: numbers from 0 to 1.5, median 0.75: a regression\n" in text
    assert re.search(r"^id +numbers +0 +4 +ids of series", text, re.M)
    assert re.search(r"^time +numbers +0 +6 +time", text, re.M)


def test_a_data_set_and_a_missing_file(capsys, tmp_path):
    assert "next: d2ke train splice" in inspect(capsys, "splice").out
    assert "there is no file" in inspect(capsys, tmp_path / "no.csv", status=1).err


def test_examples_of_the_help_are_commands():
    lines = re.findall(r"  (d2ke .*)$", TITLE, re.M)
    assert len(lines) == 8
    for line in lines:
        _parser().parse_args(shlex.split(line)[1:])


def test_all_commands_name_columns_alike():
    kinds = set(OPTIONS["--objects"]) - {"help"}
    for command in COMMANDS:
        named = [option for option in command.options if isinstance(option, tuple)]
        own = {name: given for name, given in named if name in ("--objects", "--labels", "--ids")}
        assert all(kinds.isdisjoint(given) for name, given in own.items() if name == "--objects")
        # The columns of pairs, and of one series, whose steps are rows, are no objects.
        others = ("outliers", "learn-costs")
        assert command.name in others or "--columns" not in [name for name, _ in named]


def test_statuses_are_those_of_the_page(capsys):
    page = (Path(__file__).parents[2] / "docs" / "command.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", page, re.M)
    assert {int(status): text for status, text in rows} == STATUSES


def test_completion(capsys, tmp_path):
    pytest.importorskip("shtab")
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "d2ke.bash"
    script.write_text(capsys.readouterr().out, "utf-8")
    bash = shutil.which("bash")
    if bash is None or sys.platform == "win32":
        pytest.skip("no bash")
    lines = 'source "$1"; COMP_WORDS=(d2ke train --obj); COMP_CWORD=2; _shtab_d2ke; echo $COMPREPLY'
    done = subprocess.run([bash, "-c", lines, "bash", script], capture_output=True, text=True)
    assert done.stdout == "--objects\n"


def test_completion_without_shtab(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert 'pip install "d2ke[completion]"' in capsys.readouterr().err


def test_names_with_commas(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        f'"Doe, {name}",{age},{label}'
        for name, age, label in zip("AABB", "1234", "0011", strict=True)
    ]
    Path("people.csv").write_text("\n".join(['"last, first",age,label', *lines, ""]), "utf-8")
    named = "--objects", '"last, first",age'
    text = inspect(capsys, "people.csv", *named).out
    command = typed(text.splitlines()[-1].removeprefix("next: d2ke "))
    assert command[:4] == ["train", "people.csv", *named]
    radius = "--radius", '"last, first"=2,age=1'
    assert main(["dedupe", "people.csv", *named, *radius, "--out", "groups.csv"]) == 0
    distance = "--distance", '"last, first"=levenshtein'
    assert main(["train", "people.csv", *named, *distance, "--R", "4", "--out", "m.h5"]) == 0


def test_missing_labels_are_counted_apart(capsys, tmp_path):
    file = tmp_path / "few.csv"
    file.write_text("text,label\na,x\nb,\nc,y\nd,\n", "utf-8")
    text = inspect(capsys, file).out
    assert "labels of 2 different values, 2 missing;" in text
