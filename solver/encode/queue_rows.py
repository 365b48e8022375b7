"""
Rows over queues: what gangs that are placed ask for, on every queue of their path.
"""

from models.gangs import Gang
from solver.effort.cp_sat import cp_model
from solver.encode.variables import ChoiceVars, Count, Linear, RigidVars
from solver.problem.gang_state import Standing
from solver.problem.problem import Problem

Key = tuple[str, str]


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


def add_room(model: cp_model.CpModel, row: Linear, left: int, gone: Linear) -> None:
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
    model.add(row.expression <= 0).only_enforce_if(~some)
    model.add(net.expression <= left).only_enforce_if(some)
