"""
Quotas: limits, guaranteed quota for non-preemptible work, and fair-share entitlement.
"""

from collections.abc import Sequence

from ortools.sat.python import cp_model

from models.gangs import Gang
from solver.encode.tree import add_minimums, add_role_order
from solver.encode.variables import ChoiceVars, Count, Linear, RigidVars, TypeVars
from solver.feasible import needed
from solver.problem import Problem
from solver.standing import Standing

Key = tuple[str, str]


def add_limits(
    model: cp_model.CpModel, problem: Problem, types: Sequence[TypeVars]
) -> None:
    """
    Ensure that every queue on the path stays within its limit.

    Σ placed pods × request ≤ limit − running; non-preemptible work keeps within quota
    in the same way.
    """
    limits: dict[Key, Linear] = {}
    quotas: dict[Key, Linear] = {}
    for kind in types:
        for vars_ in kind.states:
            gang = vars_.state.gang
            pods = placed(vars_, kind.starts)
            _charge(problem, gang, vars_.state, pods, limits)
            if not gang.preemptible:
                _charge(problem, gang, vars_.state, pods, quotas)
    for rows, left_of in (
        (limits, problem.queues.limit_left),
        (quotas, problem.queues.quota_left),
    ):
        for (queue, resource), row in rows.items():
            left = left_of(queue, resource)
            if left is not None and row.most > left:
                model.add(row.expression <= left)


def placed(vars_: RigidVars | ChoiceVars, starts: Count) -> dict[int, Linear]:
    """
    Add up all pods that a gang gets, per leaf.
    """
    pods: dict[int, Linear] = {}
    if isinstance(vars_, RigidVars):
        for i, need in enumerate(vars_.core):
            pods.setdefault(i, Linear()).add(starts.variable, need, starts.upper)
        for (i, _), more in vars_.surplus.items():
            pods[i].add(more.variable, 1, more.upper)
    else:
        for (i, _), count in vars_.counts.items():
            pods.setdefault(i, Linear()).add(count.variable, 1, count.upper)
    return pods


def _charge(
    problem: Problem,
    gang: Gang,
    state: Standing,
    pods: dict[int, Linear],
    rows: dict[Key, Linear],
) -> None:
    for queue in problem.queues.path(gang.queue):
        for resource in problem.queues.named:
            for i, total in pods.items():
                amount = state.leaves[i].pod_set.requests.get(resource, 0)
                if amount:
                    row = rows.setdefault((queue, resource), Linear())
                    for variable, coefficient in zip(
                        total.variables, total.coefficients, strict=True
                    ):
                        row.variables.append(variable)
                        row.coefficients.append(coefficient * amount)
                    row.most += total.most * amount


def add_entitlement(
    model: cp_model.CpModel, problem: Problem, types: Sequence[TypeVars]
) -> None:
    """
    Ensure that cores of entitled starts fit the fair share on every queue of the path.

    Σ core × request of entitled starts ≤ max(0, F − running); where this can never
    bind, every start is entitled and no variable is needed.
    """
    starting = [kind for kind in types if kind.sample.starts]
    tight = _tight_rows(problem, starting)
    rows: dict[Key, Linear] = {}
    for kind in starting:
        keys = [
            (queue, resource)
            for state in kind.sample.states
            for queue in problem.queues.path(state.gang.queue)
            for resource in problem.queues.named
            if (queue, resource) in tight
        ]
        if not keys:
            kind.entitled = kind.starts
            continue
        count = _most_entitled(problem, kind, keys)
        if not count:
            continue
        kind.entitled = Count(model.new_int_var(0, count, ""), count)
        assert kind.starts.variable is not None
        model.add(kind.entitled.variable <= kind.starts.variable)
        for vars_ in kind.states:
            cores = _cores(model, vars_, kind)
            _charge(problem, vars_.state.gang, vars_.state, cores, rows)
    for key, row in rows.items():
        if key in tight and row.variables:
            model.add(row.expression <= _share_left(problem, *key))


def _most_entitled(problem: Problem, kind: TypeVars, keys: Sequence[Key]) -> int:
    """
    Count how many units of a type the fair share holds if no other is entitled.
    """
    most = kind.starts.upper
    for queue, resource in keys:
        needs = sum(
            needed(state, resource)
            for state in kind.sample.states
            if queue in problem.queues.path(state.gang.queue)
        )
        if needs:
            most = min(most, _share_left(problem, queue, resource) // needs)
    return most


def _share_left(problem: Problem, queue: str, resource: str) -> int:
    running = problem.queues.running.get(queue, {}).get(resource, 0)
    return max(0, problem.shares.get(queue, {}).get(resource, 0) - running)


def _tight_rows(problem: Problem, types: Sequence[TypeVars]) -> set[Key]:
    most: dict[Key, int] = {}
    for kind in types:
        for vars_ in kind.states:
            state = vars_.state
            for i, leaf in enumerate(state.leaves):
                pods = (
                    vars_.core[i] if isinstance(vars_, RigidVars) else len(leaf.pending)
                )
                for queue in problem.queues.path(state.gang.queue):
                    for resource in problem.queues.named:
                        amount = leaf.pod_set.requests.get(resource, 0) * pods
                        if amount:
                            key = (queue, resource)
                            most[key] = most.get(key, 0) + amount * kind.starts.upper
    return {key for key, amount in most.items() if amount > _share_left(problem, *key)}


def _cores(
    model: cp_model.CpModel, vars_: RigidVars | ChoiceVars, kind: TypeVars
) -> dict[int, Linear]:
    """
    Count the core pods of entitled starts.

    Where there is a choice, a core that satisfies the tree is chosen among the pods
    placed.
    """
    cores: dict[int, Linear] = {}
    entitled = kind.entitled
    if isinstance(vars_, RigidVars):
        for i, need in enumerate(vars_.core):
            cores.setdefault(i, Linear()).add(entitled.variable, need, entitled.upper)
        return cores
    state = vars_.state
    for at, here in vars_.active.items():
        if at == 0:
            vars_.core_active[at] = entitled
            continue
        on = model.new_bool_var("")
        vars_.core_active[at] = Count(on, 1)
        if here.variable is not None:
            model.add_implication(on, here.variable)
    totals = placed(vars_, kind.starts)
    for i, leaf in enumerate(state.leaves):
        if not leaf.pending:
            continue
        core = Count(model.new_int_var(0, len(leaf.pending), ""), len(leaf.pending))
        vars_.core[i] = core
        model.add(core.chosen <= totals[i].expression)
        cores.setdefault(i, Linear()).add(core.variable, 1, core.upper)
    full = {i: cores.get(i, Linear()) for i in range(len(state.leaves))}
    add_minimums(model, state, vars_.core_active, full)
    add_role_order(model, state, vars_.core_active)
    return cores
