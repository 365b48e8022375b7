"""
The rule about lent nodes: who was lent them leaves for those who lent, and in time.
"""

from collections.abc import Iterator

from models.gangs import Gang, PodPhase, pod_sets
from models.resources import Resources, add, summed
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import GangLoss
from solver.verify.plan_steps import LEND
from solver.verify.tied_pieces import free_pieces
from solver.verify.violation import Violation


def lent_gangs(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that gangs leave by that rule only for whom their nodes were held.

    Such a gang goes whole, and no pod of it has run for as long as the policy says or
    longer.  It names gangs that it was lent by, and on some node of it with places of
    one of these there is not the room for both.
    """
    named: dict[str, set[str]] = {}
    for step in evidence.steps:
        operation = step.operation
        if step.takes and operation.op == "Evict" and operation.rule == LEND:
            named.setdefault(operation.gang, set()).update(operation.beneficiaries)
    for key, heads in sorted(named.items()):
        for problem in _wrong(evidence, evidence.losses[key], heads):
            yield Violation("lend", key, problem)


def _wrong(evidence: Evidence, loss: GangLoss, heads: set[str]) -> Iterator[str]:
    gang, most = loss.gang, evidence.policy.evict.lent_for
    others = heads - {*gang.lent_by}
    if others:
        yield f"leaves for {min(others)}, which lent it nothing"
    late = max((seconds for _, _, seconds in _running(gang)), default=0)
    if 0 < most <= late:
        yield f"leaves after {late} s, what is lent is lost for less than {most}"
    pods = sum(loss.rules[LEND].values())
    if pods < sum(loss.running.values()):
        yield f"{pods} of {sum(loss.running.values())} running pods leave"
    if not _is_in_the_way(evidence, gang, heads):
        yield "leaves, though those that lent it its nodes have room beside it"


def _running(gang: Gang) -> Iterator[tuple[str, Resources, int]]:
    """
    Walk the running pods of a gang: their nodes, what they hold, for how long.
    """
    for leaf in pod_sets(gang.tree):
        for pod in leaf.pods:
            if pod.phase is PodPhase.RUNNING and pod.node is not None:
                yield pod.node, leaf.requests, pod.seconds


def _is_in_the_way(evidence: Evidence, gang: Gang, heads: set[str]) -> bool:
    held: dict[str, dict[str, int]] = {}
    for node, requests, _ in _running(gang):
        add(held.setdefault(node, {}), requests)
    for key in heads & evidence.cases.keys():
        for places in evidence.cases[key].deeds.reserved.values():
            for node in places.keys() & held.keys() & evidence.nodes.keys():
                free = _left(evidence, node)
                if any(free.get(name, 0) < n for name, n in held[node].items()):
                    return True
    return False


def _left(evidence: Evidence, name: str) -> dict[str, int]:
    """
    Give what a node has left once all of the plan is done.
    """
    node = evidence.nodes[name]
    free = dict(node.allocatable)
    add(free, node.used, -1)
    add(free, summed(evidence.loads[name]), -1)
    add(free, summed(evidence.leaving[name]))
    add(free, free_pieces(evidence, later=True).get(name, {}))
    for case in evidence.cases.values():
        for leaf in pod_sets(case.gang.tree):
            add(free, leaf.requests, -case.got.get(leaf.name, {}).get(name, 0))
    return free
