"""
Quotas: limits, guaranteed quota for non-preemptible work, and fair-share entitlement.
"""

from collections.abc import Mapping, Sequence

from ortools.sat.python import cp_model

from models.gangs import Gang
from solver.encode.variables import ChoiceVars, Count, Linear, RigidVars, TypeVars
from solver.problem.gang_state import Standing
from solver.problem.problem import Problem

Key = tuple[str, str]


def add_limits(
    model: cp_model.CpModel,
    problem: Problem,
    types: Sequence[TypeVars],
    released: Mapping[Key, Linear] | None = None,
) -> None:
    """
    Ensure that every queue on the path stays within its limit.

    Σ placed pods × request ≤ limit − running; non-preemptible work keeps within quota
    in the same way.  With ``released``, what leaves makes room below a limit.
    """
    limits: dict[Key, Linear] = {}
    quotas: dict[Key, Linear] = {}
    for kind in types:
        for vars_ in kind.states:
            gang = vars_.state.gang
            pods = placed(vars_, kind.starts)
            charge(problem, gang, vars_.state, pods, limits)
            if not gang.preemptible:
                charge(problem, gang, vars_.state, pods, quotas)
    for rows, left_of in (
        (limits, problem.queues.limit_left),
        (quotas, problem.queues.quota_left),
    ):
        for (queue, resource), row in rows.items():
            left = left_of(queue, resource)
            if released is not None and rows is limits:
                left = problem.queues.limit_left_later(queue, resource)
                gone = released.get((queue, resource), Linear())
                if left is not None and row.most > left:
                    add_room(model, row, left, gone)
            elif left is not None and row.most > left:
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


def charge(
    problem: Problem,
    gang: Gang,
    state: Standing,
    pods: dict[int, Linear],
    rows: dict[Key, Linear],
) -> None:
    """
    Add what pods of a gang ask for to the rows of all queues on its path.
    """
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


def add_room(
    model: cp_model.CpModel,
    row: Linear,
    left: int,
    gone: Linear,
) -> None:
    """
    Ensure that a sum is at most max(0, what is left + what leaves).
    """
    net = Linear()
    net.extend(row)
    net.extend(gone, -1)
    if left >= 0:
        model.add(net.expression <= left)
        return
    some = model.new_bool_var("")
    model.add(row.expression <= row.most * some)
    model.add(net.expression <= left).only_enforce_if(some)
