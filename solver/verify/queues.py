"""
Rules about queues: that they take work, their limits, and quotas of fixed work.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from models.gangs import Gang, pod_sets
from models.queues import QueueResource
from models.resources import format_quantity
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import Case, GangLoss, told
from solver.verify.plan_steps import Amounts
from solver.verify.violation import Violation


def queues_missing(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that work gets a place only in queues that exist, as all those above them.
    """
    if not evidence.queues:
        return
    for name, cases in _gaining(evidence):
        path = evidence.path(name)
        above = evidence.queues[path[-1]].parent if path else name
        if above is not None and above not in evidence.queues:
            which = "it" if above == name else f"queue {above} above it"
            message = f"{_told(cases)}, but {which} does not exist"
            yield Violation("queue-missing", name, message)
        elif above is not None:
            message = f"{_told(cases)}, but it is its own ancestor"
            yield Violation("queue-missing", name, message)


def queues_closed(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that work gets a place only in queues that are open, as all those above them.
    """
    for name, cases in _gaining(evidence):
        for above in evidence.path(name):
            if not evidence.queues[above].open:
                which = "it" if above == name else f"queue {above} above it"
                message = f"{_told(cases)}, but {which} is closed"
                yield Violation("queue-closed", name, message)


def queues_inner(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that work gets a place only in queues without queues below them.
    """
    for name, cases in _gaining(evidence):
        if name in evidence.parents:
            message = f"{_told(cases)}, but it has queues below it"
            yield Violation("queue-inner", name, message)


def _gaining(evidence: Evidence) -> list[tuple[str, list[Case]]]:
    """
    List the queues of which pods get a place, with their gangs.
    """
    found: dict[str, list[Case]] = {}
    for case in evidence.gaining():
        found.setdefault(case.gang.queue, []).append(case)
    return sorted(found.items())


def _told(cases: list[Case]) -> str:
    return told(*map(sum, zip(*(case.numbers for case in cases), strict=True)))


def queue_limits(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that the limits on the whole path hold, now and after the plan.

    Running + bound ≤ limit, and running - evicted + bound + reserved ≤ limit.  Nobody
    moves in a queue that holds more than that: it could not come back.
    """
    cases = list(evidence.placing())
    losses = list(evidence.losses.values())
    for name, message in _beyond(evidence, evidence.running, cases, losses, _limit):
        yield Violation("queue-limit", name, f"{message}, its limit")
    running = rolled_up(evidence, evidence.running)
    moved = amounts_of(evidence, [(one.gang, asked_by(one)) for one in losses])
    for name, amounts in sorted(moved.items()):
        for resource, number in sorted(amounts.items()):
            most = _limit(evidence.queues[name].rule(resource))
            have = running.get(name, {}).get(resource, 0)
            if number and most is not None and have > most:
                message = f"{_exceeds(resource, have, 0, most)}, its limit"
                yield Violation("queue-limit", name, f"{message}, and pods are moved")


def asked_by(loss: GangLoss) -> Mapping[str, int]:
    """
    Give a pod of each leaf of a gang of which some are moved.
    """
    return dict.fromkeys(loss.running, int(any(loss.moved.values())))


def queue_quotas(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that non-preemptible work stays within the quotas on the whole path.

    As for limits: now with what is bound, and after the plan.
    """
    cases = [case for case in evidence.placing() if not case.gang.preemptible]
    losses = [loss for loss in evidence.losses.values() if not loss.gang.preemptible]
    for name, message in _beyond(evidence, evidence.fixed, cases, losses, _quota):
        text = f"{message}, its quota for non-preemptible work"
        yield Violation("queue-quota", name, text)


def _limit(rule: QueueResource) -> int | None:
    return rule.limit


def _quota(rule: QueueResource) -> int | None:
    return rule.quota


def _beyond(
    evidence: Evidence,
    own: Amounts,
    cases: list[Case],
    losses: list[GangLoss],
    most_of: Callable[[QueueResource], int | None],
) -> Iterator[tuple[str, str]]:
    """
    Name the queues that hold too much of something that they get more of.
    """
    if not evidence.named or not cases:
        return
    now = amounts_of(evidence, [(case.gang, case.bound) for case in cases])
    gains = amounts_of(evidence, [(case.gang, case.placed) for case in cases])
    gone = amounts_of(evidence, [(loss.gang, loss.evicted) for loss in losses])
    running = rolled_up(evidence, own)
    for name, amounts in sorted(gains.items()):
        for resource, more in sorted(amounts.items()):
            most = most_of(evidence.queues[name].rule(resource))
            if most is None:
                continue
            have = running.get(name, {}).get(resource, 0)
            bound = now.get(name, {}).get(resource, 0)
            stays = have - gone.get(name, {}).get(resource, 0)
            if bound and have + bound > most:
                yield name, _exceeds(resource, have, bound, most)
            elif stays + more > most:
                yield name, _will_exceed(resource, stays, more, most)


def amounts_of(
    evidence: Evidence, parts: Iterable[tuple[Gang, Mapping[str, int]]]
) -> Amounts:
    """
    Add up what pods per leaf ask for of named resources, on the whole path.
    """
    own: Amounts = {}
    for gang, pods in parts:
        row = own.setdefault(gang.queue, {})
        for leaf in pod_sets(gang.tree):
            number = pods.get(leaf.name, 0)
            for resource in evidence.named if number else ():
                amount = leaf.requests.get(resource, 0) * number
                if amount:
                    row[resource] = row.get(resource, 0) + amount
    return rolled_up(evidence, own)


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


def _will_exceed(resource: str, have: int, more: int, most: int) -> str:
    stays, gets, bound = (format_quantity(resource, x) for x in (have, more, most))
    return f"{resource}: {stays} that stay and {gets} with a place exceed {bound}"
