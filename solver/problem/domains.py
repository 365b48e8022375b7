"""
Domains as numbers: which domain of a level each node is in, worked out once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from models.nodes import Node
from models.topology import Domain, Topology
from solver.problem.node_room import Bools, Floats, Ints

OUTSIDE: Domain = ("",)
"""
All nodes without a label of the level, taken as one place that is no domain.
"""


@dataclass(frozen=True, slots=True)
class Cells:
    """
    The domains of one level by number; number 0 is the outside of all of them.
    """

    names: tuple[Domain, ...]
    of_node: Ints

    def mask(self, chosen: Iterable[int]) -> Bools:
        """
        Mark the nodes of some domains.
        """
        wanted = np.zeros(len(self.names), dtype=bool)
        wanted[list(chosen)] = True
        return np.asarray(wanted[self.of_node])

    def sums(self, amounts: Ints | Floats) -> Floats:
        """
        Add up amounts per node by domain.
        """
        totals = np.bincount(self.of_node, weights=amounts, minlength=len(self.names))
        return np.asarray(totals, dtype=np.float64)

    def on(self, nodes: Sequence[int]) -> set[int]:
        """
        List the domains of some nodes.
        """
        return {int(cell) for cell in self.of_node[list(nodes)]} if nodes else set()


class Topologies(dict[str, Topology]):
    """
    Topologies by name; names with levels, each after a NUL, are those levels at once.
    """

    def __missing__(self, name: str) -> Topology:
        words = name.split("\0")
        pairs = zip(words[::2], words[1::2], strict=True)
        trees = [(self[topology].levels, last) for topology, last in pairs]
        levels = (x for each, last in trees for x in each[: each.index(last) + 1])
        return Topology(name=name, levels=tuple(dict.fromkeys(levels)))


@dataclass(frozen=True, slots=True)
class Domains:
    """
    The cells of every level that somebody asked for.
    """

    nodes: tuple[Node, ...] = ()
    topologies: Mapping[str, Topology] = field(default_factory=Topologies)
    _cells: dict[tuple[str, str], Cells] = field(default_factory=dict)

    def cells(self, topology: str, level: str) -> Cells:
        """
        Give the domains of a level numbers, in the order of their names.
        """
        key = (topology, level)
        if key not in self._cells:
            tree = self.topologies[topology]
            found = [tree.domain(node.labels, level) for node in self.nodes]
            names = (OUTSIDE, *sorted({name for name in found if name is not None}))
            number = {name: at for at, name in enumerate(names)}
            self._cells[key] = Cells(
                names,
                np.array([number[name or OUTSIDE] for name in found], dtype=np.int64),
            )
        return self._cells[key]
