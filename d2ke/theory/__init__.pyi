# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from .convergence import effective_dimension as effective_dimension
from .convergence import features_needed as features_needed
from .convergence import features_needed_for_risk as features_needed_for_risk
from .convergence import lipschitz_constant as lipschitz_constant
from .convergence import soft_min_distance as soft_min_distance
from .kernel_bootstrap import KernelBootstrap as KernelBootstrap
from .kernel_bootstrap import bootstrap_kernel_error as bootstrap_kernel_error
