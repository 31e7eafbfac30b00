# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the tests of searches."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="module")
def one_blas_thread():
    """The problems are tiny: threads of the BLAS would only slow them down."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
