# SPDX-License-Identifier: BSD-3-Clause
# The public names; modules load when they are first used.

from .discriminative import DiscriminativeObject as DiscriminativeObject
from .discriminative import discriminative_objects as discriminative_objects
from .explanation import Explanation as Explanation
from .importance import Importance as Importance
