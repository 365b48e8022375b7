"""
Kept promises: a gang that gets just the places it was promised gave its right before.

Others left for it in the round that reserved them, and no more may leave for it now.
Where the promise holds no longer unless others leave, it is as if there were none.
"""

from collections import Counter
from collections.abc import Sequence

from models.devices.gpu_parts import is_reckoned, part_of
from models.gangs import PodPhase, PodSet, pod_sets
from models.resources import add
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import Case
from solver.verify.leaving.room_beside import room_beside
from solver.verify.plan_steps import STALE, Amounts
from solver.verify.queues import amounts_of, rolled_up


def kept_promises(evidence: Evidence) -> frozenset[str]:
    """
    Name the gangs that start just where they and their mates were promised places.

    Only those who are bound, or could be there though nobody left for others; counted
    when they are first asked for.
    """
    if not evidence.promises:
        evidence.promises.append(_kept(evidence))
    return evidence.promises[0]


def _kept(evidence: Evidence) -> frozenset[str]:
    held = [case for case in evidence.placing() if is_as_promised(case)]
    if not any(case.starts for case in held):
        return frozenset()
    crowded, full = _crowded(evidence, held), _full(evidence, held)
    found = {
        case.gang.key
        for case in held
        if case.bound
        or (
            crowded.isdisjoint(_nodes(case))
            and full.isdisjoint(evidence.path(case.gang.queue))
        )
    }
    teams = {key: {key, *evidence.gangs[key].mates} for key in found}
    lost = {key for key, case in evidence.cases.items() if case.starts} - found
    return frozenset(
        key
        for key, team in teams.items()
        if evidence.cases[key].starts and lost.isdisjoint(team)
    )


def is_as_promised(case: Case) -> bool:
    """
    Tell whether a gang gets just the places that were reserved for it.
    """
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


def _nodes(case: Case) -> set[str]:
    return {name for places in case.got.values() for name in places}


def _crowded(evidence: Evidence, held: Sequence[Case]) -> set[str]:
    """
    Name the nodes where promises have no room beside those who leave for others.

    Where parts of GPUs are on a node that somebody leaves, they may have none.
    """
    wanted: Amounts = {}
    parts = {s.source for s in evidence.taking if s.leaf and part_of(s.leaf.requests)}
    left = {step.source for step in evidence.taking}
    for case in held:
        for leaf in pod_sets(case.gang.tree):
            for node, pods in case.got.get(leaf.name, {}).items():
                add(wanted.setdefault(node, {}), leaf.requests, pods)
                if node in left and part_of(leaf.requests):
                    parts.add(node)
    room = room_beside(evidence, wanted.keys(), evidence.taking)
    return wanted.keys() & parts | {
        name
        for name, has in room.items()
        for resource, asked in wanted[name].items()
        if not is_reckoned(resource) and asked > max(0, has.get(resource, 0))
    }


def _full(evidence: Evidence, held: Sequence[Case]) -> set[str]:
    """
    Name the queues whose limits promises pass while nobody leaves for others.
    """
    running = rolled_up(evidence, evidence.running)
    losses = evidence.losses.values()
    stale = [(one.gang, one.rules.get(STALE, {})) for one in losses]
    gone = amounts_of(evidence, stale)
    full: set[str] = set()
    for name, row in amounts_of(evidence, [(x.gang, x.placed) for x in held]).items():
        for resource, asked in row.items():
            limit = evidence.queues[name].rule(resource).limit
            have = running.get(name, {}).get(resource, 0)
            have -= gone.get(name, {}).get(resource, 0)
            if limit is not None and asked and have + asked > limit:
                full.add(name)
    return full
