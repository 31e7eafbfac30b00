# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from .barycenter import Barycenter as Barycenter
from .dbscan import DBSCANClusters as DBSCANClusters
from .duplicates import Assigned as Assigned
from .duplicates import Duplicates as Duplicates
from .hdbscan import HDBSCANClusters as HDBSCANClusters
from .kmedoids import MedoidClusters as MedoidClusters
from .linking import Links as Links
from .spanning_tree import SpanningTree as SpanningTree
