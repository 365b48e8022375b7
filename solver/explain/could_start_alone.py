"""
Could one unit start if it were alone?  Asked of the exact model, node by node.
"""

from dataclasses import replace

import numpy as np

from solver.effort.budget import Budget
from solver.effort.cp_sat import cp_model
from solver.encode.demand import levels_of, pending_shapes
from solver.encode.encoding import encode
from solver.encode.limited import limited_solver
from solver.encode.node_classes import Classes, Level, classes_of
from solver.explain.room_now import FreeSums
from solver.place.round_state import RoundState
from solver.problem.node_room import Bools
from solver.problem.problem import Problem, Unit


class Alone:
    """
    Units asked one by one in one state of the cluster; what they share is made once.

    ``sums`` says what lies free, ``work`` has a place for what is tried by hand.
    """

    def __init__(
        self, problem: Problem, budget: Budget, work: RoundState | None = None
    ) -> None:
        self.sums = FreeSums(problem)
        self.work = work or RoundState(problem)
        self._problem = problem
        self._budget = budget
        self._tuning = problem.tuning.explain
        self._classes: dict[tuple[tuple[int, ...], tuple[Level, ...]], Classes] = {}

    def starts(self, unit: Unit, *, presolve: bool = True) -> bool | None:
        """
        Say yes or no by proof; none when the limit is reached first.

        Without ``presolve`` the model is solved as it was written.
        """
        single = replace(self._problem, units=(unit,))
        fits = int(_fitting(single, pending_shapes(single)).sum())
        encoding = encode(single, self._classes_of(single))
        starts = encoding.types[0].starts.variable
        assert starts is not None
        encoding.model.add(starts == 1)
        self._budget.charge(fits / self._tuning.nodes_per_unit)
        solver = limited_solver(self._budget, self._tuning.limit)
        solver.parameters.linearization_level = 2
        solver.parameters.cp_model_presolve = presolve
        status = solver.solve(encoding.model)
        self._budget.charge(solver.deterministic_time)
        if status == cp_model.INFEASIBLE:
            return False
        exact = fits <= self._tuning.most_nodes and not has_neighbours(unit)
        if status in {cp_model.OPTIMAL, cp_model.FEASIBLE} and exact:
            return True
        return None

    def _classes_of(self, single: Problem) -> Classes:
        """
        Give the node classes for a unit; where nodes are few each stands apart.
        """
        shapes, levels = pending_shapes(single), levels_of(single)
        key = tuple(shapes), tuple(levels)
        if key not in self._classes:
            fits = _fitting(single, shapes)
            split = {}
            if int(fits.sum()) <= self._tuning.most_nodes:
                split = {int(n): int(n) + 1 for n in fits.nonzero()[0]}
            self._classes[key] = classes_of(
                single, shapes, levels, split, len(fits) + 1
            )
        return self._classes[key]


def has_neighbours(unit: Unit) -> bool:
    """
    Tell whether the pods of a unit depend on those around them.
    """
    leaves = (leaf for state in unit.states for leaf in state.leaves)
    return any(leaf.pod_set.neighbours for leaf in leaves)


def is_by_hand(unit: Unit) -> bool:
    """
    Tell whether placing a unit by hand is exact: its pods are all of one leaf.
    """
    one = len(unit.states) == 1 and len(unit.states[0].leaves) == 1
    return one and not has_neighbours(unit)


def has_domains(unit: Unit) -> bool:
    """
    Tell whether pods of the first gang of a unit must be together.
    """
    return any(node.topology is not None for node in unit.states[0].nodes)


def _fitting(problem: Problem, shapes: list[int]) -> Bools:
    found: Bools = np.any(problem.shapes.fits[shapes], axis=0)
    return found
