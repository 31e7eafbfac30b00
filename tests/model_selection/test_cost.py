# SPDX-License-Identifier: BSD-3-Clause
"""The table of search methods, and what a search takes."""

import numpy as np
import pytest

from d2ke._base import memory
from d2ke.model_selection.cost import HAT, HINGE, PRODUCTS, SearchCost
from d2ke.model_selection.folds import SearchProblem
from d2ke.model_selection.methods import METHODS


@pytest.mark.parametrize("row", METHODS.values(), ids=METHODS)
def test_rows_are_complete(row):
    assert (row.omegas is None) != (row.choose is None)
    if row.choose is not None:
        assert memory.formula_of("search", row.memory).advice
    assert set(row.adapt or ()) <= set(row.grid)


def cost_of(n, R, **options):
    problem = SearchProblem(np.arange(n) % 2, n_folds=5, n_threads=4)
    return SearchCost(problem, (R,), n_costs=3, n_views=1, **options)


@pytest.mark.parametrize(("n", "R", "cheaper"), [(100_000, 20, PRODUCTS), (300, 200, HAT)])
def test_the_limit_decides_for_the_algorithm_that_fits(n, R, cheaper):
    plain = cost_of(n, R)
    assert plain.by_products(R) == (cheaper == PRODUCTS)
    needed = {PRODUCTS: plain.needed(PRODUCTS, R), HAT: plain.needed(HAT, R, T=1)}
    for room in (min(needed.values()) - 1, min(needed.values()), max(needed.values())):
        limited = cost_of(n, R, limit=room + memory.SPARE)
        fitting = [way for way in needed if needed[way] <= room]
        expected = cheaper if cheaper in fitting else (*fitting, min(needed, key=needed.get))[0]
        assert limited.by_products(R) == (expected == PRODUCTS)


def test_settings_at_a_time_fit_into_the_limit():
    plain = cost_of(20_000, 100)
    assert plain.hat_threads(100) == 4
    for n_threads in (4, 3, 2, 1):
        needed = plain.needed(HAT, 100, T=n_threads) + memory.SPARE
        assert cost_of(20_000, 100, limit=needed).hat_threads(100) == n_threads
    assert cost_of(20_000, 100, limit=1).hat_threads(100) == 1


def test_features_are_held_where_there_is_room():
    n, R = 30_000, 100
    assert not cost_of(n, R).holds_features(R)  # without a limit they go to a file
    needed = cost_of(n, R).needed(HINGE, R) + memory.SPARE + 1000
    for more, held in ((16 * n * R, True), (16 * n * R - 1, False)):
        assert cost_of(n, R, inputs=1000, limit=needed + more).holds_features(R) == held


def test_the_largest_step_is_required():
    cost = cost_of(30_000, 100, hinge=True, inputs=1000)
    steps = [cost.needed(PRODUCTS, 100), cost.needed(HINGE, 100)]
    limit = max(steps) + memory.SPARE + 1000
    cost_of(30_000, 100, hinge=True, inputs=1000, limit=limit).require("it")
    with pytest.raises(ValueError, match=f"max_memory is {limit - 1} bytes, but it take about"):
        cost_of(30_000, 100, hinge=True, inputs=1000, limit=limit - 1).require("it")


def test_the_hinge_counts_where_it_is_tried():
    R = 100
    for n, forced, counts in ((399, True, True), (399, False, False), (400, False, True)):
        limit = cost_of(n, R).needed(HINGE, R) + memory.SPARE
        options = {"hinge": True, "force_hinge": forced}
        cost_of(n, R, **options, limit=limit).require("it")
        if counts:
            with pytest.raises(ValueError, match="max_memory"):
                cost_of(n, R, **options, limit=limit - 1).require("it")
        else:
            cost_of(n, R, **options, limit=limit - 1).require("it")
