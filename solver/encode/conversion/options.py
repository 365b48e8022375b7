"""
Options: what may leave a node together, into which bin, at what cost.

Nodes with the same contents are one group.  Converted nodes of equal use form a bin,
whose size is decided by the model.
"""

from dataclasses import dataclass

from solver.encode.node_classes import Classes
from solver.evict.victims import Pieces, Victim, Victims
from solver.problem.node_room import Ints

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
        return victims.alike(node, self.accounts[column], self.pieces[column])


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdedNode:
    """
    A node that any of its victims may leave, with a bin of its own.

    What these have there is told apart, or they are many.  ``rows`` are what one victim
    of each account holds, ``costs`` what each loses, ``free`` what nobody has.
    """

    node: int
    accounts: tuple[int, ...]
    rows: tuple[Ints, ...]
    costs: Costs
    free: Ints
    base: int
    pieces: tuple[Pieces, ...]


@dataclass(frozen=True, slots=True)
class Conversion:
    """
    All groups and crowded nodes, and the bins as classes of a node.
    """

    groups: tuple[NodeGroup, ...]
    crowded_nodes: tuple[CrowdedNode, ...]
    classes: Classes
