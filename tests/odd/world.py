"""
Chance, and what a round under construction has of nodes and queues so far.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

GPU = "nvidia.com/gpu"
TAINT = {"key": "kept", "value": "free"}
Part = dict[str, Any]


@dataclass
class World:
    """
    One round under construction, in the words of a file.

    ``oddness`` is the chance of everything that is rare; ``free`` is what nodes have
    left for running pods, by node and resource.
    """

    chance: Random
    oddness: float
    nodes: list[Part] = field(default_factory=list)
    queues: list[Part] = field(default_factory=list)
    gangs: list[Part] = field(default_factory=list)
    budgets: list[Part] = field(default_factory=list)
    free: dict[str, dict[str, int]] = field(default_factory=dict)

    def odd(self, more: float = 1.0) -> bool:
        """
        Toss for something rare.
        """
        return self.chance.random() < more * self.oddness

    def often(self, part: float) -> bool:
        """
        Toss a coin that falls on its head with this probability.
        """
        return self.chance.random() < part

    def one(self, *choices):
        """
        Pick one.
        """
        return self.chance.choice(choices)

    def number(self, least: int, most: int) -> int:
        """
        Pick a number, both ends included.
        """
        return self.chance.randint(least, most)

    def duration(self) -> str:
        """
        Pick a time around the limits that policies have.
        """
        return self.one("0s", "30s", "5m", "20m", "2h", "1d")
