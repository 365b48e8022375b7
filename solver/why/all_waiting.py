"""
What holds back all that waits, and which single change would start the most of it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from models.changes import (
    AddedNodes,
    Change,
    ChangesRejectedError,
    ClosedNode,
    NewAmount,
    QueueRule,
)
from models.devices.gpu_counts import in_gpus, shares_asked
from models.nodes import Node
from models.plan import Plan
from models.policy import Policy
from models.resources import unit_of as pieces_of
from models.snapshot import Snapshot
from models.why.remedies import Remedy, WhySummary, held_back
from models.why.verdicts import Verdict, WhyWaits
from solver.problem.gang_state import least_need
from solver.problem.problem import Problem
from solver.problem.unit_kind import unit_kind
from solver.why.menu_of_room import closed_to, kinds_of_nodes, price_of
from solver.why.trial import Trial, guessed, try_out
from solver.why.why_waits import RoundAsked, unit_of
from solver.why.worlds import offered

UNITS = 40.0
"""
Deterministic units for all that is asked about gangs.
"""
MOST_TRIED = 6
_OF_QUEUES = frozenset({Verdict.LIMIT, Verdict.QUOTA})


def why_all_wait(
    snapshot: Snapshot,
    policy: Policy,
    plan: Plan,
    *,
    wanted: Callable[[str], bool] = lambda _: True,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> WhySummary:
    """
    Add up what holds back all that waits, and try which change starts most of it.

    Only gangs are looked at whose names are ``wanted``; ``progress`` is told how many
    of them are done, of how many.
    """
    names = [x.name for x in plan.gangs if x.state == "Waiting" and wanted(x.name)]
    each = UNITS / max(1, len(names))
    asked = RoundAsked(snapshot, policy, plan, each, _OF_QUEUES)
    whys: list[WhyWaits] = []
    for at, name in enumerate(names):
        progress(at, len(names))
        whys.append(asked.why(name))
    whys = [why for why in whys if why.verdict is not Verdict.NONE]
    shares = {why.gang: _shares(asked.problem, why.gang) for why in whys}

    def tried(trial: Trial) -> WhySummary:
        return WhySummary(
            gangs=len(whys),
            gpus=in_gpus(sum(shares.values())),
            blockers=held_back(whys, shares),
            best=_best(trial, whys, asked.problem),
            tried=trial.tried,
            untried=trial.untried,
        )

    return try_out(snapshot, policy, plan, "", tried)


def _shares(problem: Problem, gang: str) -> int:
    """
    Give the GPUs that a gang needs at least to start, in 1/7000.
    """
    state = problem.states[gang]
    asked = [shares_asked(leaf.pod_set.requests) for leaf in state.leaves]
    least = least_need(state, asked.__getitem__)
    needed = sum(
        leaf.need * each for leaf, each in zip(state.leaves, asked, strict=True)
    )
    return needed if least is None else least


def _best(trial: Trial, whys: Sequence[WhyWaits], problem: Problem) -> Remedy | None:
    """
    Try single changes; of those that start the most give the cheapest.
    """
    asked = frozenset(why.gang for why in whys)
    tried = [_tried(trial, asked, *one) for one in _changes(trial, whys, problem)]
    best = min((x for x in tried if x), key=lambda remedy: remedy.rank, default=None)
    return best and _least(trial, asked, best)


def _tried(
    trial: Trial, asked: frozenset[str], change: Change, price: int
) -> Remedy | None:
    """
    Plan the round with one change; none where it stops as many as it starts of these.
    """
    try:
        plan = trial.round_of(trial.problem_with((change,)))
    except ChangesRejectedError:
        return None
    if plan is None:
        return None
    remedy = trial.told((change,), price, plan.states)
    remedy = replace(remedy, starts=tuple(x for x in remedy.starts if x in asked))
    return remedy if len(remedy.starts) > len(remedy.waits) else None


def _least(trial: Trial, asked: frozenset[str], best: Remedy) -> Remedy:
    """
    Find the least amount of a queue's number that starts as many.
    """
    (change,) = best.changes
    if not isinstance(change, QueueRule):
        return best
    unit = pieces_of(change.resource)
    most = (change.amount.by or 0) // unit

    def tried(units: int) -> Remedy | None:
        less = replace(change, amount=NewAmount(by=units * unit))
        found = _tried(trial, asked, less, best.price // most * units)
        return found if found is not None and found.rank[0] <= best.rank[0] else None

    less = guessed(range(1, most), tried, lambda: 0) if most > 1 else None
    return less or best


def _changes(
    trial: Trial, whys: Sequence[WhyWaits], problem: Problem
) -> Iterator[tuple[Change, int]]:
    """
    Walk the single changes: more at a queue, a drained node open, one node more.

    Of nodes the first few are tried; how many are left out is counted.
    """
    prices = trial.policy.prices
    entries = [one for why in whys for one in why.because]
    entries += [one for why in whys for core in why.besides for one in core]
    wanted: dict[tuple[Verdict, str, str], int] = {}
    for one in entries:
        if one.rule in _OF_QUEUES and "outside" not in one.facts:
            key = one.rule, one.at, one.resource
            wanted[key] = wanted.get(key, 0) + (one.needs or 0)
    for (rule, queue, resource), needs in sorted(wanted.items()):
        price = prices.limit if rule is Verdict.LIMIT else prices.quota
        units = -(-needs // pieces_of(resource))
        change = QueueRule(
            field="limit" if rule is Verdict.LIMIT else "quota",
            queue=queue,
            resource=resource,
            amount=NewAmount(by=units * pieces_of(resource)),
        )
        yield change, price * units
    closed, kinds = _nodes(problem, [why.gang for why in whys])
    trial.untried += len(closed[MOST_TRIED:]) + len(kinds[MOST_TRIED:])
    for name in closed[:MOST_TRIED]:
        yield ClosedNode(node=name, how="open"), prices.open
    for name in kinds[:MOST_TRIED]:
        node = next(node for node in problem.room.nodes if node.name == name)
        yield AddedNodes(like=name, number=1), price_of(node, prices)


def _nodes(problem: Problem, gangs: Sequence[str]) -> tuple[list[str], list[str]]:
    """
    Name closed nodes for pods of those that wait, and one open node of each kind.

    Those come first on which pods of the most gangs may be.
    """
    offers, known = offered(problem.room), dict[object, tuple[list[Node], ...]]()
    found = Counter[str](), Counter[str]()
    units = {state.key: unit for unit in problem.units for state in unit.states}
    for gang in gangs:
        unit = units.get(gang) or unit_of(problem, gang)
        kind = unit_kind(problem.shapes, unit.states)
        if kind not in known:
            kinds = kinds_of_nodes(problem, unit, offers)
            known[kind] = closed_to(problem, unit), kinds
        for count, nodes in zip(found, known[kind], strict=True):
            count.update(node.name for node in nodes)
    closed, kinds_of = ([name for name, _ in x.most_common()] for x in found)
    return closed, kinds_of
