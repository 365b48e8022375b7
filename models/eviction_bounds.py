"""
Bounds on what leaves in one round: whether a policy has any, and what it is without.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from itertools import chain

from models.gangs import Gang, running_pods
from models.policy import Evict
from models.resources import CPU, GPU, MEMORY, Resources


def bounds_leaving(evict: Evict) -> bool:
    """
    Tell whether one round lets only so much leave, whoever it is.
    """
    bounds = evict.max_pods, evict.max_gangs, evict.max_lost_per_gpu
    return any(bound is not None for bound in bounds)


def spared_for(gang: Gang, evict: Evict) -> int:
    """
    Give for how long a gang may not be evicted again; not above 0 if it may.
    """
    return 0 if gang.evicted_ago is None else evict.again - gang.evicted_ago


def protecting_nobody(evict: Evict) -> Evict:
    """
    Give the same without bounds on what leaves, and without pauses after evictions.
    """
    free = dict.fromkeys(("max_pods", "max_gangs", "max_lost_per_gpu"))
    return evict.model_copy(update={**free, "again": 0})


def most_freed(evict: Evict, gangs: Iterable[Gang]) -> Mapping[str, int]:
    """
    Bound what leaves in one round of some gangs, by resource; nothing without bounds.

    Who moves frees nothing on all nodes together.
    """
    if evict.max_pods is None and evict.max_gangs is None:
        return {}
    held = [
        [leaf.requests for _, leaf, _ in running_pods(gang)]
        for gang in gangs
        if gang.preemptible
    ]
    return {name: _freed(evict, held, name) for name in (CPU, GPU, MEMORY)}


def _freed(evict: Evict, held: Sequence[Sequence[Resources]], resource: str) -> int:
    of_gangs = [[each.get(resource, 0) for each in pods] for pods in held]
    of_pods = list(chain.from_iterable(of_gangs))
    num_pods = len(of_pods) if evict.max_pods is None else evict.max_pods
    num_gangs = len(held) if evict.max_gangs is None else evict.max_gangs
    most = sum(nlargest(num_gangs, map(sum, of_gangs)))
    return min(most, sum(nlargest(num_pods, of_pods)))
