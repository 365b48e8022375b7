"""
Gangs before and after the plan: what they get, and what they lose.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from models.gangs import Gang, MatchPolicy, PodPhase, PodSet, pod_sets
from solver.verify.gang_counts import counted, is_ordinary, is_satisfied, tally
from solver.verify.plan_steps import STALE, Deeds, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One gang before and after the plan; ``got`` is leaf to node to pods with a place.

    ``bound`` and ``placed`` are bound pods per leaf, without and with reserved ones;
    ``before``, ``now`` and ``after``
    the pods that count per leaf before the plan, once its binds are done, and once
    all of it is done.  It ``starts`` where it needed something and pods are placed.
    """

    gang: Gang
    deeds: Deeds
    got: Mapping[str, Mapping[str, int]]
    bound: Mapping[str, int]
    placed: Mapping[str, int]
    before: Mapping[str, int]
    now: Mapping[str, int]
    after: Mapping[str, int]
    ordinary: bool
    starts: bool

    @property
    def satisfied_after(self) -> bool:
        """
        Whether the gang's minimums hold after the plan.
        """
        return self.ordinary or is_satisfied(self.gang.tree, self.after)

    @property
    def numbers(self) -> tuple[int, int, int]:
        """
        How many pods are bound, reserved and moved.
        """
        bound, placed = sum(self.bound.values()), sum(self.placed.values())
        return bound, placed - bound, sum(_per_leaf(self.deeds.arriving).values())

    @property
    def told(self) -> str:
        """
        How many pods get a place, in words.
        """
        return told(*self.numbers)

    def hosts(self, leaf: PodSet) -> Counter[str]:
        """
        Count the pods of a leaf that run and stay, per node.
        """
        running = Counter(
            pod.node
            for pod in leaf.pods
            if pod.phase is PodPhase.RUNNING and pod.node is not None
        )
        return running - Counter(self.deeds.departed.get(leaf.name, {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class GangLoss:
    """
    What one gang loses, per leaf: pods evicted, per rule and in all, and moved.

    ``for_others`` counts all of them but those evicted because the gang is stale.
    """

    gang: Gang
    running: Mapping[str, int]
    rules: Mapping[str, Mapping[str, int]]
    evicted: Mapping[str, int]
    moved: Mapping[str, int]
    for_others: int

    @property
    def whole(self) -> bool:
        """
        Whether every running pod is evicted.
        """
        return sum(self.evicted.values()) == sum(self.running.values())

    @property
    def stays(self) -> int:
        """
        How many running pods are neither evicted nor moved.
        """
        gone = sum(self.evicted.values()) + sum(self.moved.values())
        return sum(self.running.values()) - gone


def told(bound: int, reserved: int, moved: int) -> str:
    """
    Say what happens to pods: "2 pods bound", "1 pods bound and 2 reserved".
    """
    numbers = ((bound, "bound"), (reserved, "reserved"), (moved, "moved"))
    first, *others = [f"{number} {word}" for number, word in numbers if number]
    return " and ".join([first.replace(" ", " pods ", 1), *others])


def case_of(gang: Gang, deeds: Deeds) -> Case:
    """
    Count a gang that gets places, or starts with one that does.
    """
    before = counted(gang, {leaf.name: tally(leaf) for leaf in pod_sets(gang.tree)})
    ordinary = is_ordinary(gang, before)
    bound, reserved = _per_leaf(deeds.bound), _per_leaf(deeds.reserved)
    now = _more(before, bound)
    if deeds.evicted and gang.match_policy is not MatchPolicy.ONLY_WAITING:
        gone = _over_rules(deeds.evicted)
        now = {name: have - gone.get(name, 0) for name, have in now.items()}
    both = _merged(deeds.bound, deeds.reserved)
    return Case(
        gang=gang,
        deeds=deeds,
        got=_merged(both, deeds.arriving),
        bound=bound,
        placed=_more(bound, reserved),
        before=before,
        now=now,
        after=_more(now, reserved),
        ordinary=ordinary,
        starts=bool(both) and not ordinary and not is_satisfied(gang.tree, before),
    )


def _per_leaf(places: Rows) -> Mapping[str, int]:
    return {name: sum(row.values()) for name, row in places.items()} if places else {}


def _more(have: Mapping[str, int], more: Mapping[str, int]) -> Mapping[str, int]:
    """
    Add pods per leaf to others.
    """
    if not have or not more:
        return have or more
    return {name: have.get(name, 0) + more.get(name, 0) for name in {**have, **more}}


def _merged(some: Rows, others: Rows) -> Rows:
    """
    Add pods per leaf and node to others.
    """
    if not some or not others:
        return some or others
    names = [*some, *(name for name in others if name not in some)]
    return {name: _more(some.get(name, {}), others.get(name, {})) for name in names}


def loss_of(gang: Gang, deeds: Deeds) -> GangLoss:
    """
    Count a gang that loses pods.
    """
    evicted, moved = _over_rules(deeds.evicted), _per_leaf(deeds.arriving)
    stale = sum(deeds.evicted.get(STALE, {}).values())
    return GangLoss(
        gang=gang,
        running={leaf.name: _running(leaf) for leaf in pod_sets(gang.tree)},
        rules=deeds.evicted,
        evicted=evicted,
        moved=moved,
        for_others=sum(evicted.values()) + sum(moved.values()) - stale,
    )


def _over_rules(rules: Rows) -> Mapping[str, int]:
    """
    Add up over all rules the pods that each leaf loses.
    """
    total: Mapping[str, int] = {}
    for row in rules.values():
        total = _more(total, row)
    return total


def _running(leaf: PodSet) -> int:
    return sum([pod.phase is PodPhase.RUNNING for pod in leaf.pods])
