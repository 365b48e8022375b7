"""
Could one unit start if it were alone?  Asked of the exact model, node by node.
"""

from dataclasses import replace

import numpy as np
from ortools.sat.python import cp_model

from solver.effort.budget import Budget
from solver.encode.demand import levels_of, pending_shapes
from solver.encode.encoding import encode
from solver.encode.limited import limited_solver
from solver.encode.node_classes import classes_of
from solver.problem.node_room import Bools
from solver.problem.problem import Problem, Unit


def starts_alone(problem: Problem, unit: Unit, budget: Budget) -> bool | None:
    """
    Say yes or no by proof; none when the limit is reached first.
    """
    tuning = problem.tuning.explain
    single = replace(problem, units=(unit,))
    shapes = pending_shapes(single)
    fits: Bools = np.any(problem.shapes.fits[shapes], axis=0)
    exact = int(fits.sum()) <= tuning.most_nodes
    split = {int(n): int(n) + 1 for n in fits.nonzero()[0]} if exact else {}
    classes = classes_of(single, shapes, levels_of(single), split, len(fits) + 1)
    encoding = encode(single, classes)
    starts = encoding.types[0].starts.variable
    assert starts is not None
    encoding.model.add(starts == 1)
    budget.charge(int(fits.sum()) / tuning.nodes_per_unit)
    solver = limited_solver(budget, tuning.limit)
    solver.parameters.linearization_level = 2
    status = solver.solve(encoding.model)
    budget.charge(solver.deterministic_time)
    if status == cp_model.INFEASIBLE:
        return False
    if status in {cp_model.OPTIMAL, cp_model.FEASIBLE} and exact:
        return True
    return None
