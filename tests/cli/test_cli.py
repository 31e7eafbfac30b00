# SPDX-License-Identifier: BSD-3-Clause
"""The `d2ke` command, in this process and in one of its own."""

import os
import re
import subprocess
import sys

import pytest
from interrupt_cases import check_interrupt
from interrupts import needs_proc

import d2ke
from d2ke.cli.main import main
from d2ke.datasets import REGISTRY
from d2ke.experiments import demo as demo_module
from d2ke.experiments.settings import SETTINGS, Setting

COMMAND = [sys.executable, "-m", "d2ke"]
BAR = re.compile(r"[\r█▏▎▍▌▋▊▉]|%\||it/s|\x1b")


def command(*arguments, timeout=120, **environment):
    env = {key: value for key, value in os.environ.items() if key != "D2KE_DATA"} | environment
    return subprocess.run(
        [*COMMAND, *arguments], env=env, capture_output=True, text=True, timeout=timeout
    )


def refused(capsys, *arguments):
    """Return what argparse says to arguments that it does not take."""
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


# ---------------------------------------------------------------- help, version, config


def test_help(capsys):
    done = command("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    assert {"demo", "run", "tables", "scaling", "config"} <= set(done.stdout.split())
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    assert "demo" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("run", ["--method", "--data", "--seeds", "--R", "--json", "--threads", *SETTINGS]),
        (
            "tables",
            [
                "--domain",
                "--datasets",
                "--methods",
                "--seeds",
                "--quick",
                "--paper",
                "--out",
                "--data",
            ],
        ),
        (
            "scaling",
            [
                "--methods",
                "--R",
                "--smallest",
                "--largest",
                "--seconds",
                "--out",
                "--data",
                "--seed",
                "--threads",
            ],
        ),
        ("demo", ["--figure", "--seed", "--threads"]),
        ("config", []),
    ],
)
def test_help_of_commands(capsys, name, options):
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert all(option in text for option in options)


def test_version(capsys):
    done = command("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"d2ke {d2ke.__version__}\n", "")
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"d2ke {d2ke.__version__}\n"


def test_config(capsys):
    done = command("config")
    assert (done.returncode, done.stderr) == (0, "")
    assert main(["config"]) == 0
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert rows["d2ke"] == d2ke.__version__
    assert {"d2ke", "OpenMP", "instruction", "threads"} <= set(rows)
    assert list(rows) == [line.split()[0] for line in done.stdout.splitlines()]


def test_no_command(capsys):
    assert "COMMAND" in refused(capsys)


# ---------------------------------------------------------------- arguments


def test_unknown_data_set(capsys):
    error = refused(capsys, "run", "iris")
    assert "'iris'" in error
    assert all(name in error for name in SETTINGS)


def test_unknown_method(capsys):
    error = refused(capsys, "run", "splice", "--method", "svm")
    assert all(name in error for name in ("svm", "d2ke", "rsm", "knn"))


@pytest.mark.parametrize("option", ["--seeds", "--R", "--threads"])
@pytest.mark.parametrize("value", ["0", "-1", "x", "2.5", "", "nan"])
def test_counts(capsys, option, value):
    error = refused(capsys, "run", "splice", f"{option}={value}")
    assert f"argument {option}: {value!r} is not an integer of at least 1" in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--datasets", "iris"], ["'iris'", *SETTINGS]),
        (["--methods", "knn", "svm"], ["'svm'", "gdk_led"]),
        (["--domain", "graphs"], ["'graphs'", "series", "strings", "images"]),
        (["--seeds", "0"], ["'0' is not an integer of at least 1"]),
        (["--threads", "x"], ["'x' is not an integer of at least 1"]),
    ],
)
def test_wrong_arguments_of_tables(capsys, arguments, words):
    error = refused(capsys, "tables", *arguments)
    assert all(word in error for word in words)


@pytest.mark.parametrize("value", ["-1", "x", "1e3"])
def test_seed_of_the_demo(capsys, value):
    error = refused(capsys, "demo", f"--seed={value}")
    assert f"argument --seed: {value!r} is not an integer of at least 0" in error


def test_wrong_arguments_of_the_process(capsys):
    done = command("run", "splice", "--R", "x")
    assert done.returncode == 2
    assert "argument --R: 'x' is not an integer of at least 1" in done.stderr
    assert "Traceback" not in done.stderr
    with pytest.raises(SystemExit) as stop:
        main(["run", "splice", "--seeds", "0"])
    assert stop.value.code == 2
    assert "argument --seeds: '0'" in capsys.readouterr().err


# ---------------------------------------------------------------- missing things


@pytest.mark.parametrize("name", [name for name in SETTINGS if REGISTRY[name].files])
@pytest.mark.parametrize("given", ["nothing", "empty folder", "no folder", "variable"])
def test_missing_data(capsys, monkeypatch, tmp_path, name, given):
    monkeypatch.delenv("D2KE_DATA", raising=False)
    folder = tmp_path / "none" if given == "no folder" else tmp_path
    if given == "variable":
        monkeypatch.setenv("D2KE_DATA", str(folder))
    data = ["--data", str(folder)] if given in ("empty folder", "no folder") else []
    assert main(["run", name, *data]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"d2ke: {name}: ")
    source = REGISTRY[name]
    assert source.title in err
    assert source.page in err
    assert source.files[0] in err
    if given != "nothing":
        assert (folder / source.files[0]).as_posix() in err
    assert err.count("\n") == 1


def test_missing_data_in_a_process(tmp_path):
    done = command("run", "auslan", "--data", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert REGISTRY["auslan"].page in done.stderr
    assert f"put it at {tmp_path.as_posix()}/auslan/tctodd.tar.gz" in done.stderr
    assert "Traceback" not in done.stderr


def hide(monkeypatch, package):
    for module in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("sklearn", ["demo"]),
        ("sklearn", ["run", "digits-str8"]),
        ("sklearn", ["run", "digits-points"]),
        ("sklearn", ["tables", "--datasets", "digits-str8"]),
        ("matplotlib", ["demo"]),
        ("matplotlib", ["tables"]),
    ],
)
def test_missing_packages(capsys, monkeypatch, tmp_path, package, arguments):
    hide(monkeypatch, package)
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    err = capsys.readouterr().err
    assert err.startswith("d2ke: ")
    assert {"sklearn": "scikit-learn"}.get(package, package) in err
    assert 'pip install "d2ke[demo]"' in err
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_run_needs_neither_scikit_learn_nor_matplotlib(capsys, monkeypatch, data_dir):
    for package in ("sklearn", "matplotlib"):
        hide(monkeypatch, package)
    setting = Setting({"length": ((60, 100),)}, R=8, search_R=8, gammas=(1.0,), costs=(1.0,))
    monkeypatch.setitem(SETTINGS, "splice", setting)
    assert main(["run", "splice", "--data", str(data_dir), "--seeds", "1", "--threads", "2"]) == 0
    assert "(paper: 90.17)" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["run", "splice", "--json"], ["demo", "--figure"]])
def test_missing_output_folder(capsys, monkeypatch, tmp_path, arguments):
    """It is named at once, not after the work."""

    def fail(*arguments, **options):
        pytest.fail("work has begun")

    monkeypatch.setattr("d2ke.experiments.run.load", fail)
    monkeypatch.setattr(demo_module, "load", fail)
    assert main([*arguments, str(tmp_path / "none" / "file")]) == 1
    err = capsys.readouterr().err
    assert str(tmp_path / "none") in err
    assert err.count("\n") == 1


# ---------------------------------------------------------------- demo


SMALL_DEMO = """
import sys
from dataclasses import replace
from d2ke.cli.main import main
from d2ke.experiments import demo
for name in demo.DATASETS:
    demo.DEMO_SETTINGS[name] = replace(
        demo.DEMO_SETTINGS[name], R=64, search_R=64, gammas=(1.0,), gram_gammas=(1.0,)
    )
sys.exit(main())
"""


def test_demo(tmp_path):
    """All of it, with fewer random objects and values of gamma than the user gets."""
    pytest.importorskip("sklearn")
    image = pytest.importorskip("matplotlib.image")
    figure = tmp_path / "picture.png"
    done = subprocess.run(
        [sys.executable, "-c", SMALL_DEMO, "demo", "--figure", str(figure), "--threads", "2"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    header, rule, *rows, saved, last = done.stdout.splitlines()
    assert "accuracy" in header
    assert "seconds" in header
    assert set(rule) == {"-"}
    names = ["D2KE of views", "D2KE", "RSM", "KNN", "DSK_RBF"]
    found = [
        re.search(rf" ({'|'.join(names)}) +(\d+\.\d\d) +(\d+\.\d\d)  (.+)", row) for row in rows
    ]
    assert [row[1] for row in found] == names * 3
    assert all(60 < float(row[2]) <= 100 for row in found)
    assert all(re.search(r"\bk \d+", row[4]) for row in found if row[1] == "KNN")
    n_test = re.fullmatch(
        r"a model of 300 objects, saved \(0\.\d MB\) and loaded: (\d+) of (\d+) .*", saved
    )
    assert n_test[1] == n_test[2] == "957"
    assert str(figure) in last
    assert not BAR.search(done.stdout)
    assert os.listdir(tmp_path) == ["picture.png"]
    assert figure.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    pixels = image.imread(figure)
    assert pixels.shape[:2] == (1050, 1800)
    assert pixels[..., :3].std() > 0.05  # something is drawn


# ---------------------------------------------------------------- run


def test_run_through_a_pipe(data_dir, tmp_path):
    file = tmp_path / "r.json"
    done = command(
        *["run", "splice", "--data", str(data_dir), "--R", "8", "--seeds", "2"],
        *["--threads", "2", "--json", str(file)],
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, second, total, seconds = done.stdout.splitlines()
    assert first.startswith("seed 0: ")
    assert second.startswith("seed 1: ")
    assert re.match(r"splice d2ke: \d+\.\d\d \+- \d+\.\d\d % \(paper: 90\.17\), 2 div", total)
    assert seconds.startswith("seconds per division: search ")
    assert not BAR.search(done.stdout + done.stderr)
    assert file.is_file()


def test_variable_names_the_data_folder(data_dir):
    arguments = ["run", "splice", "--method", "rsm", "--R", "4", "--seeds", "1", "--threads", "2"]
    done = command(*arguments, D2KE_DATA=str(data_dir))
    assert (done.returncode, done.stderr) == (0, "")
    assert "splice rsm: " in done.stdout


def test_r_of_knn_is_not_ignored(capsys, tmp_path):
    arguments = ["run", "splice", "--method", "knn", "--R", "64", "--data", str(tmp_path)]
    assert main(arguments) == 1
    assert re.search(r"\bR\b.*knn|knn.*\bR\b", capsys.readouterr().err)


# ---------------------------------------------------------------- Ctrl-C


def test_interrupt_in_this_process(capsys, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("d2ke.experiments.run.run", interrupted)
    assert main(["run", "splice"]) == 130
    assert capsys.readouterr() == ("", "d2ke: interrupted\n")


@needs_proc
@pytest.mark.parametrize(
    ("name", "after"),
    [
        pytest.param("auslan", 0.3, marks=pytest.mark.slow),
        pytest.param("auslan", 1.5, marks=pytest.mark.slow),
        ("splice", 0.3),
        pytest.param("splice", 2.0, marks=pytest.mark.slow),
    ],
)
def test_interrupt(data_dir, name, after):
    """The sizes are the full ones: reading, distances and decompositions are all met."""
    words = ["run", name, "--data", data_dir, "--threads", "2"]
    assert check_interrupt("d2ke.experiments.run", words, after) == ""
