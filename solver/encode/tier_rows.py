"""
Tiers: what each of them counts, as sums over the model's variables.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from models.plan import Direction
from models.policy import TierName
from solver.effort.cp_sat import cp_model
from solver.encode.capacity import Capacity, add_touched
from solver.encode.node_classes import Classes
from solver.encode.queue_rows import placed
from solver.encode.variables import Linear, RigidVars, TypeVars
from solver.problem.gang_state import Standing
from solver.problem.problem import Problem
from solver.problem.running_domains import running_domains
from solver.problem.start_values import borrowing_value, entitled_value
from solver.score.tier import LOSSES, AnyTier, TierKey, tier_of


def tier_sum(problem: Problem, types: list[TypeVars], key: TierKey) -> Linear:
    """
    Write what a tier counts gang by gang; the sums of other tiers need more than that.
    """
    total = Linear(tier_of(key.name).decided(problem, key))
    add = _OF_GANGS[key.name]
    for kind in types:
        add(problem, kind, key, total)
    return total


def aim_at(model: cp_model.CpModel, row: Linear, direction: Direction) -> None:
    """
    Make a tier's sum the objective.
    """
    if direction == "max":
        model.maximize(row.expression)
    else:
        model.minimize(row.expression)


def keep_at(
    model: cp_model.CpModel, row: Linear, direction: Direction, value: int
) -> None:
    """
    Keep a tier's sum no worse than a value.
    """
    if row.variables and direction == "max":
        model.add(row.expression >= value)
    elif row.variables:
        model.add(row.expression <= value)


def require_better(
    model: cp_model.CpModel, tiers: Iterable[tuple[TierKey, Linear, int]]
) -> None:
    """
    Ensure that some tier is better than its value, and those before it no worse.
    """
    ends = list[cp_model.IntVar]()
    before: cp_model.IntVar | None = None
    for key, row, value in tiers:
        better, kept = model.new_bool_var(""), model.new_bool_var("")
        total = row.expression
        for literal, by in ((better, 1), (kept, 0)):
            if key.direction == "max":
                model.add(total >= value + by).only_enforce_if(literal)
            else:
                model.add(total <= value - by).only_enforce_if(literal)
            if before is not None:
                model.add_implication(literal, before)
        ends.append(better)
        before = kept
    model.add_bool_or(ends)


_OF_MORE: Sequence[TierName] = ("packing", "order", "neighbours", "expected-fragments")
_Rows = Callable[[Problem, TypeVars, TierKey, Linear], None]


def _entitled(problem: Problem, kind: TypeVars, key: TierKey, total: Linear) -> None:
    if kind.sample.starts and kind.sample.band in key.bands:
        weight = entitled_value(problem, kind.sample.states)
        total.add(kind.entitled.variable, weight, kind.entitled.upper)


def _borrowing(problem: Problem, kind: TypeVars, key: TierKey, total: Linear) -> None:
    if not kind.sample.starts or kind.sample.band not in key.bands:
        return
    if kind.entitled.variable is kind.starts.variable:
        return
    weight = borrowing_value(problem, kind.sample.states)
    total.add(kind.starts.variable, weight, kind.starts.upper)
    total.add(kind.entitled.variable, -weight, kind.entitled.upper)


def _topology(problem: Problem, kind: TypeVars, _key: TierKey, total: Linear) -> None:
    for vars_ in kind.states:
        if isinstance(vars_, RigidVars):
            continue
        for at, node in enumerate(vars_.state.nodes):
            demand = node.topology
            if demand is None or demand.preferred is None:
                continue
            running = running_domains(problem, vars_.state, node, demand.preferred)
            total.constant += max(0, len(running) - 1)
            if at not in vars_.active:
                continue
            for (owner, _), used in vars_.used.items():
                if owner == at:
                    total.add(used, 1, 1)
            if not running:
                total.add(vars_.active[at].variable, -1, vars_.active[at].upper)


def _surplus(problem: Problem, kind: TypeVars, _key: TierKey, total: Linear) -> None:
    for vars_ in kind.states:
        state = vars_.state
        if isinstance(vars_, RigidVars):
            for (i, _), more in vars_.surplus.items():
                total.add(more.variable, _value(problem, state, i), more.upper)
            continue
        for (i, _), count in vars_.counts.items():
            total.add(count.variable, _value(problem, state, i), count.upper)
        if kind.sample.starts:
            least = problem.least_value[state.key]
            total.add(kind.starts.variable, -least, kind.starts.upper)


def _value(problem: Problem, state: Standing, leaf: int) -> int:
    return problem.values.of_pod(state.leaves[leaf].pod_set.requests)


def _pods(_problem: Problem, kind: TypeVars, _key: TierKey, total: Linear) -> None:
    for vars_ in kind.states:
        for row in placed(vars_, kind.starts).values():
            total.extend(row)


def _gpus(problem: Problem, kind: TypeVars, _key: TierKey, total: Linear) -> None:
    for vars_ in kind.states:
        for i, row in placed(vars_, kind.starts).items():
            requests = vars_.state.leaves[i].pod_set.requests
            gpus = problem.gpus_of(requests)
            for variable, coefficient in zip(
                row.variables, row.coefficients, strict=True
            ):
                total.add(variable, coefficient * gpus, 1)


def _starts(problem: Problem, kind: TypeVars, key: TierKey, total: Linear) -> None:
    if kind.sample.starts:
        weight = tier_of(key.name).worth(problem, [kind.sample])
        total.add(kind.starts.variable, weight, kind.starts.upper)


_OF_GANGS: Mapping[AnyTier, _Rows] = {
    **dict.fromkeys((*LOSSES, *_OF_MORE), lambda *_: None),
    "asked": _starts,
    "entitled": _entitled,
    "borrowing": _borrowing,
    "topology": _topology,
    "surplus": _surplus,
    "gpus": _gpus,
    "pods": _pods,
    "gangs": _starts,
    "late": _starts,
}


def packing_sum(
    model: cp_model.CpModel, classes: Classes, capacity: Capacity
) -> Linear:
    """
    Write the tier ``packing``: the holes of the nodes that are touched.
    """
    add_touched(model, capacity)
    total = Linear()
    for at, touched in capacity.touched.items():
        item = classes.items[at]
        total.add(touched, item.hole**2, len(item.nodes))
    return total


def order_sum(
    model: cp_model.CpModel, problem: Problem, types: list[TypeVars], key: TierKey
) -> Linear:
    """
    Write the tier ``order``: the k-th start of a type is that of its k-th oldest gang.
    """
    tier = tier_of(key.name)
    total = Linear(tier.decided(problem, key))
    for kind in types:
        if not kind.sample.starts:
            continue
        weights = [tier.worth(problem, [unit]) for unit in kind.units]
        if len(weights) == 1:
            total.add(kind.starts.variable, weights[0], 1)
            continue
        if not kind.ranks:
            kind.ranks = [model.new_bool_var("") for _ in weights]
            row = cp_model.LinearExpr.sum(kind.ranks)
            assert kind.starts.variable is not None
            model.add(row == kind.starts.variable)
        for rank, weight in zip(kind.ranks, weights, strict=True):
            total.add(rank, weight, 1)
    return total
