"""
A race: two lanes of manners on the same model, each on a core of its own.
"""

from collections.abc import Sequence
from functools import partial

from solver.effort.budget import Budget, Lanes
from solver.effort.cp_sat import cp_model
from solver.encode.variables import Var
from solver.search.goal import Goal, solver_of
from solver.search.parameters import Manner
from solver.tuning import Search


class Answer:
    """
    The values of one solve.
    """

    def __init__(self, solver: cp_model.CpSolver) -> None:
        self.values: list[int] = list(solver.response_proto.solution)
        self.claim = round(solver.objective_value)

    def value(self, variable: Var) -> int:
        """
        Give a variable's value.
        """
        return self.values[variable.index]

    def extend(self, more: Sequence[tuple[Var, int]]) -> None:
        """
        Learn the values of variables that were written since.
        """
        for variable, value in more:
            if variable.index == len(self.values):
                self.values.append(value)


def better_of(goal: Goal, one: Answer | None, other: Answer | None) -> Answer | None:
    """
    Give the answer that claims more; the first where both claim the same.
    """
    if one is None or other is None:
        return one or other
    return other if goal.is_better(other.claim, one.claim) else one


def hint_answer(model: cp_model.CpModel, answer: Answer) -> None:
    """
    Tell a model an answer as its first solution, or one of a model with more to it.
    """
    model.clear_hints()  # type: ignore[no-untyped-call]
    hints = model.proto.solution_hint
    values = answer.values[: len(model.proto.variables)]
    hints.vars.extend(range(len(values)))
    hints.values.extend(values)


class Race:
    """
    Two lanes of manners on copies of a model, until what they know together will do.

    The lane that is behind is told to stop and left alone: in presolve it may take a
    while, and nobody waits for it.
    """

    def __init__(
        self,
        budget: Budget,
        goal: Goal,
        limit: float,
        lanes: Lanes,
        tuning: Search,
    ) -> None:
        self.tuning = tuning
        self.budget = budget
        self.goal = goal
        self.limit = limit
        self.lanes = lanes
        self.best: Answer | None = None
        self.claim: int | None = None
        self.winner: Manner | None = None
        self.near: float | None = None
        self.over = False
        self.failed: Exception | None = None
        self.open = 0
        self.begun = budget.left
        self.running: list[cp_model.CpSolver] = []
        self.lock = lanes.lock()

    def run(
        self, model: cp_model.CpModel, lanes: Sequence[Sequence[Manner]]
    ) -> Answer | None:
        """
        Run the lanes; give the best answer of those that have ended.

        A lane that fails ends the race, and who waits for it learns why.
        """
        self.open = len(lanes)
        self.lanes.start(
            [partial(self._run_lane, model.clone(), tuple(lane)) for lane in lanes]
        )
        self.lanes.wait(self._has_ended, self.budget.do_a_chore)
        self.lanes.wait(self._has_stopped, self.budget.do_a_chore)
        if self.failed is not None:
            raise self.failed
        return self.best

    def _has_ended(self) -> bool:
        """
        Tell whether the goal is closed or all lanes have ended.
        """
        with self.lock:
            self._check()
            return self.over or not self.open

    def is_enough(self) -> bool:
        """
        Tell whether the goal is closed, or near enough and no nearer in good time.

        A tier locked short of its best makes the next ones harder, so the best is
        tried for a while longer than it took to come near.
        """
        if self.goal.is_closed(self.claim, 0.0):
            return True
        if not self.goal.is_closed(self.claim):
            return False
        used = self.begun - self.budget.left
        if self.near is None:
            self.near = used
        return used >= self.near * (1.0 + self.goal.patience)

    def _has_stopped(self) -> bool:
        """
        Stop what still runs; tell whether the best answer was handed in.
        """
        with self.lock:
            for solver in self.running:
                solver.stop_search()
            is_over = self.failed is not None or not self.running
            return is_over or self._holds_claim()

    def _holds_claim(self) -> bool:
        """
        Tell whether the answer with the best claim was handed in.
        """
        return self.claim is None or (
            self.best is not None
            and not self.goal.is_better(self.claim, self.best.claim)
        )

    def _run_lane(self, model: cp_model.CpModel, lane: Sequence[Manner]) -> None:
        try:
            self._try_all(model, lane)
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            with self.lock:
                self.failed = error
                self.over = True
        finally:
            with self.lock:
                self.open -= 1

    def _try_all(self, model: cp_model.CpModel, lane: Sequence[Manner]) -> None:
        """
        Try manners one after the other, a single one for all of the limit.
        """
        parts = self.tuning.lane_parts if len(lane) > 1 else (1.0,)
        for manner, part in zip(lane, parts, strict=False):
            with self.lock:
                if self.over or self.budget.left <= 0:
                    break
                limit = self.limit * part
                gap = 0.0 if self.goal.patience else self.goal.gap
                solver = solver_of(self.budget, manner, gap, limit, self.tuning)
                self.running.append(solver)
            solver.best_bound_callback = partial(self._learn, manner)
            status = solver.solve(model, _Watcher(self, manner))
            with self.lock:
                self.running.remove(solver)
                if status in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
                    self._hand_in(solver, manner)

    def _hand_in(self, solver: cp_model.CpSolver, manner: Manner) -> None:
        answer = Answer(solver)
        self.best = better_of(self.goal, self.best, answer)
        self._learn(manner, solver.best_objective_bound)
        self.hear(manner, answer.claim)

    def _learn(self, manner: Manner, bound: float) -> None:
        with self.lock:
            self.goal.tighten(bound)
            self._check(manner)

    def hear(self, manner: Manner, claim: int) -> None:
        """
        Hear of a solution.
        """
        with self.lock:
            if self.claim is None or self.goal.is_better(claim, self.claim):
                self.claim = claim
            self._check(manner)

    def _check(self, manner: Manner | None = None) -> None:
        """
        End the race if the goal is closed; the manner that closed it wins.
        """
        if not self.over and self.is_enough():
            self.over = True
            self.winner = manner


class _Watcher(cp_model.CpSolverSolutionCallback):
    """
    Tells a race of every solution.
    """

    def __init__(self, race: Race, manner: Manner) -> None:
        super().__init__()
        self.race = race
        self.manner = manner

    def on_solution_callback(self) -> None:
        """
        Pass the objective on.
        """
        self.race.hear(self.manner, round(self.objective_value))
