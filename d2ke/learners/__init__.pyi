# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from .linear_model import LinearModel as LinearModel
from .solvers.svm_model import SVMModel as SVMModel
