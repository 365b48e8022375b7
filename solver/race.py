"""
A race: two lanes of manners on the same model, each on a core of its own.
"""

from dataclasses import dataclass, field
from threading import Event, RLock, Thread

from ortools.sat.python import cp_model

from solver.encode.variables import Var
from solver.goal import Budget, Goal
from solver.manner import FINE, HASTE, LANES, Manner

_GLANCE = 0.002


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


def unhinted(model: cp_model.CpModel) -> cp_model.CpModel:
    """
    Copy a model without its hints.
    """
    copy = model.clone()
    copy.clear_hints()  # type: ignore[no-untyped-call]
    return copy


@dataclass(slots=True)
class Race:
    """
    Two lanes of manners on copies of a model, until what they know together will do.

    The lane that is behind is told to stop and left alone: in presolve it may take a
    while, and nobody waits for it.
    """

    budget: Budget
    goal: Goal
    limit: float
    best: Answer | None = None
    claim: int | None = None
    fine: bool = True
    over: Event = field(default_factory=Event)
    lock: RLock = field(default_factory=RLock)
    running: list[cp_model.CpSolver] = field(default_factory=list)

    def run(self, model: cp_model.CpModel) -> Answer | None:
        """
        Run the lanes; give the best answer of those that have ended.
        """
        begun = self.budget.left
        copies = (unhinted(model), model.clone())
        lanes = [
            Thread(target=self._run_lane, args=(copy, lane))
            for copy, lane in zip(copies, LANES, strict=True)
        ]
        for lane in lanes:
            lane.start()
        while any(lane.is_alive() for lane in lanes) and not self.over.wait(_GLANCE):
            if self.fine and begun - self.budget.left > self.limit * HASTE:
                self.fine = False
                self._check()
        while True:
            with self.lock:
                for solver in self.running:
                    solver.stop_search()
                if self._holds_claim() or not self.running:
                    return self.best
            lanes[0].join(_GLANCE)

    def _holds_claim(self) -> bool:
        """
        Tell whether the answer with the best claim was handed in.
        """
        return self.claim is None or (
            self.best is not None
            and not self.goal.is_better(self.claim, self.best.claim)
        )

    def _run_lane(
        self, model: cp_model.CpModel, lane: tuple[tuple[Manner, float], ...]
    ) -> None:
        for manner, part in lane:
            with self.lock:
                if self.over.is_set() or self.budget.left <= 0:
                    return
                gap = self.goal.gap * (FINE if self.fine else 1.0)
                solver = self.budget.solver(manner, gap, self.limit * part)
                self.running.append(solver)
            solver.best_bound_callback = self._learn
            status = solver.solve(model, _Watcher(self))
            with self.lock:
                self.running.remove(solver)
                if status in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
                    self._hand_in(solver)

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
        if self.goal.is_closed(self.claim, FINE if self.fine else 1.0):
            self.over.set()


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
