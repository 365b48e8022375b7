"""
What nodes have left after a plan if some stayed after all who leave in it.
"""

from collections.abc import Collection, Sequence

from models.resources import Resources, add, summed
from solver.verify.evidence import Evidence
from solver.verify.plan_steps import Amounts, Step
from solver.verify.tied_pieces import free_pieces


def room_beside(
    evidence: Evidence, names: Collection[str], staying: Sequence[Step]
) -> Amounts:
    """
    Give what some nodes have for those with places there, beside some who stay.
    """
    pods = {step.operation.pod for step in staying}
    pieces = free_pieces(evidence, later=True, staying=pods)
    room: Amounts = {}
    for name in sorted(evidence.nodes.keys() & names):
        left = room[name] = dict(evidence.nodes[name].allocatable)
        add(left, evidence.nodes[name].used, -1)
        add(left, summed(evidence.loads[name]), -1)
        add(left, summed(evidence.leaving[name]))
        add(left, pieces.get(name, {}))
    for step in staying:
        if step.source in room:
            add(room[step.source], asked_by_one(step), -1)
    return room


def asked_by_one(step: Step) -> Resources:
    """
    Give what the pod of a step asks for.
    """
    return step.leaf.requests if step.leaf else {}
