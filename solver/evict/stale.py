"""
Stale gangs: what runs below its minimum for too long is evicted whole, for nobody.
"""

from dataclasses import replace

from models.aged_gangs import still
from models.gangs import Gang, MatchPolicy, PodPhase, pod_sets
from models.plan import Departure, Placement
from models.policy import Policy
from solver.problem.gang_state import standing
from solver.problem.problem import Problem


def stale_departures(problem: Problem, placement: Placement) -> dict[str, Departure]:
    """
    Let every pod of a gang leave that is stale and that this plan does not help.
    """
    policy = problem.policy
    if not policy.evict.stale or not policy.has("disruption"):
        return {}
    found: dict[str, Departure] = {}
    leaving = Departure(rule="stale")
    gangs = problem.snapshot.gangs
    stale = (at for at, g in enumerate(still(gangs)) if g.stale_since is not None)
    for gang in map(gangs.__getitem__, stale):
        if not is_stale(gang, problem.policy):
            continue
        names = [
            f"{gang.namespace}/{pod.name}"
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
            if pod.phase is not PodPhase.RUNNING
        ]
        if any(n in placement.binds or n in placement.reserves for n in names):
            continue
        found |= {
            f"{gang.namespace}/{pod.name}": leaving
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
            if pod.phase is PodPhase.RUNNING
        }
    gone = found.keys() & placement.departures.keys()
    return {name: why for name, why in found.items() if name not in gone}


def is_stale(gang: Gang, policy: Policy) -> bool:
    """
    Tell whether a gang runs below its minimum for as long as it may, or longer.

    Pods that succeeded count, and optional parts do not matter.
    """
    grace = policy.evict.stale_after if gang.stale_after is None else gang.stale_after
    if gang.stale_since is None or grace < 0 or gang.stale_since < grace:
        return False
    if gang.match_policy is not MatchPolicy.ONCE_SATISFIED:
        gang = replace(gang, match_policy=MatchPolicy.WAITING_RUNNING_SUCCEED)
    return not standing(gang).satisfied
