"""
Rules about beneficiaries: for whom pods may be evicted and moved.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from models.gangs import Gang
from solver.verify.evidence import Evidence
from solver.verify.plan_steps import LEND, PREEMPT, RECLAIM
from solver.verify.violation import Violation


@dataclass(frozen=True, slots=True)
class _Side:
    """
    The gangs that an eviction names: what is wrong with them, and who they are.

    ``queues`` gives a gang of each leaf queue, ``borrowing`` those that no line calls
    entitled, ``lowest`` the one of the lowest priority, with it, and ``bands`` all of
    them with their bands.
    """

    wrong: tuple[str, ...]
    queues: dict[str, str]
    borrowing: tuple[str, ...]
    lowest: tuple[int, str] | None
    bands: dict[str, int]


def beneficiaries(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that pods leave only for gangs that need something and are reserved here.

    That they are satisfied after the plan is the rule of every gang with a place.
    """
    for _, side, pod in _sides(evidence):
        for wrong in side.wrong:
            yield Violation("beneficiary", pod, wrong)


def reclaimed_for(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that pods are reclaimed only for entitled gangs of other leaf queues.
    """
    for victim, side, pod in _sides(evidence, RECLAIM):
        same = side.queues.get(home(evidence, victim))
        if same is not None:
            message = f"reclaimed for {same}, which is of its own queue {victim.queue}"
            yield Violation("reclaimed-for", pod, message)
        if side.borrowing:
            message = f"reclaimed for {side.borrowing[0]}, which is not entitled"
            yield Violation("reclaimed-for", pod, message)


def preempted_for(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that pods are preempted only for higher bands of their own leaf queue.
    """
    rank = Ranks.of(evidence)
    for victim, side, pod in _sides(evidence, PREEMPT):
        own = home(evidence, victim)
        for name, other in side.queues.items():
            if name != own:
                message = f"preempted for {other} of queue {name}, it is of {own}"
                yield Violation("preempted-for", pod, message)
                break
        if side.lowest is None:
            continue
        priority, name = side.lowest
        if rank.band(priority) <= rank.band(victim.priority):
            message = (
                f"preempted for {name} of priority {priority}, which is not of "
                f"a higher band than its own priority {victim.priority}"
            )
            yield Violation("preempted-for", pod, message)


def preempted_beside(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no high start pushes out work so that its like may start.

    Where a unit is preempted, nobody leaves in the same step for a gang of its queue
    and of its band or a lower one; but those who were lent what was held for it.
    """
    rank = Ranks.of(evidence)
    called = {line.name for line in evidence.plan.gangs if line.entitled}
    highest: dict[tuple[str, bool], int] = {}
    wrong: set[str] = set()
    for victim, side, _ in _sides(evidence, PREEMPT):
        band = rank.band(victim.priority)
        at = home(evidence, victim), len(side.borrowing) < len(side.bands)
        highest[at] = max(band, highest.get(at, band))
        wrong.update(key for key, own in side.bands.items() if own <= band)
    served = evidence.beneficiaries() - evidence.beneficiaries(LEND) - wrong
    for key in sorted(served & evidence.gangs.keys()) if highest else ():
        gang = evidence.gangs[key]
        above = highest.get((home(evidence, gang), key in called))
        if above is None or rank.band(start_priority(evidence, gang)) > above:
            continue
        message = (
            f"others leave for it, of priority {start_priority(evidence, gang)}, and "
            "pods of its band or a higher one are preempted in its queue"
        )
        yield Violation("preempted-beside", key, message)


def home(evidence: Evidence, gang: Gang) -> str:
    """
    Name the leaf queue of a gang: one for all where no queue is listed.
    """
    return gang.queue if evidence.queues else "default"


@dataclass(frozen=True, slots=True)
class Ranks:
    """
    Bands in rising order: cut points of the policy, else each priority by itself.

    Where very many priorities wait, planners use wider bands; what holds for those
    holds for single priorities too.
    """

    cuts: tuple[int, ...] | None

    @classmethod
    def of(cls, evidence: Evidence) -> "Ranks":
        """
        Read the policy's cut points.
        """
        bands = evidence.policy.bands
        return cls(None if bands is None else tuple(sorted(bands)))

    def band(self, priority: int) -> int:
        """
        Give the band of a priority; higher is more important.
        """
        return priority if self.cuts is None else bisect_right(self.cuts, priority)


def start_priority(evidence: Evidence, gang: Gang) -> int:
    """
    Give the lowest priority among a gang and those that start with it.
    """
    lowest = gang.priority
    for name in gang.mates:
        mate = evidence.cases.get(name)
        if mate is not None and mate.starts:
            lowest = min(lowest, mate.gang.priority)
    return lowest


def _sides(
    evidence: Evidence, rule: str | None = None
) -> Iterator[tuple[Gang, _Side, str]]:
    """
    Walk the victims of a rule with the gangs they name, each list looked at once.
    """
    called = {line.name for line in evidence.plan.gangs if line.entitled}
    known: dict[int, _Side] = {}
    for step in evidence.taking:
        operation = step.operation
        if rule is not None and operation.rule != rule:
            continue
        names = operation.beneficiaries
        side = known.get(id(names))
        if side is None:
            side = known[id(names)] = _side(evidence, names, called)
        yield evidence.gangs[operation.gang], side, operation.pod


def _side(evidence: Evidence, names: tuple[str, ...], called: set[str]) -> _Side:
    wrong = [] if names else ["evicted or moved for no gang"]
    gangs = []
    for name in names:
        case = evidence.cases.get(name)
        if name in evidence.gangs:
            gangs.append(evidence.gangs[name])
        else:
            wrong.append(f"leaves for {name}, which does not exist")
            continue
        if case is None or not case.deeds.reserved:
            wrong.append(f"leaves for {name}, of which nothing is reserved")
        elif not case.starts:
            wrong.append(f"leaves for {name}, which needed nothing")
    priorities = [(start_priority(evidence, gang), gang.key) for gang in gangs]
    rank = Ranks.of(evidence)
    return _Side(
        wrong=tuple(wrong),
        queues={home(evidence, gang): gang.key for gang in reversed(gangs)},
        borrowing=tuple(gang.key for gang in gangs if gang.key not in called),
        lowest=min(priorities, default=None),
        bands={key: rank.band(priority) for priority, key in priorities},
    )
