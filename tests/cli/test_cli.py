# SPDX-License-Identifier: BSD-3-Clause
"""The `d2ke` command, in this process and in one of its own."""

import argparse
import errno
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

import d2ke
from d2ke.cli import demo as demo_module
from d2ke.cli.main import main, run_command

COMMAND = [sys.executable, "-m", "d2ke"]
BAR = re.compile(r"[\r█▏▎▍▌▋▊▉]|%\||it/s|\x1b")


def command(*arguments):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120)


# ---------------------------------------------------------------- help, version, config


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("--help", ["demo", "train", "predict", "cluster", "config"]),
        ("--version", [f"d2ke {d2ke.__version__}"]),
        ("config", [d2ke.__version__, "OpenMP", "instruction", "threads"]),
    ],
)
def test_what_a_word_shows(capsys, word, shown):
    """Here and in a process of its own."""
    done = command(word)
    assert (done.returncode, done.stderr) == (0, "")
    try:
        status = main([word])
    except SystemExit as stop:
        status = stop.code
    assert status == 0
    out = capsys.readouterr().out
    assert [text for text in shown if text not in out] == []
    assert [line.split()[:1] for line in done.stdout.splitlines()] == [
        line.split()[:1] for line in out.splitlines()
    ]


_LIGHT = """
import sys
from d2ke.cli.main import main
try:
    main(sys.argv[1:])
finally:
    print({"numpy", "scipy", "h5py", "matplotlib"} & set(sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words", [["--help"], ["train", "--help"], ["--version"], ["cluster", "x", "--R", "0"]]
)
def test_help_and_errors_of_options_need_no_libraries(words):
    done = subprocess.run([sys.executable, "-c", _LIGHT, *words], capture_output=True, text=True)
    assert done.returncode == (2 if "0" in words else 0)
    assert done.stderr.endswith("set()\n")


# ---------------------------------------------------------------- missing things


def hide(monkeypatch, package):
    for module in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("matplotlib", ["demo"]),
        ("matplotlib", ["train", "x.csv", "--out", "m.h5", "--report", "r.html"]),
        ("jinja2", ["train", "x.csv", "--out", "m.h5", "--report", "r.html"]),
    ],
)
def test_missing_packages(capsys, monkeypatch, tmp_path, package, arguments):
    hide(monkeypatch, package)
    monkeypatch.setattr(demo_module, "TASKS", dict(reversed(demo_module.TASKS.items())))
    monkeypatch.setattr(demo_module, "_one_prediction", lambda split: [])
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    err = capsys.readouterr().err
    assert err.startswith("d2ke: ")
    assert {"jinja2": "Jinja2"}.get(package, package) in err
    assert 'pip install "d2ke[demo]"' in err
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == []


SHORT = """
import argparse
from d2ke.cli.main import console, run_command
parser = argparse.ArgumentParser(prog="d2ke")
parser.set_defaults(run=lambda _: print("text", flush=True))
console(lambda: run_command(parser, []))
"""


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["-c", SHORT], id="short"),
        pytest.param(["-m", "d2ke", "inspect", "splice"], id="inspect", marks=pytest.mark.slow),
    ],
)
def test_status_where_the_reader_has_left(words, unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, *words]
    run = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment)
    os.close(writer)
    assert (run.returncode, run.stderr) == (141, b"")


@pytest.mark.parametrize("number", [errno.EPIPE, errno.EINVAL])
def test_the_same_error_of_a_file_is_shown(number, capsys):
    def run(_):
        raise OSError(number, "cannot seek")

    parser = argparse.ArgumentParser(prog="d2ke")
    parser.set_defaults(run=run)
    assert run_command(parser, []) == 1
    assert capsys.readouterr().err == f"d2ke: [Errno {number}] cannot seek\n"


# ---------------------------------------------------------------- demo


@pytest.mark.parametrize(
    ("parts", "R", "least"),
    [
        ({"splice": 20, "japanese-vowels": 4}, 16, 30),
        pytest.param(dict.fromkeys(demo_module.TASKS, 3), 64, 60, marks=pytest.mark.slow),
    ],
)
@pytest.mark.filterwarnings("ignore:little or nothing was learned")
def test_demo(capsys, monkeypatch, tmp_path, parts, R, least):
    """All of it, with fewer objects than the user gets."""
    pytest.importorskip("sklearn")
    image = pytest.importorskip("matplotlib.image")

    def load(name, whole=demo_module.load):
        data = whole(name)
        source = replace(data.source, n_train=None)
        some = slice(None, None, parts[name])
        return replace(data, objects=data.objects[some], labels=data.labels[some], source=source)

    monkeypatch.setattr(demo_module, "load", load)
    monkeypatch.setattr(demo_module, "TASKS", {name: demo_module.TASKS[name] for name in parts})
    for name in ("R", "_SHOWN_R"):
        monkeypatch.setattr(demo_module, name, R)
    figure = tmp_path / "picture.png"
    assert main(["demo", "--figure", str(figure), "--threads", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    prediction, table, last = re.fullmatch(
        r"(A model was trained.*\n)\n(data (?:.+\n)+)\n((?:.*\n)?accuracy against.*)", out, re.S
    ).groups()
    assert re.search(
        r"true class: (\w+); predicted: \w+, with probability [01]\.\d\d\n", prediction
    )
    assert 1 <= len(re.findall(r"^  [ACGT.]+.*, edit distance \d+$", prediction, re.M)) <= 3
    same, n = re.search(r"(\d+) of (\d+) predicted labels are the same\.\n$", prediction).groups()
    assert same == n
    header, rule, *rows = table.splitlines()
    assert header.split() == ["data", "method", "accuracy", "%", "seconds"]
    assert set(rule) == {"-"}
    found = [re.search(r"  (\S.*?) +(\d+\.\d\d) +\d+\.\d\d$", row) for row in rows]
    names = list(demo_module.METHODS)  # the last one is of strings
    assert [row[1] for row in found] == [
        name for task in parts for name in (names if "vowels" not in task else names[:-1])
    ]
    assert all(least < float(row[2]) <= 100 for row in found)
    assert str(figure) in last
    assert "d2ke train FILE.csv" in last
    assert not BAR.search(out)
    assert os.listdir(tmp_path) == ["picture.png"]
    assert figure.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    pixels = image.imread(figure)
    assert pixels.shape[:2] == (525, 600 * len(parts))
    assert pixels[..., :3].std() > 0.05  # something is drawn


# ---------------------------------------------------------------- Ctrl-C


def test_interrupt_in_this_process(capsys, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module, "demo", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr() == ("", "d2ke: interrupted\n")
