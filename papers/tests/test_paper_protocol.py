# SPDX-License-Identifier: BSD-3-Clause
"""`papers.tables --paper`: the settings are the paper's, and its numbers stand beside ours."""

from dataclasses import replace

import pytest
from experiment_cases import division_of, subset

import d2ke
from papers import paper
from papers.datasets import REGISTRY
from papers.methods import evaluate
from papers.settings import SETTINGS, published

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
