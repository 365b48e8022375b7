"""
The rule about whose leaving entitled starts may wait for: nobody's who goes for others.
"""

from collections.abc import Iterator, Sequence

from models.devices.gpu_parts import is_reckoned
from models.gangs import pod_sets
from models.resources import add, format_quantity
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import Case
from solver.verify.leaving.room_beside import asked_by_one, room_beside
from solver.verify.plan_steps import Amounts, Step
from solver.verify.queues import rolled_up
from solver.verify.shares.entitlement import entitled_starts
from solver.verify.violation import Violation


def entitled_rooms(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that entitled starts are reserved where nobody has to leave for others.

    As if only those left that leave for entitled starts: on every node what stays +
    what is reserved for such starts or moved there for them ≤ allocatable, and running
    + what is reserved for them ≤ limit on the whole path.
    """
    starts = [case for case in entitled_starts(evidence) if case.deeds.reserved]
    called = {line.name for line in evidence.plan.gangs if line.entitled}
    leaves: tuple[list[Step], list[Step]] = ([], [])
    for step in evidence.steps if starts else ():
        if step.takes:
            names = step.operation.beneficiaries
            is_for_others = bool(names) and called.isdisjoint(names)
            leaves[is_for_others].append(step)
    if leaves[True]:
        yield from _on_nodes(evidence, starts, *leaves)
        yield from _in_queues(evidence, starts, leaves[False])


def _on_nodes(
    evidence: Evidence,
    starts: Sequence[Case],
    mine: Sequence[Step],
    others: Sequence[Step],
) -> Iterator[Violation]:
    wanted: Amounts = {}
    for case in starts:
        for leaf in pod_sets(case.gang.tree):
            for node, pods in case.deeds.reserved.get(leaf.name, {}).items():
                add(wanted.setdefault(node, {}), leaf.requests, pods)
    room = room_beside(evidence, wanted.keys(), others)
    for step in mine:
        if step.operation.op == "Move" and step.operation.node in room:
            add(room[step.operation.node], asked_by_one(step), -1)
    for name, has in room.items():
        asks = {r: n for r, n in wanted[name].items() if not is_reckoned(r)}
        for resource, asked in sorted(asks.items()):  # devices are judged one by one
            left = has.get(resource, 0)
            if asked > max(0, left):
                yield _short(name, resource, asked, left)


def _in_queues(
    evidence: Evidence, starts: Sequence[Case], mine: Sequence[Step]
) -> Iterator[Violation]:
    wanted: Amounts = {}
    for case in starts:
        row = wanted.setdefault(case.gang.queue, {})
        for leaf in pod_sets(case.gang.tree):
            pods = sum(case.deeds.reserved.get(leaf.name, {}).values())
            add(row, leaf.requests, pods)
    stays = {queue: dict(row) for queue, row in evidence.running.items()}
    for step in mine:
        if step.operation.op == "Evict":
            queue = evidence.gangs[step.operation.gang].queue
            add(stays.setdefault(queue, {}), asked_by_one(step), -1)
    running = rolled_up(evidence, stays)
    for name, row in sorted(rolled_up(evidence, wanted).items()):
        for resource in evidence.named:
            limit = evidence.queues[name].rule(resource).limit
            left = (limit or 0) - running.get(name, {}).get(resource, 0)
            asked = row.get(resource, 0)
            if limit is not None and asked > max(0, left):
                yield _short(name, resource, asked, left)


def _short(subject: str, resource: str, asked: int, left: int) -> Violation:
    numbers = (format_quantity(resource, x) for x in (asked, max(0, left)))
    message = "{}: {} reserved for entitled starts, {} without what leaves for others"
    return Violation("entitled-room", subject, message.format(resource, *numbers))
