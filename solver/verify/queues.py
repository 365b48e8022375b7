"""
Rules about queues: that they take work, their limits, and quotas of fixed work.
"""

from collections.abc import Iterator, Mapping

from models.resources import format_quantity
from solver.verify.evidence import Amounts, Case, Evidence
from solver.verify.violation import Violation


def queues_missing(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that work is bound only in queues that exist, as all those above them.
    """
    if not evidence.queues:
        return
    for name, pods in sorted(_bound_pods(evidence).items()):
        path = evidence.path(name)
        above = evidence.queues[path[-1]].parent if path else name
        if above is not None and above not in evidence.queues:
            which = "it" if above == name else f"queue {above} above it"
            message = f"{pods} pods bound, but {which} does not exist"
            yield Violation("queue-missing", name, message)
        elif above is not None:
            message = f"{pods} pods bound, but it is its own ancestor"
            yield Violation("queue-missing", name, message)


def queues_closed(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that work is bound only in queues that are open, as all those above them.
    """
    for name, pods in sorted(_bound_pods(evidence).items()):
        for above in evidence.path(name):
            if not evidence.queues[above].open:
                which = "it" if above == name else f"queue {above} above it"
                message = f"{pods} pods bound, but {which} is closed"
                yield Violation("queue-closed", name, message)


def queues_inner(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that work is bound only in queues without queues below them.
    """
    for name, pods in sorted(_bound_pods(evidence).items()):
        if name in evidence.parents:
            message = f"{pods} pods bound, but it has queues below it"
            yield Violation("queue-inner", name, message)


def _bound_pods(evidence: Evidence) -> dict[str, int]:
    pods: dict[str, int] = {}
    for case in evidence.binding():
        name = case.gang.queue
        pods[name] = pods.get(name, 0) + sum(case.placed.values())
    return pods


def queue_limits(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that running and bound pods stay within the limits on the whole path.
    """
    if not evidence.named:
        return
    running = rolled_up(evidence, evidence.running)
    bound = rolled_up(evidence, _bound(evidence, list(evidence.binding())))
    for name, amounts in sorted(bound.items()):
        for resource, more in sorted(amounts.items()):
            limit = evidence.queues[name].rule(resource).limit
            have = running.get(name, {}).get(resource, 0)
            if limit is not None and have + more > limit:
                message = _exceeds(resource, have, more, limit)
                yield Violation("queue-limit", name, f"{message}, its limit")


def queue_quotas(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that non-preemptible work stays within the quotas on the whole path.
    """
    if not evidence.named:
        return
    fixed = rolled_up(evidence, evidence.fixed)
    cases = [case for case in evidence.binding() if not case.gang.preemptible]
    bound = rolled_up(evidence, _bound(evidence, cases))
    for name, amounts in sorted(bound.items()):
        for resource, more in sorted(amounts.items()):
            quota = evidence.queues[name].rule(resource).quota
            have = fixed.get(name, {}).get(resource, 0)
            if quota is not None and have + more > quota:
                message = _exceeds(resource, have, more, quota)
                text = f"{message}, its quota for non-preemptible work"
                yield Violation("queue-quota", name, text)


def _bound(evidence: Evidence, cases: list[Case]) -> Amounts:
    """
    Add up what the plan binds in each queue itself, of the named resources.
    """
    bound: Amounts = {}
    for case in cases:
        row = bound.setdefault(case.gang.queue, {})
        for resource in evidence.named:
            amount = case.demand(resource)
            if amount:
                row[resource] = row.get(resource, 0) + amount
    return bound


def rolled_up(evidence: Evidence, own: Mapping[str, Mapping[str, int]]) -> Amounts:
    """
    Add what queues hold themselves to every queue above them.
    """
    total: Amounts = {}
    for name, amounts in own.items():
        for above in evidence.path(name):
            row = total.setdefault(above, {})
            for resource, amount in amounts.items():
                row[resource] = row.get(resource, 0) + amount
    return total


def _exceeds(resource: str, have: int, more: int, most: int) -> str:
    has, gets, bound = (format_quantity(resource, x) for x in (have, more, most))
    return f"{resource}: {has} running and {gets} bound exceed {bound}"
