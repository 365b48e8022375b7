"""
Kept promises: a gang that gets just the places it was promised gave its right before.

Others left for it in the round that reserved them, and no more may leave for it now.
"""

from collections import Counter

from models.devices.gpu_parts import part_of
from models.gangs import PodPhase, PodSet, pod_sets
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import Case


def keeps_promise(evidence: Evidence, case: Case, served: set[str]) -> bool:
    """
    Tell whether a gang and all that start with it get just what was reserved for them.

    Whoever is ``served`` by pods that leave is planned anew.
    """
    names = {case.gang.key, *case.gang.mates}
    team = [one for one in map(evidence.cases.get, sorted(names)) if one is not None]
    starting = [one for one in team if one.starts]
    return served.isdisjoint(names) and all(map(_as_promised, starting))


def _as_promised(case: Case) -> bool:
    return all(
        _promised(leaf) == case.got.get(leaf.name, {})
        for leaf in pod_sets(case.gang.tree)
    )


def _promised(leaf: PodSet) -> Counter[str | None]:
    """
    Count the places reserved on each node; parts are only where devices are named.
    """
    parts = part_of(leaf.requests) is not None
    return Counter(
        pod.node
        for pod in leaf.pods
        if pod.phase is PodPhase.RESERVED and (pod.devices or not parts)
    )
