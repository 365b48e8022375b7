"""
Pods that can only leave together: those of a gang that needs all it has.

And those that can only start together: of gangs that say so, and have none on a node.
"""

from collections.abc import Iterable, Mapping

from adapters.kube.dialects.protocol import Part
from adapters.kube.gangs.membership import Grouped
from models.gangs import FINISHED


def leaving_together(groups: Iterable[Grouped]) -> Mapping[str, str]:
    """
    Name by pod the gang of those that leave with all others of it, or not at all.
    """
    found: dict[str, str] = {}
    for group in groups:
        alive = [pod for pod in group.pods if pod.phase not in FINISHED]
        if _least(group.claim.tree, len(alive)) >= len(alive):
            found |= {pod.key: group.claim.key for pod in alive}
    return found


def starting_together(groups: Iterable[Grouped]) -> Mapping[str, str]:
    """
    Name by pod the gangs of those that start together with others.
    """
    found: dict[str, str] = {}
    for group in groups:
        mates = {*group.claim.mates, group.claim.key}
        alive = [pod for pod in group.pods if pod.phase not in FINISHED]
        if len(mates) > 1 and all(pod.node is None for pod in alive):
            found |= dict.fromkeys((pod.key for pod in alive), " ".join(sorted(mates)))
    return found


def _least(part: Part, pods: int) -> int:
    """
    Count the pods that a part needs, of a gang with so many.
    """
    if part.parts:
        every = part.min_groups or (0 if part.min_pods else len(part.parts))
        below = sum(_least(each, pods) for each in part.parts)
        return max(part.min_pods or 0, below if every >= len(part.parts) else 0)
    if part.minimum is not None or part.min_pods is not None:
        return part.minimum or part.min_pods or 0
    return pods if part.replicas is None else part.replicas
