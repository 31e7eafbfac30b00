# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from .info import NeighborsInfo as NeighborsInfo
from .pictures import plot_neighbors as plot_neighbors
from .search import nearest_info as nearest_info
from .search import within_info as within_info
