# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from .alignment.record import Alignment as Alignment
from .alignment.record import Operations as Operations
from .alignment.record import Words as Words
from .learned_costs import LearnedCosts as LearnedCosts
from .record_pairs import column_weights as column_weights
