"""
Random small instances for tests; they are the cases that ``phalanx bench`` uses.
"""

from benchmarks.cases.small import features, random_snapshot, tiny_snapshot

__all__ = ["features", "random_snapshot", "tiny_snapshot"]
