"""
The whole round in the small model: the best over all optimal outcomes of its steps.

What is equal in the tiers of a step is listed one by one; later steps are asked for
each of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from exact.evictions.step import RULES, Frozen, Place, Stage, Step
from exact.evictions.steps import (
    build_step,
    first_tiers,
    optimise,
    second_tiers,
    third_tiers,
)
from exact.facts import Facts, gather
from exact.search import Value
from exact.small_model import Shares
from exact.solved import UndecidedError, solved
from models.policy import Policy
from models.snapshot import Snapshot
from solver.effort.cp_sat import cp_model

_MINIMISED = ("disruption", "preemption", "topology", "neighbours", "packing")


def best_round(
    snapshot: Snapshot, policy: Policy, shares: Shares, most: int = 200
) -> list[Value]:
    """
    Give the best vector of all tiers over all outcomes that are optimal in their steps.

    Parameters
    ----------
    snapshot
        A small case without reservations, as for one step.
    policy
        Its tiers, entitled starts first, as by default.
    shares
        The fair share per queue and named resource.
    most
        More outcomes than this in all are not listed.
    """
    best = _best(snapshot, policy, shares, most, "")
    if best is None:
        raise UndecidedError("the small model has no plan at all, not even none")
    return best


def best_round_that_starts(
    gang: str, snapshot: Snapshot, policy: Policy, shares: Shares, most: int = 200
) -> list[Value] | None:
    """
    Give the best vector of a round in which a gang starts, if there is one.

    Parameters
    ----------
    gang
        Who is to start, of those that wait.
    snapshot, policy, shares, most
        As for ``best_round``.
    """
    return _best(snapshot, policy, shares, most, gang)


def _best(
    snapshot: Snapshot, policy: Policy, shares: Shares, most: int, gang: str
) -> list[Value] | None:
    before = gather(snapshot)
    best: list[Value] | None = None
    left = most
    for first, entitled in _outcomes(before, policy, shares, Frozen(), Stage.ENTITLED):
        for frozen, lost in _outcomes(before, policy, shares, first, Stage.BORROWING):
            left -= 1
            if left < 0:
                raise UndecidedError(f"more than {most} outcomes are equally good")
            step = build_step(before, policy, shares, Stage.IDLE, frozen)
            if gang and not _could(step, {gang}):
                continue
            if gang:
                step.cp.add(step.small.starts[gang] == 1)
            idle = optimise(step, third_tiers(step))
            if idle is not None:
                found = _in_order([*entitled, *lost, *idle])
                best = found if best is None else max(best, found, key=_rank)
    return best


def _outcomes(
    before: Facts, policy: Policy, shares: Shares, earlier: Frozen, stage: Stage
) -> Iterator[tuple[Frozen, list[Value]]]:
    """
    Walk what may be frozen in a step, with its tiers.

    Nobody is reserved where all start who may without it.
    """
    step = build_step(before, policy, shares, stage, earlier)
    may = {key for key in step.beneficiaries() if _could(step, {key})}
    tiers = first_tiers(step) if stage is Stage.ENTITLED else second_tiers(step)
    values = optimise(step, tiers)
    if values is None:
        return
    if may and _could(step, may, bound=True):
        for key in may:
            step.cp.add(step.reserved[key] == 0)
    numbers = _numbers(step)
    step.cp.clear_objective()  # type: ignore[no-untyped-call]
    while (solver := solved(step.cp)) is not None:
        yield _read(step, solver, stage), values
        _forbid(step, solver, numbers)


def _could(step: Step, keys: set[str], *, bound: bool = False) -> bool:
    """
    Tell whether some gangs could start in a step, if need be with all their pods bound.
    """
    if not keys <= step.small.starts.keys():
        return False
    model = step.cp.clone()
    model.clear_objective()  # type: ignore[no-untyped-call]
    for key in keys:
        model.add(step.small.starts[key] == 1)
        if bound:
            model.add(step.reserved[key] == 0)
    return solved(model) is not None


def _numbers(step: Step) -> list[cp_model.IntVar]:
    """
    List what tells outcomes apart: who leaves, where to, and who is reserved where.
    """
    found = [
        step.gone[runner.key, rule]
        for runner in step.runners
        for rule in RULES
        if runner.key not in step.frozen.departures
    ]
    found += list(step.targets.values())
    for place, var in step.small.binds.items():
        if place[0] in step.reserved and place[0] not in step.frozen.reserved:
            held = step.cp.new_int_var(0, step.most, "")
            step.cp.add(held == var - step.now[place])
            found.append(held)
    return found


def _read(step: Step, solver: cp_model.CpSolver, stage: Stage) -> Frozen:
    places: Counter[Place] = Counter(step.frozen.places)
    entitled = set(step.frozen.entitled)
    for key, literal in step.reserved.items():
        if solver.value(literal) and key not in step.frozen.reserved:
            if stage is Stage.ENTITLED:
                entitled.add(key)
            for place, var in step.small.binds.items():
                if place[0] == key and solver.value(var):
                    places[place] = solver.value(var)
    departures = {
        runner.key: rule
        for runner in step.runners
        for rule in RULES
        if solver.value(step.gone[runner.key, rule])
    }
    is_first = stage is Stage.ENTITLED
    return Frozen(
        departures=departures,
        targets=Counter(
            {p: solver.value(v) for p, v in step.targets.items() if solver.value(v)}
        ),
        places=places,
        entitled=frozenset(entitled),
        first=frozenset(departures) if is_first else step.frozen.first,
    )


def _forbid(
    step: Step, solver: cp_model.CpSolver, numbers: Sequence[cp_model.IntVar]
) -> None:
    """
    Ensure that one of the numbers differs from what was found.
    """
    differs = []
    for number in numbers:
        value = solver.value(number)
        less, more = step.cp.new_bool_var(""), step.cp.new_bool_var("")
        step.cp.add(number <= value - 1).only_enforce_if(less)
        step.cp.add(number >= value + 1).only_enforce_if(more)
        differs += [less, more]
    step.cp.add_bool_or(differs)


def _in_order(values: Sequence[Value]) -> list[Value]:
    """
    Order the tiers as the default policy does; of one listed twice the later counts.
    """
    last = {(name, band): value for name, band, value in values}
    names = ("entitled", "disruption", "borrowing", "preemption")

    def place(name: str) -> int:
        return next((i for i, x in enumerate(names) if name.startswith(x)), len(names))

    ordered = sorted(last, key=lambda key: place(key[0]))
    return [(name, band, last[name, band]) for name, band in ordered]


def first_worse(
    have: Mapping[tuple[str, int | None], int], values: Sequence[Value]
) -> Value | None:
    """
    Give the first tier that differs, where some plan has less than the small model.

    A plan may have more: what follows a step in idle room can make up for an outcome of
    it that is not the best by itself.
    """
    for name, band, value in _in_order(values):
        mine = have.get((name, band), 0)
        if mine != value:
            is_less = mine > value if name.startswith(_MINIMISED) else mine < value
            return (name, band, value) if is_less else None
    return None


def worse_in_a_step(
    have: Mapping[tuple[str, int | None], int], *steps: Sequence[Value]
) -> Value | None:
    """
    Give the first tier in which some plan has less than a step, each asked by itself.

    A plan that has more in a tier of a step, since starts in idle room follow, may lose
    more below.  What the last step, that of idle room, loses is nothing; a plan's own
    is said by the steps before.
    """
    for step in steps:
        idle = [value for value in step if not value[0].startswith("preemption")]
        worse = first_worse(have, idle if step is steps[-1] else step)
        if worse is not None:
            return worse
    return None


def _rank(values: Sequence[Value]) -> list[int]:
    return [-n if name.startswith(_MINIMISED) else n for name, _, n in values]
