# SPDX-License-Identifier: BSD-3-Clause
"""`d2ke dedupe`: groups in a file, weights from known pairs, and the report."""

import csv

import pytest
from command_cases import typed

import d2ke
from d2ke.cli.main import main
from d2ke.cli.shell import shell_words

TABLE = """\
id,name,address,year
a1,Anna Lee,Main St. 5,1970
a2,ANA LEE,main st 5,1970
b1,Jon Smith,Elm Rd 1,1981
b2,John Smith,,1981
c1,Bo Ek,Elm Rd 7,1990
"""


@pytest.fixture
def table(tmp_path):
    (tmp_path / "people.csv").write_text(TABLE, "utf-8")
    return tmp_path / "people.csv"


def run(table, *words):
    common = "--objects", "name,address", "--radius", "name=2,address=3", "--threads", "1"
    out = table.with_name("groups.csv")
    status = main(["dedupe", str(table), *common, "--out", str(out), *map(str, words)])
    return status, list(csv.reader(out.read_text("utf-8").splitlines())) if out.exists() else None


def test_groups_and_report(table, capsys):
    report = table.with_name("groups.html")
    status, rows = run(table, "--clean", "case,punctuation", "--ids", "id", "--report", report)
    assert status == 0
    assert rows == [
        ["item", "id", "group", "example", "example_id"],
        ["0", "a1", "0", "0", "a1"],
        ["1", "a2", "0", "0", "a1"],
        ["2", "b1", "1", "2", "b1"],
        ["3", "b2", "1", "2", "b1"],
        ["4", "c1", "2", "4", "c1"],
    ]
    text = capsys.readouterr().out
    assert "5 records: name (strings), address (strings, 1 missing)" in text
    assert "3 groups, 2 of more than one row; threshold 0.5, largest group 2." in text
    page = report.read_text("utf-8")
    assert "Groups of people.csv" in page
    assert "data:image/png" in page
    assert "a2: ANA LEE, main st 5" in page


def test_known_pairs_choose_the_weights(table, capsys):
    pairs = table.with_name("pairs.csv")
    pairs.write_text("left,right,match\na1,a2,yes\nb1,c1,0\nb1,b2,0\n", "utf-8")
    report = table.with_name("groups.html")
    words = "--clean", "case,punctuation", "--ids", "id", "--pairs", pairs, "--report", report
    status, rows = run(table, *words)
    assert status == 0
    text = capsys.readouterr().out
    assert "threshold 0.5, largest group 2. Log-odds of a match: name " in text
    assert [row[2] for row in rows[1:]] == ["0", "0", "1", "2", "3"]
    assert "by their probability not to match" in report.read_text("utf-8")


@pytest.mark.parametrize(
    "form", ["{}", "left,right,match\n{}", "\n\ufeff{}\n", "'id, 2',b,?\r\n{}"]
)
@pytest.mark.parametrize("ids", [("a1", "a2", "b1", "b2", "c1"), ("0", "1", "2", "3", "4")])
def test_no_pair_is_dropped(table, capsys, form, ids):
    lines = [(0, 1, "yes"), (2, 4, "0"), (2, 3, "False"), (0, 2, "NO")]
    text = "\n".join(f"{ids[i]},{ids[j]},{answer}" for i, j, answer in lines)
    text = form.format(text).replace("'", '"')
    words = ["--clean", "case,punctuation", *["--ids", "id"] * (ids[0] == "a1")]
    results = []
    for name, content in (("pairs.csv", text), ("pairs.tsv", text.replace(",", "\t"))):
        pairs = table.with_name(name)
        pairs.write_text(content.removeprefix("\n"), encoding="utf-8", newline="")
        status, rows = run(table, *words, "--pairs", pairs)
        assert status == 0
        assert f"{name}: 4 pairs" in capsys.readouterr().out
        results.append([row[2] for row in rows[1:]])
    assert results == [["0", "0", "1", "2", "3"]] * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,match\n0,9,1\n", "line 2: the table has no row '9'"),
        ("0,9,1\n", "line 1: the table has no row '9'"),
        ("left,right,1\n0,1,1\n", "line 1: the table has no row 'left'"),
        ("a,b\n0,1\n", "line 1: two ids and 1 or 0 are needed, or the names of three columns"),
        ("0,1,maybe\n", "line 1: two ids and 1 or 0 are needed"),
        ("7,8,maybe\n", "line 1: two ids and 1 or 0 are needed"),
        ("a,1,maybe\n", "line 1: two ids and 1 or 0 are needed"),
        ("0;1;1\n", "line 1: two ids and 1 or 0 are needed"),
        ("a,b,match\na,b,match\n0,1,1\n", "line 2: two ids and 1 or 0 are needed\n"),
        ("0,1,1\n\na,b,match\n", "line 3: two ids and 1 or 0 are needed\n"),
        ('0,1,1\n"2,3,0\n', "line 2: unexpected end of data"),
        (b"0,1,1\n2,3,\xff\n", "pairs.csv is not a text file in UTF-8"),
    ],
)
def test_wrong_pairs(table, capsys, text, message):
    pairs = table.with_name("pairs.csv")
    pairs.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert run(table, "--pairs", pairs)[0] != 0
    assert message in capsys.readouterr().err


def test_equal_ids_stay_unless_pairs_name_them(table, capsys):
    status, rows = run(table, "--ids", "year")
    assert status == 0
    assert len({row[1] for row in rows[1:]}) < 5
    pairs = table.with_name("pairs.csv")
    pairs.write_text("1970,1981,1\n", "utf-8")
    assert run(table, "--ids", "year", "--pairs", pairs)[0] == 2
    assert "ids (--ids): the pairs name rows, but several are called" in capsys.readouterr().err


def test_new_rows_join_saved_groups(table, capsys):
    groups, new, out = (table.with_name(name) for name in ("groups.h5", "new.csv", "labels.csv"))
    assert run(table, "--clean", "case,punctuation", "--save", groups)[0] == 0
    new.write_text("id,name,address\nd1,john smith,elm rd 1\nd2,Zoe Park,\nd3,ZOE PARK,\n", "utf-8")
    words = "--with", groups, "--ids", "id", "--out", out, "--threads", "1"
    assert main(["dedupe", str(new), *map(str, words)]) == 0
    rows = list(csv.reader(out.read_text("utf-8").splitlines()))
    assert rows[0][:3] == ["item", "id", "group"]
    assert [row[1:3] for row in rows[1:]] == [["d1", "1"], ["d2", "3"], ["d3", "3"]]
    assert "1 of 3 rows join groups of" in capsys.readouterr().out
    assert main(["inspect", str(groups)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "groups of d2ke dedupe: 3 groups of 5 rows, the largest of 2; threshold 0.5",
        "compared: name (strings, 'levenshtein' within 2)",
        "compared: address (strings, 'levenshtein' within 3)",
        f"next: d2ke dedupe FILE --with {shell_words(str(groups))} --out labels.csv",
    ]
    command, _, *options = typed(lines[-1].removeprefix("next: d2ke "))
    assert main([command, str(new), *options[:-1], str(out)]) == 0
    assert main(["dedupe", str(new), *map(str, words), "--save", str(groups)]) == 0
    assert len(d2ke.load_duplicates(groups).labels) == 8
    capsys.readouterr()
    for option, file, other in (("--save", new, "table"), ("--out", groups, "saved groups")):
        assert main(["dedupe", str(new), *map(str, words), option, str(file)]) == 2
        assert f"and the {other} are the same file" in capsys.readouterr().err
    assert main(["dedupe", str(new), *map(str, words), "--radius", "2"]) == 2
    assert "radius (--radius) does not go with --with" in capsys.readouterr().err
    assert main(["dedupe", str(table), "--objects", "name", "--out", str(out)]) == 2
    assert "radius (--radius) is needed" in capsys.readouterr().err
    assert main(["dedupe", str(new), "--with", "none.d2ke", "--out", str(out)]) == 1
    assert capsys.readouterr().err == "d2ke: there is no such file: none.d2ke\n"
    d2ke.dedupe(["anna lee", "ana lee"], radius=0).save(groups)
    assert main(["inspect", str(groups)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["compared: strings, 'levenshtein' equal"]
