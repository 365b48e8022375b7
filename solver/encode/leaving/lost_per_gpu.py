"""
The policy's bound on what is lost for each GPU that is gained.
"""

from solver.effort.cp_sat import cp_model
from solver.encode.leaving.losses import lost_work
from solver.encode.leaving.variables import Leaving
from solver.encode.queue_rows import placed
from solver.encode.variables import Linear, TypeVars
from solver.problem.problem import Problem


def worth_of(problem: Problem, kind: TypeVars) -> Linear:
    """
    Say what may be lost for the pods of some starts; nothing where nothing bounds it.
    """
    most, worth = problem.policy.evict.max_lost_per_gpu or 0, Linear()
    for vars_ in kind.states:
        for i, pods in placed(vars_, kind.starts).items() if most else ():
            requests = vars_.state.leaves[i].pod_set.requests
            worth.extend(pods, problem.values.work(requests, most))
    return worth


def add_lost_per_gpu(
    model: cp_model.CpModel, problem: Problem, leaving: Leaving, gained: Linear
) -> None:
    """
    Ensure that what is lost is worth what is gained, where the policy says how much.
    """
    if problem.policy.evict.max_lost_per_gpu is not None:
        row = lost_work(leaving, problem.values)
        model.add(row.expression <= gained.expression)
