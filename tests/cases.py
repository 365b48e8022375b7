"""
Random small instances for tests; they are the cases that ``phalanx bench`` uses.
"""

from adapters.bench.cases import features as features
from adapters.bench.cases import random_snapshot as random_snapshot
from adapters.bench.cases import tiny_snapshot as tiny_snapshot
