"""
What pods hold together with others: pieces of nodes, free once all have left.
"""

from collections.abc import Iterable, Mapping

from models.gangs import Pod
from models.nodes import Node
from models.resources import Resources


def pieces_of(nodes: Mapping[str, Node], pods: Iterable[Pod]) -> list[Resources]:
    """
    Give the pieces of nodes to which pods are tied, each of them once.
    """
    found = {(pod.node or "", at) for pod in pods for at in pod.tied}
    return [nodes[node].tied[at] for node, at in sorted(found) if node in nodes]
