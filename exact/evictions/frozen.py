"""
What a plan freezes, and the facts as that leaves them.
"""

from collections import Counter
from dataclasses import replace

from exact.evictions.step import CONSOLIDATE, Frozen
from exact.facts import COUNTED, Facts, GangFacts
from models.gangs import Gang, PodPhase, PodSet, Tree, pod_sets
from models.plan import Operation, Plan
from models.snapshot import Snapshot


def frozen_of(snapshot: Snapshot, plan: Plan) -> Frozen:
    """
    Read from a plan who leaves, who is moved where, and who is reserved where.
    """
    leaf_of = {
        f"{gang.namespace}/{pod.name}": (gang.key, leaf.name)
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    }
    leaves = [op for op in plan.operations if op.op == "Move" or _is_evicted_for(op)]
    moves = [op for op in leaves if op.op == "Move"]
    reserves = [op for op in plan.operations if op.op == "Reserve"]
    lines = {line.name for line in plan.gangs if line.entitled}
    entitled = frozenset(op.gang for op in reserves if op.gang in lines)
    return Frozen(
        departures={op.pod: op.rule or CONSOLIDATE for op in leaves},
        targets=Counter((*leaf_of[op.pod], op.node) for op in moves),
        places=Counter((*leaf_of[op.pod], op.node) for op in reserves),
        entitled=entitled,
        first=frozenset(op.pod for op in leaves if entitled & {*op.beneficiaries}),
    )


def _is_evicted_for(op: Operation) -> bool:
    return op.op == "Evict" and op.rule != "stale"


def gone_stale(plan: Plan) -> frozenset[str]:
    """
    Name the gangs that a plan evicts as stale, for nobody.
    """
    return frozenset(op.gang for op in plan.operations if op.rule == "stale")


def of_entitled(frozen: Frozen, plan: Plan) -> Frozen:
    """
    Keep what the first step froze.
    """
    pods = frozen.first
    gangs = {op.pod: op.gang for op in plan.operations}
    moved = {gangs[pod] for pod in pods if frozen.departures[pod] == CONSOLIDATE}
    return Frozen(
        departures={pod: frozen.departures[pod] for pod in sorted(pods)},
        targets={place: n for place, n in frozen.targets.items() if place[0] in moved},
        places={x: n for x, n in frozen.places.items() if x[0] in frozen.entitled},
        entitled=frozen.entitled,
        first=pods,
    )


def afterwards(before: Facts, frozen: Frozen) -> Facts:
    """
    Give the facts as the frozen part leaves them: who leaves runs no more.
    """
    gangs = {
        key: _without(fact, frozen) if _loses(fact.gang, frozen) else fact
        for key, fact in before.gangs.items()
    }
    return replace(before, gangs=gangs)


def _loses(gang: Gang, frozen: Frozen) -> bool:
    return any(
        f"{gang.namespace}/{pod.name}" in frozen.departures
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    )


def _without(fact: GangFacts, frozen: Frozen) -> GangFacts:
    """
    Let the pods that leave terminate; what a gang needs stays as it is.
    """
    gang = replace(fact.gang, tree=_thinned(fact.gang.tree, fact.gang, frozen))
    phases = COUNTED[gang.match_policy]
    counted = {
        leaf.name: sum(pod.phase in phases for pod in leaf.pods)
        for leaf in pod_sets(gang.tree)
    }
    return replace(fact, gang=gang, counted=counted)


def _thinned(tree: Tree, gang: Gang, frozen: Frozen) -> Tree:
    if not isinstance(tree, PodSet):
        children = tuple(_thinned(child, gang, frozen) for child in tree.children)
        return replace(tree, children=children)
    pods = tuple(
        replace(pod, phase=PodPhase.TERMINATING)
        if f"{gang.namespace}/{pod.name}" in frozen.departures
        else pod
        for pod in tree.pods
    )
    return replace(tree, pods=pods)
