"""
Attempts: one model solved in several manners, one after the other or two at a time.

Cases that stall in one manner close at once in another.  With two workers and a limit
in seconds two lanes of manners race; else they take turns, the last winner first, and
the answer is the same each time (decision 0006).
"""

from collections.abc import Iterable, Sequence

from solver.effort.budget import Budget
from solver.effort.cp_sat import cp_model
from solver.encode.variables import Var
from solver.search.goal import Goal, solver_of
from solver.search.parameters import (
    CUTTING,
    IMPROVING,
    Manner,
    Routine,
    is_huge,
    is_large,
    passes,
    presolved_once,
    routine_of,
)
from solver.search.race import Answer, Race, better_of, hint_answer
from solver.tuning import Search


class Attempts:
    """
    Manners in the order in which they are tried: the one that closed a tier goes first.

    Models may count pods by domain (``scoped``), and others may leave (``leaving``).
    """

    def __init__(
        self,
        budget: Budget,
        tuning: Search,
        *,
        scoped: bool = False,
        leaving: bool = False,
    ) -> None:
        self.budget = budget
        self.tuning = tuning
        self.scoped = scoped
        self.leaving = leaving
        self._routines: dict[tuple[bool, bool], Routine] = {}

    def routine(self, model: cp_model.CpModel) -> Routine:
        """
        Give the routine for a model, as it was left by the last one of its size.
        """
        large = is_large(model, self.tuning)
        presolved = self.leaving and not is_huge(model, self.tuning)
        key = large, presolved
        if key not in self._routines:
            self._routines[key] = routine_of(
                large=large, scoped=self.scoped, presolved=presolved
            )
        return self._routines[key]

    def solve(self, model: cp_model.CpModel, goal: Goal, share: float) -> Answer | None:
        """
        Solve a model with hints for its objective; tighten the goal's bound on the way.

        Gives the best answer found, none when there is none.
        """
        limit = min(share, self.budget.left)
        lanes = self.budget.race_lanes
        routine = self.routine(model)
        if lanes is None:
            return self._in_turns(model, routine, goal, limit)
        race = Race(self.budget, goal, limit, lanes, self.tuning)
        answer = race.run(model, routine.lanes)
        if race.winner is not None:
            routine.prefer(race.winner)
        return answer

    def _in_turns(
        self, model: cp_model.CpModel, routine: Routine, goal: Goal, limit: float
    ) -> Answer | None:
        best: Answer | None = None
        for gap, parts in passes(self.tuning, len(routine.turns)):
            for manner, part in zip(tuple(routine.turns), parts, strict=False):
                if self.budget.left <= 0 or _is_closed(goal, best, gap):
                    return best
                begun = self.budget.left
                limits = limit * part, goal.gap * gap
                answer = self._solved(model, manner, *limits, goal)[1]
                best = better_of(goal, best, answer)
                if best is not None:
                    hint_answer(model, best)
                if _is_closed(goal, best, gap):
                    routine.prefer(manner)
                    more = (begun - self.budget.left) * goal.patience
                    more = max(more, limit * self.tuning.least_patience)
                    return self._patiently(model, manner, goal, more, best)
        return best

    def _patiently(
        self,
        model: cp_model.CpModel,
        manner: Manner,
        goal: Goal,
        limit: float,
        best: Answer | None,
    ) -> Answer | None:
        """
        Try for the best itself, going on from what is near enough.

        A tier locked short of its best makes the next ones harder, and none of them
        can be proven.
        """
        if not goal.patience or _is_closed(goal, best, 0.0):
            return best
        return better_of(goal, best, self._solved(model, manner, limit, 0.0, goal)[1])

    def nearby(
        self,
        model: cp_model.CpModel,
        kept: Sequence[tuple[Var, int]],
        goal: Goal,
        share: float,
    ) -> Answer | None:
        """
        Solve a model with some variables kept at values that it can have.

        What is found is a solution of the whole model, and becomes its hint where it
        is better; a bound of the part that is left is none of the whole.
        """
        limit = min(share, self.budget.left) * self.tuning.nearby
        if limit <= 0:
            return None
        part = _with_kept(model, [(variable.index, value) for variable, value in kept])
        large = is_large(model, self.tuning)
        manner = presolved_once(IMPROVING) if large else IMPROVING
        gap = goal.gap * self.tuning.fine
        answer = self._solved(part, manner, limit, gap)[1]
        if answer is None or not goal.is_better(answer.claim, goal.value):
            return None
        hint_answer(model, answer)
        return answer

    def complete_hint(self, model: cp_model.CpModel, share: float) -> None:
        """
        Find values for what a hint leaves out, so that it is a whole first solution.

        Where none are found soon it stays as it is.
        """
        hints = model.proto.solution_hint
        limit = min(share, self.budget.left) * self.tuning.nearby
        if len(hints.vars) == len(model.proto.variables) or limit <= 0:
            return
        part = _with_kept(model, zip(hints.vars, hints.values, strict=True))
        found = self._solved(part, CUTTING, limit)[1]
        if found is not None:
            hint_answer(model, found)

    def at_once(
        self, model: cp_model.CpModel, goal: Goal, share: float
    ) -> tuple[bool, Answer | None]:
        """
        Solve a model in one manner for its objective; tell whether it has no solution.
        """
        limit = min(share, self.budget.left)
        if limit <= 0:
            return False, None
        return self._solved(model, self.routine(model).turns[0], limit, 0.0, goal)

    def _solved(
        self,
        model: cp_model.CpModel,
        manner: Manner,
        limit: float,
        gap: float = 0.0,
        goal: Goal | None = None,
    ) -> tuple[bool, Answer | None]:
        """
        Tell whether there is no solution, or give one; a goal learns the bounds.
        """
        solver = solver_of(self.budget, manner, gap, limit, self.tuning)
        solver.best_bound_callback = None if goal is None else goal.tighten
        status = solver.solve(model)
        self.budget.charge(solver.deterministic_time)
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            return bool(status == cp_model.INFEASIBLE), None
        if goal is not None:
            goal.tighten(solver.best_objective_bound)
        return False, Answer(solver)


def _with_kept(
    model: cp_model.CpModel, kept: Iterable[tuple[int, int]]
) -> cp_model.CpModel:
    """
    Copy a model with some variables, by index, kept at values that they can have.
    """
    part = model.clone()
    for index, value in kept:
        domain = part.proto.variables[index].domain
        domain.clear()
        domain.extend([value, value])
    return part


def _is_closed(goal: Goal, best: Answer | None, part: float) -> bool:
    return goal.is_closed(None if best is None else best.claim, part)
