"""
Rules about how much may leave: what a queue loses to others, and a band to higher ones.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from models.gangs import pod_sets
from models.resources import Resources, add, format_quantity
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import Case
from solver.verify.leaving.evicted_units import Taken, taken
from solver.verify.leaving.for_whom import Ranks, home, start_priority
from solver.verify.leaving.kept_promises import kept_promises
from solver.verify.plan_steps import PREEMPT, RECLAIM, Amounts
from solver.verify.queues import rolled_up
from solver.verify.shares.entitlement import entitled_starts, shares_of
from solver.verify.shares.guaranteed_starts import guaranteed_starts
from solver.verify.violation import Violation


@dataclass(slots=True)
class _Taken:
    """
    Units that leave: their pods, and per resource their sum and the largest.

    ``held`` are the resources that all of them hold.
    """

    number: int = 0
    total: dict[str, int] = field(default_factory=dict)
    largest: dict[str, int] = field(default_factory=dict)
    held: frozenset[str] = frozenset()

    def take(self, gone: Taken) -> None:
        """
        Add what leaves of one gang.
        """
        self._count(gone.pods, gone.total, gone.largest, gone.held)

    def merge(self, other: "_Taken") -> None:
        """
        Add the units of another.
        """
        self._count(other.number, other.total, other.largest, other.held)

    def _count(
        self, number: int, total: Resources, largest: Resources, held: frozenset[str]
    ) -> None:
        self.held = self.held & held if self.number else held
        self.number += number
        add(self.total, total)
        for name, amount in largest.items():
            if amount > self.largest.get(name, 0):
                self.largest[name] = amount


@dataclass(frozen=True, slots=True)
class _Asked:
    """
    What entitled starts ask for, per queue with all below it, and in all.

    ``most`` counts all places; ``least`` only those for whom somebody leaves, since
    others may have come later, in idle room; ``sure`` those of guaranteed starts.
    Promises that are kept are no starts.
    """

    most: Amounts
    least: Amounts
    sure: Amounts
    total_most: Resources
    total_least: Resources
    total_sure: Resources

    def inside(self, queue: str, resource: str) -> int:
        """
        Give the most that is asked for in and below a queue.
        """
        return self.most.get(queue, {}).get(resource, 0)

    def least_outside(self, queue: str, resource: str) -> int:
        """
        Give the least that is asked for elsewhere.
        """
        inside = self.least.get(queue, {}).get(resource, 0)
        return self.total_least.get(resource, 0) - inside

    def sure_outside(self, queue: str, resource: str) -> int:
        """
        Give what guaranteed starts elsewhere ask for.
        """
        inside = self.sure.get(queue, {}).get(resource, 0)
        return self.total_sure.get(resource, 0) - inside

    def is_outside(self, queue: str, resource: str) -> bool:
        """
        Tell whether somebody elsewhere asks for a resource.
        """
        return self.total_most.get(resource, 0) > self.inside(queue, resource)


def reclaim_bounds(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that queues lose to others only what they have above their share or quota.

    With E what the units reclaimed below a queue ask for, L the largest of them, In
    what entitled starts below it ask for and Out what those elsewhere for whom somebody
    leaves, which is the reading in the plan's favour: T = E for the victims' queue and
    min(max(0, E - In), Out) above it.  Where T > 0 there is a named resource that
    every unit holds and some entitled start elsewhere asks for, with running - T +
    min(L, T) > fair share.

    For guaranteed starts elsewhere, which ask for S: running - T + min(L, T) > quota,
    and T - min(L, T) < max(0, running - fair share) + S; then some unit names one.

    A queue that is missing has no share: nothing of it is above one.
    """
    losses = evidence.losses.values()
    own = {loss.gang.queue for loss in losses if RECLAIM in loss.rules}
    for queue in sorted(own - evidence.queues.keys()) if evidence.queues else ():
        yield Violation("reclaim-bound", queue, "pods reclaimed from a missing queue")
    reclaimed = _reclaimed(evidence)
    starts = entitled_starts(evidence)
    if not reclaimed or (evidence.named and not starts):
        return
    asked = _asked(evidence, starts)
    running = rolled_up(evidence, evidence.running)
    for queue, units_ in sorted(reclaimed.items()):
        problem = _excess(evidence, asked, running.get(queue, {}), queue, units_)
        if problem:
            yield Violation("reclaim-bound", queue, problem)


def _reclaimed(evidence: Evidence) -> dict[str, _Taken]:
    """
    Add up the units reclaimed in and below each queue.
    """
    own: dict[str, _Taken] = {}
    for loss, gone in taken(evidence.losses.values(), RECLAIM):
        own.setdefault(loss.gang.queue, _Taken()).take(gone)
    total: dict[str, _Taken] = {}
    for queue, found in own.items():
        for above in evidence.path(queue):
            total.setdefault(above, _Taken()).merge(found)
    return total


def _asked(evidence: Evidence, starts: Iterable[Case]) -> _Asked:
    most: Amounts = {}
    least: Amounts = {}
    named, kept = evidence.beneficiaries(), kept_promises(evidence)
    for case in starts:
        gang = case.gang
        if gang.key in kept:
            continue
        largest = most.setdefault(gang.queue, {})
        smallest = least.setdefault(gang.queue, {})
        places = _demand(case)
        for name in evidence.named:
            amount = places.get(name, 0)
            largest[name] = largest.get(name, 0) + amount
            if gang.key in named:
                smallest[name] = smallest.get(name, 0) + amount
    sure: Amounts = {}
    for case in guaranteed_starts(evidence):
        if case.gang.key not in kept:
            add(sure.setdefault(case.gang.queue, {}), _demand(case))
    return _Asked(
        rolled_up(evidence, most),
        rolled_up(evidence, least),
        rolled_up(evidence, sure),
        *(_in_all(table) for table in (most, least, sure)),
    )


def _in_all(table: Amounts) -> dict[str, int]:
    total: dict[str, int] = {}
    for row in table.values():
        add(total, row)
    return total


def _demand(case: Case) -> dict[str, int]:
    """
    Add up what the bound and reserved pods of a gang ask for.
    """
    total: dict[str, int] = {}
    for leaf in pod_sets(case.gang.tree):
        pods = case.placed.get(leaf.name, 0)
        if pods:
            add(total, leaf.requests, pods)
    return total


def _excess(
    evidence: Evidence,
    asked: _Asked,
    running: Mapping[str, int],
    queue: str,
    gone: _Taken,
) -> str:
    """
    Say why a queue may not lose some units; nothing where it may.
    """
    lost = {name: gone.total.get(name, 0) for name in evidence.named}
    if queue in evidence.parents:
        for name, amount in lost.items():
            net = max(0, amount - asked.inside(queue, name))
            lost[name] = min(net, asked.least_outside(queue, name))
        if not any(lost.values()):
            return ""
    problem = f"{gone.number} pods reclaimed that share no resource with a start"
    for name in sorted(gone.held & lost.keys()):
        net, have = lost[name], running.get(name, 0)
        if net == 0:
            return ""
        if not asked.is_outside(queue, name):
            continue
        last = min(gone.largest[name], net)
        before_last = have - net + last
        share = shares_of(evidence).at_least(queue, name, before_last - 1)
        if before_last > share or _is_for_guaranteed(
            evidence, asked, queue, name, (have, before_last)
        ):
            return ""
        numbers = (have, net, last, share)
        runs, goes, unit, fair = (format_quantity(name, x) for x in numbers)
        problem = (
            f"{name}: {runs} running, {goes} reclaimed, the largest unit {unit}: "
            f"before the last it is not above its fair share of {fair}"
        )
    return problem


def _is_for_guaranteed(
    evidence: Evidence,
    asked: _Asked,
    queue: str,
    resource: str,
    amounts: tuple[int, int],
) -> bool:
    """
    Tell whether what a queue loses below its share is for guaranteed starts elsewhere.

    ``amounts`` are what runs, and what would run before the last unit goes.
    """
    sure = asked.sure_outside(queue, resource)
    quota = evidence.queues[queue].rule(resource).quota
    have, before_last = amounts
    if not sure or quota is None or before_last <= quota:
        return False
    enough = before_last + sure - 1
    share = shares_of(evidence).at_least(queue, resource, enough)
    return min(have, share) <= enough and _names_guaranteed(evidence, queue)


def _names_guaranteed(evidence: Evidence, queue: str) -> bool:
    """
    Tell whether some unit reclaimed from a queue names a guaranteed start elsewhere.
    """
    names = {
        case.gang.key
        for case in guaranteed_starts(evidence)
        if queue not in evidence.path(case.gang.queue)
    }
    return any(
        step.operation.rule == RECLAIM
        and not names.isdisjoint(step.operation.beneficiaries)
        and queue in evidence.path(evidence.gangs[step.operation.gang].queue)
        for step in evidence.taking
    )


def preempt_bounds(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no more is preempted in a leaf queue than its higher bands start.

    There is a resource that all units preempted there hold, so that for every band the
    units of it and of higher ones, less the largest of them, ask for less than the
    starts above it.  What leaves for entitled starts is held against these, and what
    leaves for others against the others.  Promises that are kept are no starts.
    """
    rank = Ranks.of(evidence)
    called = {line.name for line in evidence.plan.gangs if line.entitled}
    claimed = _preempted_for(evidence, called)
    victims: dict[tuple[str, bool], dict[int, _Taken]] = {}
    for loss, gone in taken(evidence.losses.values(), PREEMPT):
        side = (home(evidence, loss.gang), loss.gang.key in claimed)
        bands = victims.setdefault(side, {})
        bands.setdefault(rank.band(loss.gang.priority), _Taken()).take(gone)
    kept = kept_promises(evidence) if victims else frozenset()
    starts: dict[tuple[str, bool], list[tuple[int, Resources]]] = {}
    for case in evidence.placing() if victims else ():
        side = (home(evidence, case.gang), case.gang.key in called)
        is_one = case.starts and case.gang.key not in kept
        if is_one and side in victims:
            band = rank.band(start_priority(evidence, case.gang))
            starts.setdefault(side, []).append((band, _demand(case)))
    for side, bands in sorted(victims.items()):
        problem = _too_much(bands, starts.get(side, []))
        if problem:
            yield Violation("preempt-bound", side[0], problem)


def _preempted_for(evidence: Evidence, called: set[str]) -> set[str]:
    """
    Name the gangs that are preempted for somebody who is called entitled.
    """
    found: set[str] = set()
    known: dict[int, bool] = {}
    for step in evidence.taking:
        operation = step.operation
        if operation.rule == PREEMPT:
            names = operation.beneficiaries
            if id(names) not in known:
                known[id(names)] = not called.isdisjoint(names)
            if known[id(names)]:
                found.add(operation.gang)
    return found


def _too_much(bands: Mapping[int, _Taken], starts: list[tuple[int, Resources]]) -> str:
    """
    Say why a queue preempts too much; nothing where it does not.
    """
    gone = _Taken()
    above: dict[str, int] = {}
    rising = sorted(starts, key=lambda start: start[0])
    fine: frozenset[str] | None = None
    for band in sorted(bands, reverse=True):
        while rising and rising[-1][0] > band:
            add(above, rising.pop()[1])
        gone.merge(bands[band])
        enough = frozenset(
            name
            for name, amount in gone.total.items()
            if amount - gone.largest.get(name, 0) < above.get(name, 0)
        )
        fine = enough if fine is None else fine & enough
        if not fine & gone.held:
            return _told(gone, above)
    return ""


def _told(gone: _Taken, above: Resources) -> str:
    parts = []
    for name in sorted(gone.held):
        rest = gone.total[name] - gone.largest[name]
        less, more = (format_quantity(name, x) for x in (rest, above.get(name, 0)))
        parts.append(f"{name} {less} of {more}")
    what = ", ".join(parts) if parts else "no resource in common"
    return (
        f"{gone.number} pods preempted, without the largest unit against the starts of "
        f"higher bands: {what}"
    )
