"""
Queue limits, and the quota that non-preemptible work keeps to, on the whole path.
"""

from collections.abc import Mapping, Sequence

from solver.effort.cp_sat import cp_model
from solver.encode.queue_rows import Key, add_room, charge, placed
from solver.encode.variables import Linear, TypeVars
from solver.problem.problem import Problem


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
