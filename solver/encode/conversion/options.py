"""
Options: what may leave a node together, into which bin, at what cost.

Nodes with the same contents are one group.  Converted nodes of equal use form a bin,
whose size is decided by the model.
"""

from dataclasses import dataclass

from solver.encode.node_classes import Classes
from solver.evict.victims import Victim, Victims

Pieces = tuple[tuple[tuple[int, int], ...], ...]
"""
What each pod that leaves together has of its node that is told apart.
"""


Costs = tuple[tuple[tuple[int, int], ...], ...]
"""
Per account the work and age of its victims on one node, the cheapest first.
"""


@dataclass(frozen=True, slots=True)
class Option:
    """
    How many victims of each account leave one node, at what cost, into which bin.
    """

    taken: tuple[int, ...]
    work: int
    age: int
    bin: int


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """
    Nodes with the same contents: their accounts, and what may be done with one of them.

    ``base`` is the bin of a node that nobody leaves, or -1 where it is of no use.  An
    account is there once for each of the ``pieces`` that its victims have.
    """

    nodes: tuple[int, ...]
    accounts: tuple[int, ...]
    options: tuple[Option, ...]
    base: int
    pieces: tuple[Pieces, ...]

    def column_of(self, victims: Victims, node: int, column: int) -> list[Victim]:
        """
        List what an option counts on a node.
        """
        here = victims.on_node.get(node, {}).get(self.accounts[column], [])
        return [victim for victim in here if victim.pieces == self.pieces[column]]


@dataclass(frozen=True, slots=True)
class Level:
    """
    A bin that a crowded node may join, and what it must have free of each resource.
    """

    bin: int
    need: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdedNode:
    """
    A node with more choices than can be listed: its victims one by one, and the bins.

    ``rows`` are what one victim of each account holds, ``costs`` what each loses.
    """

    node: int
    accounts: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    costs: Costs
    free: tuple[int, ...]
    levels: tuple[Level, ...]
    base: int


@dataclass(frozen=True, slots=True)
class Conversion:
    """
    All groups and crowded nodes, the bins as classes of a node, and whether all is in.
    """

    groups: tuple[NodeGroup, ...]
    crowded_nodes: tuple[CrowdedNode, ...]
    classes: Classes
    exact: bool
