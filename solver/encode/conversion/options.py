"""
Options: what may leave a node together, into which bin, at what cost.

Nodes with the same contents are one group.  Converted nodes of equal use form a bin,
whose size is decided by the model.
"""

from dataclasses import dataclass

from models.gpu_parts import GpuDevice
from solver.encode.node_classes import Classes
from solver.evict.victims import Thing, Victims

Devices = tuple[tuple[GpuDevice, ...], ...]
"""
The devices of each pod that leaves together.
"""


Costs = tuple[tuple[tuple[int, int], ...], ...]
"""
Per account the work and age of its things on one node, the cheapest first.
"""


@dataclass(frozen=True, slots=True)
class Option:
    """
    How many things of each account leave one node, at what cost, into which bin.
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
    account is there once for each of the ``devices`` that its things have.
    """

    nodes: tuple[int, ...]
    accounts: tuple[int, ...]
    options: tuple[Option, ...]
    base: int
    devices: tuple[Devices, ...]

    def things(self, victims: Victims, node: int, column: int) -> list[Thing]:
        """
        List what an option counts on a node.
        """
        here = victims.on_node.get(node, {}).get(self.accounts[column], [])
        return [thing for thing in here if thing.devices == self.devices[column]]


@dataclass(frozen=True, slots=True)
class Level:
    """
    A bin that a crowded node may join, and what it must have free of each resource.
    """

    bin: int
    need: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """
    A node with more choices than can be listed: its things one by one, and the bins.

    ``rows`` are what one thing of each account holds, ``costs`` what each loses.
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
    All groups and crowds, the bins as classes of one node each, and whether all is in.
    """

    groups: tuple[NodeGroup, ...]
    crowds: tuple[Crowd, ...]
    classes: Classes
    exact: bool
