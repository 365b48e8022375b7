"""
Trees of nodes that objects describe: found anew where an object or a node changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.protocol import Objects
from adapters.kube.dialects.volcano.hyper_nodes import KIND, HyperNodes, hyper_nodes
from adapters.kube.objects.node_record import NodeRecord


@dataclass(frozen=True, slots=True)
class NodeTrees:
    """
    What was found, and what it was found in: objects, and the labels of nodes.
    """

    raws: tuple[Raw, ...] = ()
    labels: Sequence[tuple[str, Mapping[str, str]]] = ()
    found: HyperNodes = field(default_factory=HyperNodes)

    def without_faulty(self, objects: Objects) -> Objects:
        """
        Leave out the objects of faulty trees, so that nobody is placed by them.
        """
        if not self.raws:
            return objects
        return replace(objects, by_kind={**objects.by_kind, KIND: self.found.sound})


def trees_of(
    objects: Objects, nodes: Sequence[NodeRecord], last: NodeTrees | None
) -> NodeTrees:
    """
    Find the trees; give the last ones where nothing changed.

    What is the same as before is the very same.
    """
    raws = objects.of(*KIND)
    if not raws:
        return last if last is not None and not last.raws else NodeTrees()
    labels = [(record.node.name, record.node.labels) for record in nodes]
    if last is not None and last.raws == raws and last.labels == labels:
        return last
    found = hyper_nodes(raws, [record.node for record in nodes])
    if last is not None and last.found.sound == found.sound:
        found = replace(found, sound=last.found.sound)
    return NodeTrees(raws, labels, found)
