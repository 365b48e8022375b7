"""
What two plans do differently, gang by gang: of one input, or of two that are alike.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from models.plan import GangLine, Plan, State, TierResult
from solver import LOSSES


class Became(StrEnum):
    """
    What becomes of a gang in the second plan that did not in the first.
    """

    STARTS = "starts"
    RESTARTS = "restarts"
    RESERVES = "reserves"
    GROWS = "grows"
    STAYS = "stays"
    KEEPS = "keeps"
    LEAVES = "leaves"
    WAITS = "waits"
    SHRINKS = "shrinks"
    WAITS_OTHERWISE = "waits-otherwise"
    NEW = "new"
    GONE = "gone"


_WAITING: frozenset[State | None] = frozenset({None, "Waiting", "Reserved", "Starting"})


@dataclass(frozen=True, slots=True)
class GangDifference:
    """
    One gang in two plans, of which one may not know it.

    In the second plan its pods leave by ``rules`` and for ``beneficiaries``.  In each
    so many are ``evicted``; others that leave are moved.
    """

    became: Became
    before: GangLine | None
    after: GangLine | None
    rules: Sequence[str] = ()
    beneficiaries: Sequence[str] = ()
    evicted: tuple[int, int] = (0, 0)

    @property
    def line(self) -> GangLine:
        """
        Give what is said of it, by the second plan if it knows it.
        """
        line = self.after or self.before
        if line is None:
            raise ValueError("a gang that no plan knows")
        return line


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """
    All that two plans do differently; ``elsewhere`` are pods bound to another node.
    """

    gangs: Sequence[GangDifference]
    elsewhere: int
    operations: bool

    @property
    def is_any(self) -> bool:
        """
        Tell whether the plans differ in what they do or say of a gang.
        """
        return bool(self.gangs) or self.operations

    def of(self, *kinds: Became) -> list[GangDifference]:
        """
        Give the gangs of which one of these came true.
        """
        return [each for each in self.gangs if each.became in kinds]


def difference_of(before: Plan, after: Plan) -> PlanDifference:
    """
    Compare two plans.
    """
    old = {line.name: line for line in before.gangs}
    new = {line.name: line for line in after.gangs}
    names = [*old, *(name for name in new if name not in old)]
    left, lost = _left(after), (_evicted(before), _evicted(after))
    found = []
    for name in sorted(names):
        pair = old.get(name), new.get(name)
        evicted = lost[0][name], lost[1][name]
        became = _became(*pair, evicted)
        if became is not None:
            rules, whom = left.get(name, ((), ()))
            found.append(GangDifference(became, *pair, rules, whom, evicted))
    kinds = list(Became)
    found.sort(key=lambda each: kinds.index(each.became))
    return PlanDifference(
        gangs=found,
        elsewhere=_elsewhere(before, after),
        operations=before.operations != after.operations,
    )


def _evicted(plan: Plan) -> Counter[str]:
    """
    Count of each gang the pods that leave and get no other place.
    """
    return Counter(step.gang for step in plan.operations if step.op == "Evict")


def _left(plan: Plan) -> dict[str, tuple[list[str], list[str]]]:
    """
    Give of each gang by which rules its pods leave, and for whom.
    """
    found: dict[str, tuple[set[str], set[str]]] = {}
    for step in plan.operations:
        if step.op in {"Evict", "Move"}:
            rules, names = found.setdefault(step.gang, (set(), set()))
            rules.update([step.rule] if step.rule else [])
            names.update(step.beneficiaries)
    return {name: (sorted(by), sorted(whom)) for name, (by, whom) in found.items()}


def _became(
    before: GangLine | None, after: GangLine | None, evicted: tuple[int, int]
) -> Became | None:
    """
    Say what became of one gang, if anything; in each plan so many are ``evicted``.
    """
    if after is None:
        return Became.GONE
    if before is not None and before.state == after.state == "Evicting":
        kept = [
            line.pods.running - number
            for line, number in zip((before, after), evicted, strict=True)
        ]
        more = kept[1] - kept[0] or _held(after) - _held(before)
        return None if not more else Became.KEEPS if more > 0 else Became.LEAVES
    if before is not None and before.state == after.state:
        return _same_state(before, after)
    return _new_state(before, after)


def _new_state(before: GangLine | None, after: GangLine) -> Became | None:
    """
    Say what became of a gang whose state is another one.
    """
    was = None if before is None else before.state
    spared = _is_spared(before, after)
    match after.state:
        case "Starting":
            return Became.STARTS if spared or was in _WAITING else Became.RESTARTS
        case "Reserved":
            was_waiting = spared or was in {None, "Waiting"}
            return Became.RESERVES if was_waiting else Became.WAITS
        case "Waiting":
            return Became.STAYS if spared else Became.WAITS
        case "Evicting":
            return Became.LEAVES
        case "Growing" | "Running" | "Finished":
            return _runs(before, after)


def _is_spared(before: GangLine | None, after: GangLine) -> bool:
    """
    Tell whether pods go on that the first plan lets leave; a start may need more.
    """
    if before is None or before.state != "Evicting":
        return False
    return after.pods.running > _held(before)


def _runs(before: GangLine | None, after: GangLine) -> Became | None:
    """
    Say what became of a gang that runs: what an earlier plan began it may go on with.
    """
    if before is None:
        return Became.NEW
    if before.state in {"Waiting", "Reserved"}:
        return Became.STARTS
    grows = Became.GROWS if after.state == "Growing" else None
    return _other_pods(before, after) or grows


def _same_state(before: GangLine, after: GangLine) -> Became | None:
    if before.state == "Waiting":
        reasons = [each.waiting and each.waiting.reason for each in (before, after)]
        otherwise = Became.WAITS_OTHERWISE if reasons[0] != reasons[1] else None
        return _other_pods(before, after) or otherwise
    return _other_pods(before, after)


def _other_pods(before: GangLine, after: GangLine) -> Became | None:
    more = _held(after) - _held(before)
    if not more:
        return None
    if before.state == "Evicting":
        return Became.STAYS if more > 0 else Became.LEAVES
    return Became.GROWS if more > 0 else Became.SHRINKS


def _held(line: GangLine) -> int:
    pods = line.pods
    return pods.running + pods.binding - pods.evicting


def _elsewhere(before: Plan, after: Plan) -> int:
    """
    Count the pods that both plans bind, each to another node.
    """
    there = {step.pod: step.node for step in before.operations if step.op == "Bind"}
    return sum(
        step.op == "Bind" and there.get(step.pod, step.node) != step.node
        for step in after.operations
    )


def tier_pairs(
    before: Plan, after: Plan
) -> Iterator[tuple[TierResult | None, TierResult | None]]:
    """
    Put the tiers of two plans side by side; one that a plan does not list is none.

    They stand in the order of the plan that lists more.
    """
    tables = [
        {(tier.name, tier.band): tier for tier in plan.tiers}
        for plan in (before, after)
    ]
    first, second = sorted(tables, key=len, reverse=True)
    for key in [*first, *(key for key in second if key not in first)]:
        yield tables[0].get(key), tables[1].get(key)


def is_loss(tier: TierResult) -> bool:
    """
    Tell whether a plan lists a tier only where it loses something.
    """
    return tier.name in LOSSES and tier.name != "disruption"


def difference_document(found: PlanDifference) -> dict[str, Any]:
    """
    Give the difference as plain values.
    """
    return {
        "differs": found.is_any,
        "gangs": [
            {
                "name": each.line.name,
                "queue": each.line.queue,
                "became": each.became.value,
                "before": _said(each.before),
                "after": _said(each.after),
                "evicted": list(each.evicted),
                "rules": list(each.rules),
                "for": list(each.beneficiaries),
            }
            for each in found.gangs
        ],
        "podsElsewhere": found.elsewhere,
    }


def _said(line: GangLine | None) -> dict[str, Any] | None:
    if line is None:
        return None
    waiting = line.waiting
    return {
        "state": line.state,
        "reason": waiting.reason.value if waiting else None,
        "message": waiting.message if waiting else None,
        "pods": _held(line),
    }
