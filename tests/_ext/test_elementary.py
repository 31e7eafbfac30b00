# SPDX-License-Identifier: BSD-3-Clause
"""Elementary functions of our own: their errors against exact arithmetic, and their limits."""

import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from d2ke._ext import elementary

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
draw = random.Random(3)


def sine(x):
    """The sine of x, by its series."""
    term = total = x
    k = 1
    while abs(term) > Decimal("1e-55"):
        k += 2
        term *= -x * x / (k * (k - 1))
        total += term
    return total


def arcsine(x):
    """The arcsine of x, by a step of Newton's method from a value that is right to 1e-15."""
    near = Decimal(math.asin(x))
    return near + (x - sine(near)) / sine(PI / 2 - near)


def spread(least, most, n=1500):
    """Numbers of all sizes between two of one sign, and even ones, in both cases with the ends."""
    ratio = math.log(most / least)
    return [least, most, *(least * math.exp(ratio * draw.random()) for _ in range(n)),
            *(draw.uniform(least, most) for _ in range(n))]  # fmt: skip


# Function, exact value, arguments, the bound that elementary.h states. The first argument has the
# largest error of some 10**7.
CASES = {
    "exp": (
        Decimal.exp,
        [0.3613902198346943, *spread(1e-20, 300.0), *(-x for x in spread(1e-20, 745.0))],
        1.5,
    ),
    "expm1": (
        lambda x: x.exp() - 1,
        [0.3611113657219885, *spread(1e-20, 50.0), *(-x for x in spread(1e-20, 50.0))],
        3.5,
    ),
    "sine_of_degrees": (
        lambda x: sine(x * PI / 180),
        [89.7804816912558, -90.0, *spread(1e-300, 90.0)],
        3.0,
    ),
    "arcsine": (
        arcsine,
        [0.8375229422279004, *(1 - x for x in spread(2.0**-53, 0.5)), *spread(1e-15, 0.5)[:2000]],
        2.5,
    ),
}


@pytest.mark.parametrize("name", elementary.NAMES)
def test_errors(name):
    exact, arguments, bound = CASES[name]
    results = elementary.apply(name, np.array(arguments))
    worst = 0.0
    with localcontext() as context:
        context.prec = 80
        for x, result in zip(arguments, results.tolist(), strict=True):
            right = Fraction(exact(Decimal(x)))
            unit = Fraction(math.ulp(float(right)))
            worst = max(worst, float(abs(Fraction(result) - right) / unit))
    assert worst <= bound
    assert worst >= 0.8 * bound  # it is not stated too large


def test_limits():
    inf, nan = math.inf, math.nan

    def values(name, *arguments):
        return elementary.apply(name, np.array(arguments)).tolist()

    assert values("exp", 0.0, -inf, -746.0, -745.0) == [1.0, 0.0, 0.0, 5e-324]
    assert values("expm1", 0.0, -inf, -60.0) == [0.0, -1.0, -1.0]
    assert values("sine_of_degrees", 0.0, 90.0, -90.0) == [0.0, 1.0, -1.0]
    assert values("arcsine", 0.0, 1.0) == [0.0, math.pi / 2]
    assert all(math.isnan(values(name, nan)[0]) for name in elementary.NAMES)
