"""
The score: what a draft is worth in every tier of the policy.

It stands outside the strategies, so that a comparison cannot favour its author.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from models.plan import Direction
from models.policy import Policy
from models.resources import num_gpus
from solver.place.draft import Draft
from solver.problem.lateness import late_value
from solver.problem.leaving_pods import loss_of
from solver.problem.problem import Problem, Step
from solver.problem.running_domains import frozen_spread, spread_of


@dataclass(frozen=True, slots=True)
class TierKey:
    """
    One tier to solve: its name, its band's index and label, and its direction.
    """

    name: str
    band: int | None
    label: int | None
    direction: Direction
    gap: float


LOSSES: Mapping[str, tuple[Step, int]] = {
    "disruption": (Step.ENTITLED, 0),
    "disruption-gangs": (Step.ENTITLED, 1),
    "disruption-pods": (Step.ENTITLED, 2),
    "disruption-rank": (Step.ENTITLED, 3),
    "disruption-age": (Step.ENTITLED, 4),
    "disruption-size": (Step.ENTITLED, 5),
    "preemption": (Step.BORROWING, 0),
    "preemption-gangs": (Step.BORROWING, 1),
    "preemption-pods": (Step.BORROWING, 2),
    "preemption-rank": (Step.BORROWING, 3),
    "preemption-age": (Step.BORROWING, 4),
    "preemption-size": (Step.BORROWING, 5),
}
"""
What is lost: for the starts of which step, and which of its measures.
"""

MINIMISED = frozenset({*LOSSES, "topology", "packing"})


def tier_keys(problem: Problem) -> tuple[TierKey, ...]:
    """
    Expand the policy's tiers, one per band where values count by band; order is last.
    """
    keys: list[TierKey] = []
    listed = _listed(problem.policy)
    for name, own_gap in [*listed, ("order", None)]:
        gap = problem.policy.limits.gap if own_gap is None else own_gap
        way: Direction = "min" if name in MINIMISED else "max"
        if name in {"entitled", "borrowing"}:
            keys += [
                TierKey(name, band, label, way, gap)
                for band, label in problem.bands.falling
            ]
        else:
            keys.append(TierKey(name, None, None, way, gap))
    return tuple(keys)


def _listed(policy: Policy) -> list[tuple[str, float | None]]:
    """
    List the policy's tiers, with the measures of loss that follow each other.
    """
    found: list[tuple[str, float | None]] = []
    for tier in policy.tiers:
        if tier.name == "order":
            continue
        found.append((tier.name, tier.gap))
        if tier.name == "disruption":
            more = [name for name in LOSSES if name.startswith("disruption-")]
            found += [(name, tier.gap) for name in more]
        elif tier.name == "borrowing" and policy.evicts(borrowing=True):
            found += [(name, None) for name in LOSSES if name.startswith("preemption")]
    return found


def score(
    problem: Problem, draft: Draft, keys: Sequence[TierKey] | None = None
) -> tuple[int, ...]:
    """
    Give a draft's value in every tier, or in some.
    """
    return tuple(
        _SCORES[key.name](problem, draft, key)
        for key in (tier_keys(problem) if keys is None else keys)
    )


def is_better(
    keys: tuple[TierKey, ...], new: tuple[int, ...], old: tuple[int, ...]
) -> bool:
    """
    Compare two scores in the policy's order; equal is not better.
    """
    for key, mine, other in zip(keys, new, old, strict=False):
        if mine != other:
            return (mine > other) == (key.direction == "max")
    return False


def _entitled(problem: Problem, draft: Draft, key: TierKey) -> int:
    frozen = problem.frozen
    found = [(u, draft.entitled) for u in problem.units if draft.starts(u)]
    found += [(unit, frozen.entitled) for unit in frozen.units]
    return sum(
        problem.weight(state)
        for unit, entitled in found
        if unit.band == key.band
        for state in unit.states
        if state.key in entitled
    )


def _borrowing(problem: Problem, draft: Draft, key: TierKey) -> int:
    frozen = problem.frozen
    found = [(u, draft.entitled) for u in problem.units if draft.starts(u)]
    found += [(unit, frozen.entitled) for unit in frozen.units]
    return sum(
        problem.weight(state) * problem.borrow_factor(state.gang.queue)
        for unit, entitled in found
        if unit.band == key.band
        for state in unit.states
        if state.key not in entitled
    )


def _loss(problem: Problem, draft: Draft, key: TierKey) -> int:
    step, part = LOSSES[key.name]
    loss = problem.frozen.losses[step]
    if step == problem.step:
        loss += loss_of(draft.exits)
    return loss.measures[part]


def _topology(problem: Problem, draft: Draft, _key: TierKey) -> int:
    return frozen_spread(problem) + sum(
        spread_of(problem, state, draft.places.get(state.key))
        for unit in problem.units
        for state in unit.states
    )


def _surplus(problem: Problem, draft: Draft, _key: TierKey) -> int:
    total = frozen_surplus(problem)
    for unit in problem.units:
        for state in unit.states:
            places = draft.places.get(state.key)
            if places is None:
                continue
            for leaf, hosts in zip(state.leaves, places, strict=True):
                if hosts:
                    value = problem.values.of_pod(leaf.pod_set.requests)
                    total += value * len(hosts)
            if unit.starts:
                total -= problem.least_value[state.key]
    return total


def frozen_surplus(problem: Problem) -> int:
    """
    Give the value of reserved pods beyond what their gangs need at least.
    """
    total = 0
    for unit in problem.frozen.units:
        for state in unit.states:
            places = problem.frozen.places[state.key]
            for leaf, hosts in zip(state.leaves, places, strict=True):
                total += problem.values.of_pod(leaf.pod_set.requests) * len(hosts)
            total -= problem.least_value[state.key]
    return total


def _packing(problem: Problem, draft: Draft, _key: TierKey) -> int:
    touched = {
        host for places in draft.places.values() for hosts in places for host in hosts
    }
    return sum(int(problem.room.holes[host]) ** 2 for host in touched)


def _gpus(problem: Problem, draft: Draft, _key: TierKey) -> int:
    return problem.running_gpus + sum(
        num_gpus(leaf.pod_set.requests) * draft.num_placed(state, i)
        for unit in problem.units
        for state in unit.states
        for i, leaf in enumerate(state.leaves)
    )


def _pods(problem: Problem, draft: Draft, _key: TierKey) -> int:
    return problem.running_pods + sum(
        len(hosts) for places in draft.places.values() for hosts in places
    )


def _gangs(problem: Problem, draft: Draft, _key: TierKey) -> int:
    return problem.satisfied + sum(
        len(unit.states) for unit in problem.units if draft.starts(unit)
    )


def _late(problem: Problem, draft: Draft, _key: TierKey) -> int:
    started = [unit for unit in problem.units if draft.starts(unit)]
    return sum(late_value(problem, u) for u in (*started, *problem.frozen.units))


def _order(problem: Problem, draft: Draft, _key: TierKey) -> int:
    count = len(problem.positions)
    return frozen_order(problem) + sum(
        count - problem.positions[state.key]
        for unit in problem.units
        if draft.starts(unit)
        for state in unit.states
    )


def frozen_order(problem: Problem) -> int:
    """
    Count the positions of gangs that are reserved.
    """
    count = len(problem.positions)
    return sum(
        count - problem.positions[state.key]
        for unit in problem.frozen.units
        for state in unit.states
    )


_SCORES: dict[str, Callable[[Problem, Draft, TierKey], int]] = {
    "entitled": _entitled,
    **dict.fromkeys(LOSSES, _loss),
    "borrowing": _borrowing,
    "topology": _topology,
    "surplus": _surplus,
    "packing": _packing,
    "gpus": _gpus,
    "pods": _pods,
    "gangs": _gangs,
    "late": _late,
    "order": _order,
}
