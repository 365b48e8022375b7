"""
Guarantee: which starts take up what is left of the quotas of their queues.
"""

from collections.abc import Mapping, Sequence

from solver.effort.cp_sat import cp_model
from solver.encode.leaving.variables import Leaving
from solver.encode.queue_rows import Key, add_room, charge, placed
from solver.encode.variables import Count, Linear, RigidVars, StateVars, TypeVars
from solver.evict.rights.guarantees import is_of_use, may_be_guaranteed
from solver.problem.problem import Problem


def add_guarantee(
    model: cp_model.CpModel,
    problem: Problem,
    leaving: Leaving,
    types: Sequence[TypeVars],
    released: Mapping[Key, Linear],
) -> None:
    """
    Ensure that guaranteed starts leave every queue of their path within its quota.

    Σ pods × request of guaranteed starts ≤ quota − running; what leaves an inner queue
    makes room below it.  Nobody has to be guaranteed: it only gives a right.
    """
    losing = {a.queue for a in leaving.victims.accounts if a.rights.reclaim}
    if not any(is_of_use(problem, queue) for queue in sorted(losing)):
        return
    rows: dict[Key, Linear] = {}
    for kind in types:
        entitled = kind.entitled
        if entitled.variable is None or not may_be_guaranteed(problem, kind.sample):
            continue
        most = entitled.upper
        kind.guaranteed = Count(model.new_int_var(0, most, ""), most)
        model.add(kind.guaranteed.chosen <= entitled.chosen)
        for vars_ in kind.states:
            pods = _pods(model, kind, vars_)
            kind.sure.append(pods)
            charge(problem, vars_.state.gang, vars_.state, pods, rows)
    for (queue, name), row in rows.items():
        left = problem.queues.guarantee_left(queue, name)
        if left is None:
            continue
        gone = released.get((queue, name))
        if queue in problem.queues.parents and gone is not None:
            add_room(model, row, left, gone)
        elif row.most > left:
            model.add(row.expression <= max(0, left))


def _pods(
    model: cp_model.CpModel, kind: TypeVars, vars_: StateVars
) -> dict[int, Linear]:
    """
    Count the pods of guaranteed starts.
    """
    sure = kind.guaranteed
    found: dict[int, Linear] = {}
    if isinstance(vars_, RigidVars):
        for i, need in enumerate(vars_.core):
            found.setdefault(i, Linear()).add(sure.variable, need, sure.upper)
        return found
    for i, row in placed(vars_, kind.starts).items():
        part = model.new_int_var(0, row.most, "")
        model.add(part == row.expression).only_enforce_if(sure.chosen)
        model.add(part == 0).only_enforce_if(~sure.chosen)
        found[i] = Linear()
        found[i].add(part, 1, row.most)
    return found
