"""
Rules about entitlement: what is started as entitled fits the fair shares.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from models.memory.aged_gangs import ages_of, still
from models.nodes import Node
from models.resources import add, format_quantity
from solver.shares.fair_share import Precedence
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import Case
from solver.verify.gang_counts import least_core
from solver.verify.leaving.for_whom import Ranks, start_priority
from solver.verify.leaving.kept_promises import kept_promises
from solver.verify.plan_steps import RECLAIM, Amounts
from solver.verify.queues import rolled_up
from solver.verify.shares.demand import remembers, requested, waiting_again
from solver.verify.shares.share_readings import Shares
from solver.verify.shares.weighed_queues import weighed
from solver.verify.violation import Violation


def entitlements(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that entitled starts fit between what runs and the fair share.

    For every queue on the path and every named resource: Σ least demand of entitled
    starts ≤ max(0, fair share - running - promised); for a queue with queues below it
    what is evicted there makes room too.
    """
    for name, message in _above(evidence, entitled_starts(evidence), {}):
        yield Violation("entitled", name, message)


def rights_to_evict(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a queue does not reclaim with what its own evicted gangs wait for.

    For every queue on the path and every named resource: Σ least demand of entitled
    starts for which pods are reclaimed ≤ max(0, fair share - running - least
    demand of waiting gangs that were evicted before), and room as for all entitled
    starts.  Nobody leaves for a gang that was evicted itself.
    """
    served = evidence.beneficiaries()
    for case in evidence.cases.values():
        ago = case.gang.evicted_ago
        if remembers(evidence, case.gang) and case.gang.key in served:
            message = f"others leave for it, and it was evicted {ago} s ago itself"
            yield Violation("right-to-evict", case.gang.key, message)
    named = evidence.beneficiaries(RECLAIM)
    starts = [case for case in entitled_starts(evidence) if case.gang.key in named]
    if not starts:
        return
    memory: Amounts = {}
    for gang, least in waiting_again(evidence):
        row = memory.setdefault(gang.queue, {})
        for resource, amount in least.items():
            row[resource] = row.get(resource, 0) + amount
    if memory:
        for name, message in _above(evidence, starts, rolled_up(evidence, memory)):
            yield Violation("right-to-evict", name, message)


def _above(
    evidence: Evidence, starts: Iterable[Case], memory: Mapping[str, Mapping[str, int]]
) -> Iterator[tuple[str, str]]:
    """
    Name the queues in which entitled starts need more than the share leaves.
    """
    own: Amounts = {}
    for case in starts:
        row = own.setdefault(case.gang.queue, {})
        for resource in evidence.named:
            least = least_core(case.gang, case.before, case.placed, resource)
            row[resource] = row.get(resource, 0) + least
    if not own:
        return
    taken, shares = taken_of(evidence), shares_of(evidence)
    for name, amounts in sorted(rolled_up(evidence, own).items()):
        for resource, need in sorted(amounts.items()):
            have = taken.get(name, {}).get(resource, 0)
            again = memory.get(name, {}).get(resource, 0)
            if memory and not again:
                continue
            wanted = need + have + again
            share = shares.at_most(name, resource, wanted) if need else 0
            if need > max(0, share - have - again):
                asks, fair, runs, waits = (
                    format_quantity(resource, x) for x in (need, share, have, again)
                )
                waiting = f", {waits} wait that were evicted before" if again else ""
                message = (
                    f"{resource}: entitled starts need {asks}, "
                    f"the fair share is {fair} and {runs} is taken{waiting}"
                )
                yield name, message


def taken_of(evidence: Evidence) -> Amounts:
    """
    Give what is taken of each queue's share: what runs, and promises that are kept.

    For a queue with queues below it less what is evicted there for entitled starts.
    """
    own = {name: dict(row) for name, row in evidence.running.items()}
    for case in _promised(evidence):
        row = own.setdefault(case.gang.queue, {})
        for resource in evidence.named:
            least = least_core(case.gang, case.before, case.placed, resource)
            row[resource] = row.get(resource, 0) + least
    taken = rolled_up(evidence, own)
    for name, row in _evicted_below(evidence).items():
        if name in evidence.parents:
            add(taken.setdefault(name, {}), row, -1)
    return taken


def _promised(evidence: Evidence) -> list[Case]:
    """
    List the promises that are kept and are not called entitled.

    One that may have been given up for a higher band, and starts as if it had not been
    promised anything, is none.
    """
    kept = kept_promises(evidence)
    if not kept:
        return []
    rank = Ranks.of(evidence)
    called = {line.name for line in evidence.plan.gangs if line.entitled}
    starts = [case for case in evidence.placing() if case.starts]
    bands = {c.gang.key: rank.band(start_priority(evidence, c.gang)) for c in starts}
    top = max((band for key, band in bands.items() if key not in kept), default=None)
    held = [case for case in starts if case.gang.key in kept - called]
    return [case for case in held if top is None or bands[case.gang.key] >= top]


def _evicted_below(evidence: Evidence) -> Amounts:
    """
    Add up what is evicted below each queue for those who are called entitled.
    """
    called = {line.name for line in evidence.plan.gangs if line.entitled}
    own: Amounts = {}
    for step in evidence.taking:
        operation = step.operation
        if step.leaf is None or operation.op != "Evict":
            continue
        if not called.isdisjoint(operation.beneficiaries):
            queue = evidence.gangs[operation.gang].queue
            add(own.setdefault(queue, {}), step.leaf.requests)
    return rolled_up(evidence, own)


def entitled_starts(evidence: Evidence) -> list[Case]:
    """
    List the gangs that start and are called entitled, where the word matters.
    """
    policy = evidence.policy
    if not evidence.named or not (policy.has("entitled") or policy.has("borrowing")):
        return []
    called = {line.name for line in evidence.plan.gangs if line.entitled}
    return [c for c in evidence.placing() if c.starts and c.gang.key in called]


def shares_of(evidence: Evidence) -> Shares:
    """
    Give the fair shares, counted when they are first asked for.
    """
    if not evidence.shares:
        nodes, named = evidence.snapshot.nodes, evidence.named
        totals = evidence.memo.of_nodes(
            ("totals", named), nodes, lambda: _totals(nodes, named)
        )
        demand, doubts = requested(evidence)
        queues = weighed(evidence.snapshot.queues, evidence.policy)
        held = rolled_up(evidence, evidence.running)
        first = Precedence(held, partial(_oldest, evidence))
        shares = Shares(queues, totals, demand, doubts, first)
        evidence.shares.append(shares)
    return evidence.shares[0]


def _oldest(evidence: Evidence) -> dict[str, int]:
    """
    Give the age of the oldest gang in each queue and in those below it.
    """
    gangs = evidence.snapshot.gangs
    own: dict[str, int] = {}
    for gang, age in zip(still(gangs), ages_of(gangs), strict=True):
        own[gang.queue] = max(age, own.get(gang.queue, age))
    oldest: dict[str, int] = {}
    for queue, age in own.items():
        for above in evidence.path(queue):
            oldest[above] = max(age, oldest.get(above, age))
    return oldest


def _totals(nodes: Sequence[Node], named: Sequence[str]) -> dict[str, int]:
    """
    Add up what the cluster offers to us.
    """
    return {
        resource: sum(max(0, node.offers(resource)) for node in nodes)
        for resource in named
    }


def entitled_groups(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a member of a group is entitled only if all that start with it are.
    """
    called = {line.name for line in evidence.plan.gangs if line.entitled}
    for case in entitled_starts(evidence):
        for name in sorted(set(case.gang.mates)):
            mate = evidence.cases.get(name)
            if mate is not None and mate.starts and name not in called:
                message = f"called entitled, but {name} of its group is not"
                yield Violation("entitled-group", case.gang.key, message)
