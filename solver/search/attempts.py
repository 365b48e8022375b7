"""
Attempts: one model solved in several manners, one after the other or two at a time.

Cases that stall in one manner close at once in another.  With two workers and a limit
in seconds two lanes of manners race; else they take turns, the last winner first, and
the answer is the same each time (decision 0006).
"""

from ortools.sat.python import cp_model

from solver.problem.budget import Budget
from solver.search.goal import Goal, solver_of
from solver.search.parameters import (
    DIVING,
    IMPROVING,
    MANY,
    PASSES,
    PROOF,
    RELAXED,
    STAYING,
    WEIGHING,
    Manner,
)
from solver.search.race import Answer, Race, unhinted


class Attempts:
    """
    Manners in the order in which they are tried: the one that closed a tier goes first.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.manners = [IMPROVING, DIVING, WEIGHING, RELAXED]

    def solve(self, model: cp_model.CpModel, goal: Goal, share: float) -> Answer | None:
        """
        Solve a model with hints for its objective; tighten the goal's bound on the way.

        Gives the best answer found, none when there is none.
        """
        limit = min(share, self.budget.left)
        lanes = self.budget.race_lanes
        if lanes is not None:
            return Race(self.budget, goal, limit, lanes).run(model)
        best: Answer | None = None
        if self.manners[0] is IMPROVING and len(model.proto.variables) > MANY:
            self.manners = [DIVING, WEIGHING, IMPROVING, RELAXED]
        self._turn(model, STAYING, goal, limit * PROOF, PASSES[0][0])
        for gap, parts in PASSES:
            for manner, part in zip(tuple(self.manners), parts, strict=False):
                claim = None if best is None else best.claim
                if self.budget.left <= 0 or goal.is_closed(claim, gap):
                    return best
                answer = self._turn(model, manner, goal, limit * part, gap)
                if answer and (
                    best is None or goal.is_better(answer.claim, best.claim)
                ):
                    best = answer
                if goal.is_closed(None if best is None else best.claim, gap):
                    self.manners.remove(manner)
                    self.manners.insert(0, manner)
        return best

    def _turn(
        self,
        model: cp_model.CpModel,
        manner: Manner,
        goal: Goal,
        limit: float,
        gap: float,
    ) -> Answer | None:
        solver = solver_of(self.budget, manner, goal.gap * gap, limit)
        solver.best_bound_callback = goal.tighten
        status = solver.solve(model if manner.hinted else unhinted(model))
        self.budget.charge(solver.deterministic_time)
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            return None
        goal.tighten(solver.best_objective_bound)
        return Answer(solver)
