"""
The rules of a step with evictions: limits, rights, mates, and the policy's bounds.
"""

from collections.abc import Mapping, Sequence

from solver.effort.cp_sat import cp_model
from solver.encode.activation import add_type
from solver.encode.demand import Demand
from solver.encode.entitlement import add_entitlement
from solver.encode.leaving.evicted_units import budget_rows, released, units
from solver.encode.leaving.guarantee import add_guarantee
from solver.encode.leaving.losses import gangs_touched, lost_pods
from solver.encode.leaving.preempt_bound import add_preempt
from solver.encode.leaving.reclaim_bound import Reclaim
from solver.encode.leaving.starts_asked import starts_of
from solver.encode.leaving.variables import Leaving
from solver.encode.queue_limit import add_limits
from solver.encode.queue_rows import Key
from solver.encode.variables import Linear, TypeVars
from solver.evict.group_mates import mates_that_stay, promised_mates
from solver.evict.moved_gangs import Mover
from solver.problem.problem import Problem, Step


def released_by(problem: Problem, leaving: Leaving) -> dict[Key, Linear]:
    """
    Add up what queues no longer hold once all have left who do.
    """
    accounts = leaving.victims.accounts
    paths = {a.queue: problem.queues.path(a.queue) for a in accounts}
    return released(leaving, paths, problem.queues.named)


def add_step_rules(
    model: cp_model.CpModel,
    problem: Problem,
    leaving: Leaving,
    types: Sequence[TypeVars],
    gone: Mapping[Key, Linear],
) -> None:
    """
    Ensure what queues, rights and the policy allow the starts of a step.
    """
    add_queue_rules(model, problem, leaving, types, gone)
    _start_or_leave(model, leaving, types)
    _keep_mates(model, problem, leaving, types)
    add_rights(model, problem, leaving, types)
    add_policy_bounds(model, problem, [leaving])


def add_queue_rules(
    model: cp_model.CpModel,
    problem: Problem,
    leaving: Leaving,
    types: Sequence[TypeVars],
    gone: Mapping[Key, Linear],
) -> None:
    """
    Ensure what queues allow the starts of a step.
    """
    add_limits(model, problem, types, gone)
    shares = gone if problem.step is Step.ENTITLED else {}
    add_entitlement(model, problem, types, shares)
    if problem.step is Step.ENTITLED:
        only_entitled(model, types)
        add_guarantee(model, problem, leaving, types, gone)


def add_rights(
    model: cp_model.CpModel,
    problem: Problem,
    leaving: Leaving,
    types: Sequence[TypeVars],
) -> None:
    """
    Ensure that reclaim and preempt stay within what queues and bands allow.
    """
    starts = starts_of(model, problem, types)
    Reclaim(model, problem, leaving, starts).add()
    add_preempt(model, list(units(leaving, "preempt")), starts)


def add_movers(
    model: cp_model.CpModel,
    problem: Problem,
    demand: Demand,
    leaving: Leaving,
    movers: Sequence[Mover],
) -> None:
    """
    Ensure that as many gangs of each sort get new places as are moved.
    """
    for mover in movers:
        alike = [mover.unit] * mover.number
        kind = add_type(model, problem, leaving.conversion.classes, demand, alike)
        leaving.moved.append((mover, kind))
        if mover.wide >= 0:
            model.add(kind.starts.chosen == leaving.moved_whole[mover.wide])
        elif mover.single:
            model.add(kind.starts.chosen == leaving.moved_singly[mover.account])
        else:
            row = leaving.parting[mover.account]["consolidate"]
            model.add(kind.starts.chosen == row.expression)


def _start_or_leave(
    model: cp_model.CpModel, leaving: Leaving, types: Sequence[TypeVars]
) -> None:
    """
    Ensure that no gang that runs in part starts while what runs of it leaves.
    """
    index = {wide.gang.key: at for at, wide in enumerate(leaving.victims.wide)}
    for kind in types:
        for state in kind.sample.states:
            at = index.get(state.key)
            if at is not None:
                model.add(kind.starts.chosen + leaving.gone_whole[at] <= 1)


def _keep_mates(
    model: cp_model.CpModel,
    problem: Problem,
    leaving: Leaving,
    types: Sequence[TypeVars],
) -> None:
    """
    Ensure that no gang is evicted whole beside which another of its group starts.
    """
    index = {wide.gang.key: at for at, wide in enumerate(leaving.victims.wide)}
    for mate in sorted(promised_mates(problem) & index.keys()):
        model.add(leaving.stopped(index[mate]) <= 0)
    for kind in types:
        mates = mates_that_stay(problem, [kind.sample]) & index.keys()
        for mate in sorted(mates):
            model.add(kind.starts.chosen + leaving.stopped(index[mate]) <= 1)


def only_entitled(model: cp_model.CpModel, types: Sequence[TypeVars]) -> None:
    """
    Ensure that only entitled gangs start.
    """
    for kind in types:
        if kind.entitled.variable is None:
            model.add(kind.starts.chosen == 0)
        elif kind.entitled.variable is not kind.starts.variable:
            model.add(kind.starts.chosen == kind.entitled.variable)


def add_policy_bounds(
    model: cp_model.CpModel, problem: Problem, leavings: Sequence[Leaving]
) -> None:
    """
    Ensure budgets, and the policy's bounds on pods, gangs and moves, of some steps.
    """
    evict = problem.policy.evict
    before = problem.frozen.exits
    moved = sum(one.rule == "consolidate" for one in before)
    gangs = {one.gang for one in before if one.rule != "consolidate"}
    touched = evict.max_gangs is not None
    pods, moves, whole = Linear(), Linear(), Linear()
    budgets: dict[int, Linear] = {}
    for leaving in leavings:
        pods.extend(lost_pods(leaving, moved=False))
        moves.extend(lost_pods(leaving, evicted=False))
        whole.extend(gangs_touched(model, leaving) if touched else Linear())
        for at, row in budget_rows(leaving).items():
            budgets.setdefault(at, Linear()).extend(row)
    rows = [
        (evict.max_pods, len(before) - moved, pods),
        (evict.max_moves, moved, moves),
        (evict.max_gangs, len(gangs), whole),
    ]
    for at, row in budgets.items():
        budget = problem.snapshot.budgets[at]
        used = sum(one.gang in budget.gangs for one in before)
        rows.append((budget.allowed, used, row))
    for most, used, row in rows:
        if most is not None and row.most + used > most:
            model.add(row.expression <= max(0, most - used))
