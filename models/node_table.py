"""
What nodes offer, as columns: read once for as long as the nodes are the same.
"""

from collections.abc import Collection
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from models.nodes import Node
from models.resources import GPU_SHARE, Resources, is_gpu, summed


class NodeTable:
    """
    What nodes offer, read once for as long as they are the same.
    """

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self.nodes = nodes
        self.index = {node.name: at for at, node in enumerate(nodes)}
        offered = {id(node.allocatable): node.allocatable for node in nodes}
        self.gpus = sorted(
            {r for row in offered.values() for r, a in row.items() if a and is_gpu(r)}
        )
        self._columns: dict[str, NDArray[np.int64]] = {}

    def column(self, name: str) -> NDArray[np.int64]:
        """
        Give what each node offers of a resource, without any pod of ours.
        """
        if name not in self._columns:
            self._columns[name] = np.array(
                [node.offers(name) for node in self.nodes], dtype=np.int64
            )
        return self._columns[name]

    def rows(self, names: Collection[str]) -> NDArray[np.int64]:
        """
        Give what each node offers of some resources, without any pod of ours.
        """
        found = np.zeros((len(self.nodes), len(names)), dtype=np.int64)
        for at, name in enumerate(names):
            found[:, at] = self.column(name)
        return found

    def totals(self, names: Collection[str]) -> dict[str, int]:
        """
        Add up what the cluster offers to us of some resources.
        """
        return {
            name: sum([amount for amount in self.column(name).tolist() if amount > 0])
            for name in names
        }

    @cached_property
    def has_parts(self) -> bool:
        """
        Whether anybody asks for parts of GPUs.
        """
        return any(GPU_SHARE in node.allocatable for node in self.nodes)

    @cached_property
    def tied(self) -> frozenset[str]:
        """
        What pieces of nodes hold that pods are tied to.
        """
        return frozenset(name for x in self.nodes for piece in x.tied for name in piece)

    @cached_property
    def offered(self) -> Resources:
        """
        Add up what all nodes offer.
        """
        return summed(node.allocatable for node in self.nodes)


def table_of(nodes: tuple[Node, ...], last: NodeTable | None) -> NodeTable:
    """
    Read nodes, or give what was read of them last.
    """
    return last if last is not None and last.nodes == nodes else NodeTable(nodes)
