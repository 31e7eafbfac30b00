# SPDX-License-Identifier: BSD-3-Clause
"""`papers.tables --paper`: the settings are the paper's, and its numbers stand beside ours."""

import json
from dataclasses import replace

import numpy as np
import pytest
from experiment_cases import SMALL, division_of, subset

import d2ke
from d2ke.cli.session import Session
from papers import paper, report
from papers import tables as module
from papers.datasets import REGISTRY
from papers.methods import evaluate
from papers.plan import KINDS, Selection
from papers.settings import SETTINGS, published
from papers.tables import CELLS, main, tables

IN_THE_PAPER = [name for name in paper.ORDER if (name, "knn") in paper.ACCURACIES]


@pytest.mark.parametrize("name", [name for name in IN_THE_PAPER if name in SETTINGS])
def test_settings_are_the_papers(name):
    setting, domain = published(name), REGISTRY[name].domain
    assert (setting.R, setting.rsm_R, setting.transductive) == (4096, 512, True)
    assert setting.absolute
    assert not setting.scale_channels
    assert setting.scalings == ("none",)
    assert setting.losses == ("squared_hinge",)
    assert (min(setting.costs), max(setting.costs)) == pytest.approx((1e-5, 1e5))
    low, high = {"series": (1e-5, 1), "strings": (1e-5, 1), "sets": (1e-3, 10)}[domain]
    assert (min(setting.gammas), max(setting.gammas)) == pytest.approx((low, high))
    # No p(omega) looks at the data.
    assert not {"order", "source", "region"} & set(setting.omega)
    if domain == "sets":
        assert {size[0] for size in setting.omega["size"]} == {3}
        assert max(size[1] for size in setting.omega["size"]) == 15
        return
    assert {length[0] for length in setting.omega["length"]} == {2}
    assert max(length[1] for length in setting.omega["length"]) == 50
    if domain == "series":
        sigmas = setting.omega["sigma"]
        assert (min(sigmas), max(sigmas)) == pytest.approx((1e-3, 1e3))
        assert setting.distance_parameters == {"window": "rws"}


def test_selection():
    names, not_run = Selection(paper=True).checked_datasets()
    assert set(names) | set(not_run) == set(IN_THE_PAPER)
    assert set(not_run) == set(paper.UNPUBLISHED)
    assert "d2ke_views" not in Selection(paper=True).checked_methods()
    assert Selection(methods=["d2ke_views"], paper=True).checked_methods() == ["d2ke_views"]
    assert {Selection(**{kind: True}).kind for kind in ("quick", "paper")} | {"full"} == set(KINDS)
    with pytest.raises(ValueError, match="quick and paper exclude each other"):
        _ = Selection(quick=True, paper=True).kind
    with pytest.raises(SystemExit):
        main(["--quick", "--paper"])


# ---------------------------------------------------------------- methods


@pytest.fixture(scope="module")
def digits():
    return subset("digits-str8", 200)


def with_setting(division, **options):
    return replace(division, setting=replace(division.setting, **options))


def test_gammas_may_be_absolute(digits):
    for method in ("d2ke", "rsm"):
        division = with_setting(division_of(digits), gammas=(0.01,), absolute=True)
        assert evaluate(method, division).parameters["gamma"] == 0.01


def test_representatives_are_capped(digits):
    division = division_of(digits)
    assert evaluate("rsm", division).parameters["R"] == 64
    assert evaluate("rsm", with_setting(division, rsm_R=20)).parameters["R"] == 20


def test_transductive_embedding_by_hand(digits):
    """The vectors are those of all objects together, and nothing but the test labels is unseen."""
    division = with_setting(division_of(digits), transductive=True, losses=("squared",))
    outcome = evaluate("gdk_led", division)
    everything = [*division.train, *division.test]
    D = d2ke.distance_matrix(everything, None, "levenshtein")
    R, C = (outcome.parameters[name] for name in ("R", "C"))
    Z = d2ke.gdk_led(D, R).Z
    n = len(division.train)
    model = d2ke.train_classifier(division.y_train, Z[:n], loss="squared", C=C)
    _, (accuracy, _, _), _ = d2ke.predict(division.y_test, Z[n:], model)
    assert outcome.accuracy == pytest.approx(accuracy, abs=2)
    assert outcome.accuracy > 60
    assert set(outcome.seconds) == {"distances", "features", "search", "model", "prediction"}
    # What is too large to embed together is embedded as usual.
    some = with_setting(division, gram_n=50)
    other = evaluate("gdk_led", with_setting(some, transductive=False))
    assert evaluate("gdk_led", some).accuracy == other.accuracy


# ---------------------------------------------------------------- the tables


@pytest.fixture
def small(monkeypatch, digits):
    setting = replace(published("digits-str8"), R=16, search_R=8, rsm_R=8, gammas=(0.01,))
    monkeypatch.setitem(KINDS, "paper", lambda name: setting)
    monkeypatch.setitem(SETTINGS, "digits-str8", SMALL["digits-str8"])
    monkeypatch.setattr(module, "load", lambda name, data_dir: digits)
    monkeypatch.setattr(report, "figure", lambda *arguments: b"a picture")
    printed = {("digits-str8", "knn"): 50.0, ("digits-str8", "rsm"): 70.0}
    for key, value in printed.items():
        monkeypatch.setitem(paper.ACCURACIES, key, value)


def run(out, methods, **options):
    selection = Selection(["digits-str8"], methods=methods, seeds=2, **options)
    return tables(selection, out=out, session=Session(n_threads=1))


def test_tables_of_both_settings(small, tmp_path):
    ours = run(tmp_path, ["knn"])
    assert ours["protocol"] == "ours"
    assert ours["our_results"] == []
    assert "Against the paper" not in (tmp_path / "report.md").read_text("utf-8")
    results = run(tmp_path, ["knn", "rsm", "d2ke"], paper=True)
    assert results["protocol"] == "paper"
    assert json.loads((tmp_path / "results.json").read_text("utf-8"))["protocol"] == "paper"
    names = {file.name for file in tmp_path.glob("cells*")}
    assert names == {CELLS["full"], CELLS["paper"]}
    assert results["kernel_errors"] == {}
    header, lines = report.paper_table(results["results"], results["our_results"])
    assert header[2:] == ["paper", "its protocol", "difference", "spread", "our settings"]
    assert [line[1:3] for line in lines] == [["KNN", "50.00"], ["RSM", "70.00"]]
    by_method = {record["method"]: record for record in results["results"]}
    for line, method in zip(lines, ("knn", "rsm"), strict=True):
        record = by_method[method]
        difference = round(record["accuracy_mean"], 2) - float(line[2])
        assert float(line[4].strip("*")) == pytest.approx(difference, abs=0.006)
        assert float(line[5]) == pytest.approx(2 * np.std(record["accuracies"], ddof=1), abs=0.006)
        assert line[4].startswith("**") == (abs(difference) > 2 * record["accuracy_sd"])
    our_knn = ours["results"][0]
    assert lines[0][6] == f"{our_knn['accuracy_mean']:.2f} ± {our_knn['accuracy_sd']:.2f}"
    assert lines[1][6] == "-"
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "the paper's protocol, not ours" in text.replace("**", "")
    assert "embeds the test objects with the training objects" in text


def test_a_run_resumes(small, tmp_path, monkeypatch):
    first = run(tmp_path, ["knn"], paper=True)
    monkeypatch.setattr(module, "evaluate", None)
    again = run(tmp_path, ["knn"], paper=True)
    assert again["results"] == first["results"]
