"""
Rules about guarantees: who takes up a quota that is not used.
"""

from collections.abc import Iterator, Mapping

from models.resources import format_quantity
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import Case
from solver.verify.gang_counts import least_core
from solver.verify.plan_steps import Amounts
from solver.verify.queues import rolled_up
from solver.verify.shares.demand import waiting_again
from solver.verify.shares.entitlement import entitled_starts, taken_of
from solver.verify.violation import Violation


def guaranteed_starts(evidence: Evidence) -> list[Case]:
    """
    List the entitled starts that are called guaranteed and have places reserved.
    """
    called = {line.name for line in evidence.plan.gangs if line.guaranteed}
    if not called:
        return []
    return [
        case
        for case in entitled_starts(evidence)
        if case.gang.key in called and case.deeds.reserved
    ]


def guarantees(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that guaranteed starts leave every queue of their path within its quota.

    Only entitled starts for which somebody leaves are called so.  For every queue on
    the path and every named resource: Σ least demand of guaranteed starts ≤ quota -
    running - promised - least demand of waiting gangs that were evicted before; for a
    queue with queues below it what is evicted there makes room too.
    """
    starts = guaranteed_starts(evidence)
    known = {case.gang.key for case in starts}
    for line in evidence.plan.gangs:
        if line.guaranteed and line.name not in known:
            message = "called guaranteed, and is not an entitled start that is reserved"
            yield Violation("guaranteed", line.name, message)
    if not starts:
        return
    waits: Amounts = {}
    for gang, least in waiting_again(evidence):
        row = waits.setdefault(gang.queue, {})
        for resource, amount in least.items():
            row[resource] = row.get(resource, 0) + amount
    memory = rolled_up(evidence, waits)
    own: Amounts = {}
    for case in starts:
        row = own.setdefault(case.gang.queue, {})
        for resource in evidence.named:
            least_ = least_core(case.gang, case.before, case.placed, resource)
            row[resource] = row.get(resource, 0) + least_
    yield from _above(evidence, rolled_up(evidence, own), memory)


def _above(
    evidence: Evidence,
    asked: Mapping[str, Mapping[str, int]],
    memory: Mapping[str, Mapping[str, int]],
) -> Iterator[Violation]:
    taken = taken_of(evidence)
    for name, amounts in sorted(asked.items()):
        for resource, need in sorted(amounts.items()):
            quota = evidence.queues[name].rule(resource).quota
            if quota is None or not need:
                continue
            have = taken.get(name, {}).get(resource, 0)
            again = memory.get(name, {}).get(resource, 0)
            if need > max(0, quota - have - again):
                asks, most, runs, waits = (
                    format_quantity(resource, x) for x in (need, quota, have, again)
                )
                waiting = f", {waits} wait that were evicted before" if again else ""
                message = (
                    f"{resource}: guaranteed starts need {asks}, the quota is {most} "
                    f"and {runs} is taken{waiting}"
                )
                yield Violation("guaranteed", name, message)
