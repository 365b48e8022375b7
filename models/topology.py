"""
Topologies: trees of domains spelled by node labels.
"""

from collections.abc import Mapping
from dataclasses import dataclass

Domain = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """
    Named levels, outermost first, each a node label.
    """

    name: str
    levels: tuple[str, ...]

    def domain(self, labels: Mapping[str, str], level: str) -> Domain | None:
        """
        Name the domain of a level that a node is in; none without all its labels.
        """
        found: list[str] = []
        for name in self.levels:
            value = labels.get(name)
            if value is None:
                return None
            found.append(value)
            if name == level:
                return tuple(found)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyDemand:
    """
    One domain that must hold all pods below a tree node, or a level that should.
    """

    topology: str
    required: str | None = None
    preferred: str | None = None
