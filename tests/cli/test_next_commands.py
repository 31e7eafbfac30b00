# SPDX-License-Identifier: BSD-3-Clause
"""Every command that `d2ke inspect` prints runs, whatever the table."""

import pytest
from command_cases import typed

from d2ke.cli.main import main

TABLES = {
    "all labels differ": ("word,label\nab,p\nba,q\nbb,r\n", []),
    "ages": ("word,age\n" + "".join(f"{'ab' * (i % 9)}c,{18 + i}\n" for i in range(34)),
             ["--objects", "word", "--labels", "age"]),
    "one class": ("word,town,label\nann,ulm,x\nbob,bonn,x\n", ["--objects", "word,town"]),
    "one class of words": ("word,label\nann,x\nbob,x\ncid,x\n", []),
    "two objects": ("word\nab\nba\n", ["--objects", "word"]),
    "one object": ("word\nab\n", ["--objects", "word"]),
    "equal objects": ("word\nab\nab\nab\n", ["--objects", "word"]),
    "letters": ("word\na\nb\nc\n", ["--objects", "word"]),
    "ids with gaps": ("id,word,town\n1,ann,ulm\n,bob,bonn\n", ["--objects", "word,town"]),
    "numbers": ("name,age\nann,3\nbob,4.5\ncid,\n", ["--objects", "name,age"]),
    "one label is known": ("word,label\nab,x\nba,\nbb,\n", []),
    "labels with gaps": ("word,label\nab,x\nba,y\nbb,\nabb,x\nbba,y\n", []),
    "series with gaps": ("id,t,v\na,0,1\na,1,\na,2,3\nb,0,3\nb,1,4\n", ["--ids", "id"]),
    "series": ("id,t,v\na,0,1\na,1,2\nb,0,3\nb,1,4\nc,0,9\n", ["--ids", "id", "--time", "t"]),
    "rows": ("a,b,c,d\n1,2,3,4\n4,3,2,1\n1,1,2,2\n", ["--series"]),
    "categories": ("name,kind\nann,x\nbob,y\ncid,x\n",
                   ["--objects", "name,kind", "--categories", "kind"]),
    "targets": ("word,label\nab,1.5\nba,2.5\nbb,1.0\n", []),
    "named": ("run,word,sort\np,ab,x\nq,ba,y\nr,bb,x\ns,aa,y\n", []),
    "a target in each row": ("id,t,u,v,goal\n" + "".join(
        f"s{i},{t},{i * t + 0.5},{t},{i * 1.5}\n" for i in range(4) for t in range(3)), []),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", TABLES)
def test_commands_that_are_printed_run(case, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text, options = TABLES[case]
    (tmp_path / "a table.csv").write_text(text, "utf-8")
    todo = [["inspect", "a table.csv", *options]]
    while todo:
        words = todo.pop(0)
        if words[0] == "train":
            words = [*words[: words.index("--report")], "--R", "8"]
        assert main([*words, "--threads", "1"]) == 0, (words, capsys.readouterr().err)
        lines = capsys.readouterr().out.splitlines() if words[0] == "inspect" else []
        todo += [typed(line)[2:] for line in lines if line.startswith("next: ")]
