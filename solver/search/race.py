"""
A race: two lanes of manners on the same model, each on a core of its own.
"""

from functools import partial

from ortools.sat.python import cp_model

from solver.effort.budget import Budget, Lanes
from solver.encode.variables import Var
from solver.search.goal import Goal, solver_of
from solver.search.parameters import Lane, lanes_of
from solver.tuning import Search


class Answer:
    """
    The values of one solve.
    """

    def __init__(self, solver: cp_model.CpSolver) -> None:
        self.solver = solver
        self.claim = round(solver.objective_value)

    def value(self, variable: Var) -> int:
        """
        Give a variable's value.
        """
        return int(self.solver.value(variable))


def hint_answer(model: cp_model.CpModel, answer: Answer) -> None:
    """
    Tell a model an answer as its first solution.
    """
    model.clear_hints()  # type: ignore[no-untyped-call]
    hints = model.proto.solution_hint
    values = answer.solver.response_proto.solution
    hints.vars.extend(range(len(values)))
    hints.values.extend(values)


def unhinted(model: cp_model.CpModel) -> cp_model.CpModel:
    """
    Copy a model without its hints.
    """
    copy = model.clone()
    copy.clear_hints()  # type: ignore[no-untyped-call]
    return copy


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
        self.fine = True
        self.over = False
        self.open = 0
        self.begun = budget.left
        self.running: list[cp_model.CpSolver] = []
        self.lock = lanes.lock()

    def run(self, model: cp_model.CpModel) -> Answer | None:
        """
        Run the lanes; give the best answer of those that have ended.
        """
        plain = unhinted(model)
        lanes = lanes_of(self.tuning, len(model.proto.variables))
        self.open = len(lanes)
        self.lanes.start(
            [partial(self._run_lane, model.clone(), plain, lane) for lane in lanes]
        )
        self.lanes.wait(self._has_ended)
        self.lanes.wait(self._has_stopped)
        return self.best

    @property
    def _part(self) -> float:
        """
        The part of the gap that will do now.
        """
        return self.tuning.fine if self.fine else 1.0

    def _has_ended(self) -> bool:
        """
        Tell whether the goal is closed or all lanes have ended; later, coarser.
        """
        with self.lock:
            used = self.begun - self.budget.left
            if self.fine and used > self.limit * self.tuning.haste:
                self.fine = False
                self._check()
            return self.over or not self.open

    def _has_stopped(self) -> bool:
        """
        Stop what still runs; tell whether the best answer was handed in.
        """
        with self.lock:
            for solver in self.running:
                solver.stop_search()
            return self._holds_claim() or not self.running

    def _holds_claim(self) -> bool:
        """
        Tell whether the answer with the best claim was handed in.
        """
        return self.claim is None or (
            self.best is not None
            and not self.goal.is_better(self.claim, self.best.claim)
        )

    def _run_lane(
        self, model: cp_model.CpModel, plain: cp_model.CpModel, lane: Lane
    ) -> None:
        for manner, part in lane:
            with self.lock:
                if self.over or self.budget.left <= 0:
                    break
                gap = self.goal.gap * self._part
                limit = self.limit * part
                solver = solver_of(self.budget, model, manner, gap, limit, self.tuning)
                self.running.append(solver)
            solver.best_bound_callback = self._learn
            given = model if manner.hinted else plain
            status = solver.solve(given, _Watcher(self))
            with self.lock:
                self.running.remove(solver)
                if status in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
                    self._hand_in(solver)
        with self.lock:
            self.open -= 1

    def _hand_in(self, solver: cp_model.CpSolver) -> None:
        answer = Answer(solver)
        if self.best is None or self.goal.is_better(answer.claim, self.best.claim):
            self.best = answer
        self._learn(solver.best_objective_bound)
        self.hear(answer.claim)

    def _learn(self, bound: float) -> None:
        with self.lock:
            self.goal.tighten(bound)
            self._check()

    def hear(self, claim: int) -> None:
        """
        Hear of a solution.
        """
        with self.lock:
            if self.claim is None or self.goal.is_better(claim, self.claim):
                self.claim = claim
            self._check()

    def _check(self) -> None:
        if self.goal.is_closed(self.claim, self._part):
            self.over = True


class _Watcher(cp_model.CpSolverSolutionCallback):
    """
    Tells a race of every solution.
    """

    def __init__(self, race: Race) -> None:
        super().__init__()
        self.race = race

    def on_solution_callback(self) -> None:
        """
        Pass the objective on.
        """
        self.race.hear(round(self.objective_value))
