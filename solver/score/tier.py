"""
The tiers, one record each: what it counts, what a draft adds, and the best it could.

The rows of the model that say the same are in ``encode/tier_rows.py``.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from models.plan import Direction
from models.policy import TierName
from models.resources import Resources
from solver.place.draft import Draft
from solver.place.preferred_now import unmet
from solver.problem.gang_state import Standing
from solver.problem.lateness import is_apart, late_value
from solver.problem.leaving_pods import loss_of
from solver.problem.problem import Problem, Step, Unit
from solver.problem.running_domains import frozen_spread, least_spread, spread_of
from solver.problem.start_values import borrowing_value, entitled_value
from solver.score.left_over import least_left_over, left_over
from solver.score.reserved_pods import kept_by_all

LossName = Literal[
    "disruption",
    "disruption-gangs",
    "disruption-pods",
    "disruption-rank",
    "disruption-age",
    "disruption-size",
    "preemption",
    "preemption-gangs",
    "preemption-pods",
    "preemption-rank",
    "preemption-age",
    "preemption-size",
]
AnyTier = TierName | LossName | Literal["asked"]
"""
The tiers of policies, the further measures of what is lost, and the start of who must.
"""


@dataclass(frozen=True, slots=True)
class TierKey:
    """
    One tier to solve: its name, the bands it counts, their label, and its direction.

    Its values count in so many ``pieces`` of what people count.
    """

    name: AnyTier
    bands: range
    label: int | None
    direction: Direction
    gap: float
    pieces: int = 1


LOSSES: Mapping[AnyTier, tuple[Step, int]] = {
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """
    What a tier counts: what is decided already, and what a draft adds to it.

    ``reach`` is the best that any draft can add, by arithmetic.  ``apart`` is what a
    start's worth in the tier depends on besides the kind of its unit: units that differ
    there are of several types in the model.  Some count more ``beside_starts``; where
    starts are all that counts, each adds its ``worth``.
    """

    direction: Direction
    decided: Callable[[Problem, TierKey], int]
    added: Callable[[Problem, Draft, TierKey], int]
    reach: Callable[[Problem, TierKey], int]
    apart: Callable[[Problem, Unit], object] | None = None
    worth: Callable[[Problem, Sequence[Unit]], int] = lambda *_: 0
    by_band: bool = False
    beside_starts: bool = False


# --- entitled and borrowing starts ------------------------------------------------


def _started(problem: Problem, draft: Draft) -> list[Unit]:
    return [unit for unit in problem.units if draft.starts(unit)]


def _startable(problem: Problem) -> list[Unit]:
    return [unit for unit in problem.units if unit.starts]


def _in_band(units: Sequence[Unit], key: TierKey) -> Iterator[Standing]:
    return (state for u in units if u.band in key.bands for state in u.states)


def _entitled(
    problem: Problem, key: TierKey, units: Sequence[Unit], names: Collection[str]
) -> int:
    mine = (state for state in _in_band(units, key) if state.key in names)
    return entitled_value(problem, mine)


def _borrowing(
    problem: Problem, key: TierKey, units: Sequence[Unit], entitled: Collection[str]
) -> int:
    mine = (state for state in _in_band(units, key) if state.key not in entitled)
    return borrowing_value(problem, mine)


def _band_and_age(problem: Problem, unit: Unit) -> object:
    return unit.band, problem.policy.quarters(unit.states[0].gang.age)


_ENTITLED = Tier(
    direction="max",
    decided=lambda problem, key: _entitled(
        problem, key, problem.frozen.units, problem.frozen.entitled
    ),
    added=lambda problem, draft, key: _entitled(
        problem, key, _started(problem, draft), draft.entitled
    ),
    reach=lambda problem, key: entitled_value(
        problem, _in_band(_startable(problem), key)
    ),
    apart=_band_and_age,
    by_band=True,
)
_BORROWING = Tier(
    direction="max",
    decided=lambda problem, key: _borrowing(
        problem, key, problem.frozen.units, problem.frozen.entitled
    ),
    added=lambda problem, draft, key: _borrowing(
        problem, key, _started(problem, draft), draft.entitled
    ),
    reach=lambda problem, key: _borrowing(problem, key, _startable(problem), ()),
    apart=_band_and_age,
    by_band=True,
)


# --- what is lost -----------------------------------------------------------------


def _decided_loss(problem: Problem, key: TierKey) -> int:
    step, part = LOSSES[key.name]
    return problem.frozen.losses[step].measures[part]


def _loss(problem: Problem, draft: Draft, key: TierKey) -> int:
    step, part = LOSSES[key.name]
    return loss_of(draft.exits).measures[part] if step == problem.step else 0


def _nothing(_problem: Problem, _key: TierKey) -> int:
    return 0


_LOSS = Tier(direction="min", decided=_decided_loss, added=_loss, reach=_nothing)


def _topology(problem: Problem, draft: Draft, _key: TierKey) -> int:
    return sum(
        spread_of(problem, state, draft.places.get(state.key))
        for unit in problem.units
        for state in unit.states
    )


def _packing(problem: Problem, draft: Draft, _key: TierKey) -> int:
    touched = {node for places in draft.places.values() for node in places.nodes}
    return sum(int(problem.room.holes[host]) ** 2 for host in touched)


_TOPOLOGY = Tier(
    direction="min",
    decided=lambda problem, _key: frozen_spread(problem),
    added=_topology,
    reach=lambda problem, _key: least_spread(problem),
    beside_starts=True,
)
_NEIGHBOURS = Tier(
    direction="min", decided=_nothing, added=unmet, reach=_nothing, beside_starts=True
)
_FRAGMENTS = Tier(
    direction="min",
    decided=lambda problem, _key: kept_by_all(problem, "expected-fragments"),
    added=lambda problem, draft, _key: left_over(problem, draft),
    reach=lambda problem, _key: least_left_over(problem),
    beside_starts=True,
)
_PACKING = Tier(
    direction="min",
    decided=lambda problem, _key: kept_by_all(problem, "packing"),
    added=_packing,
    reach=_nothing,
    beside_starts=True,
)


# --- how much runs ----------------------------------------------------------------


def _decided_surplus(problem: Problem, _key: TierKey) -> int:
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


def _surplus(problem: Problem, draft: Draft, _key: TierKey) -> int:
    total = 0
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


def _most_surplus(problem: Problem, _key: TierKey) -> int:
    # The value of every pending pod, less what each gang needs at least if it starts.
    total = 0
    for unit in problem.units:
        more = sum(
            problem.values.of_pod(leaf.pod_set.requests) * len(leaf.pending)
            for state in unit.states
            for leaf in state.leaves
        )
        if unit.starts:
            more -= sum(problem.least_value[s.key] for s in unit.states)
        total += max(0, more)
    return total


def _pods_to_come(_problem: Problem, unit: Unit) -> object:
    return tuple(len(leaf.pending) for leaf in unit.states[0].leaves)


def _placed(draft: Draft, problem: Problem, price: Callable[[Resources], int]) -> int:
    return sum(
        price(leaf.pod_set.requests) * draft.num_placed(state, i)
        for unit in problem.units
        for state in unit.states
        for i, leaf in enumerate(state.leaves)
    )


def _pending(problem: Problem, price: Callable[[Resources], int]) -> int:
    return sum(
        len(leaf.pending) * price(leaf.pod_set.requests)
        for unit in problem.units
        for state in unit.states
        for leaf in state.leaves
    )


_SURPLUS = Tier(
    direction="max",
    decided=_decided_surplus,
    added=_surplus,
    reach=_most_surplus,
    apart=_pods_to_come,
    beside_starts=True,
)
_GPUS = Tier(
    direction="max",
    decided=lambda problem, _key: problem.running_gpus,
    added=lambda problem, draft, _key: _placed(draft, problem, problem.gpus_of),
    reach=lambda problem, _key: _pending(problem, problem.gpus_of),
)
_PODS = Tier(
    direction="max",
    decided=lambda problem, _key: problem.running_pods,
    added=lambda problem, draft, _key: _placed(draft, problem, lambda _: 1),
    reach=lambda problem, _key: _pending(problem, lambda _: 1),
)


def _gangs(_problem: Problem, units: Sequence[Unit]) -> int:
    return sum(len(unit.states) for unit in units)


def _late(problem: Problem, units: Sequence[Unit]) -> int:
    return sum(late_value(problem, unit) for unit in units)


def _asked(problem: Problem, units: Sequence[Unit]) -> int:
    return sum(unit.key == problem.asked for unit in units)


def _place_in_order(problem: Problem, units: Sequence[Unit]) -> int:
    """
    Count positions from the end: the first in the policy's order counts most.
    """
    count = len(problem.positions)
    return sum(
        count - problem.positions[state.key] for unit in units for state in unit.states
    )


def _of_starts(
    worth: Callable[[Problem, Sequence[Unit]], int],
    apart: Callable[[Problem, Unit], object] | None = None,
) -> Tier:
    """
    Give the record of a tier to which each start adds what it is worth.
    """
    return Tier(
        direction="max",
        decided=lambda problem, _key: worth(problem, problem.frozen.units),
        added=lambda problem, draft, _key: worth(problem, _started(problem, draft)),
        reach=lambda problem, _key: worth(problem, _startable(problem)),
        apart=apart,
        worth=worth,
    )


_ASKED, _LATE = _of_starts(_asked, is_apart), _of_starts(_late, is_apart)
_ORDER = _of_starts(_place_in_order)
_GANGS = replace(_of_starts(_gangs), decided=lambda problem, _key: problem.satisfied)
_EVERY: Mapping[AnyTier, Tier] = {
    **dict.fromkeys(LOSSES, _LOSS),
    "asked": _ASKED,
    "entitled": _ENTITLED,
    "borrowing": _BORROWING,
    "topology": _TOPOLOGY,
    "neighbours": _NEIGHBOURS,
    "surplus": _SURPLUS,
    "expected-fragments": _FRAGMENTS,
    "packing": _PACKING,
    "gpus": _GPUS,
    "pods": _PODS,
    "gangs": _GANGS,
    "late": _LATE,
    "order": _ORDER,
}


def tier_of(name: AnyTier) -> Tier:
    """
    Give the record of a tier.
    """
    if name not in _EVERY:
        raise AssertionError(name)
    return _EVERY[name]
