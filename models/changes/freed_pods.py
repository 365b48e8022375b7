"""
Pods that lose their node: their controllers make them anew, and they wait again.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from models.gangs import Gang, Pod, PodPhase, PodSet, Tree, pod_sets


def freed(gang: Gang, nodes: Collection[str]) -> Gang:
    """
    Let the pods of a gang that are on some nodes wait again, or for a place again.

    What terminates there is gone, and made anew as far as its replicas ask for it.
    """
    if not any(pod.node in nodes for leaf in pod_sets(gang.tree) for pod in leaf.pods):
        return gang
    return replace(gang, tree=_freed(gang.tree, nodes))


def _freed(tree: Tree, nodes: Collection[str]) -> Tree:
    if isinstance(tree, PodSet):
        return replace(tree, pods=tuple(_pods(tree, nodes)))
    return replace(tree, children=tuple(_freed(each, nodes) for each in tree.children))


def _pods(leaf: PodSet, nodes: Collection[str]) -> Iterator[Pod]:
    staying = sum(pod.phase is not PodPhase.TERMINATING for pod in leaf.pods)
    wanted = max(0, leaf.replicas - staying)
    for pod in leaf.pods:
        if pod.node not in nodes:
            yield pod
        elif pod.phase is PodPhase.RESERVED:
            yield replace(pod, phase=PodPhase.PENDING, node=None)
        elif pod.phase is PodPhase.RUNNING:
            yield Pod(pod.name)
        elif wanted:
            wanted -= 1
            yield Pod(pod.name)
