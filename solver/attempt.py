"""
Attempts: one model solved in several manners, one by one or two at a time.

Cases that stall in one manner close at once in another.  With two workers and a limit
in seconds two manners race; else they take turns, and the answer is the same each time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import RLock, Thread
from typing import Literal

from ortools.sat.python import cp_model

from models.policy import Limits
from solver.encode.variables import Var

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Manner:
    """
    One way to search: from a hint or not, presolved or not, by dives into the LP.
    """

    hinted: bool
    presolved: bool
    diving: bool

    def configure(self, solver: cp_model.CpSolver) -> None:
        """
        Set the parameters in which manners differ.
        """
        parameters = solver.parameters
        parameters.cp_model_presolve = self.presolved
        if self.diving:
            parameters.search_branching = cp_model.LP_SEARCH
            parameters.add_lp_constraints_lazily = False


STAYING = Manner(hinted=True, presolved=False, diving=True)
"""
Proves at once what is best already.
"""

DIVING = Manner(hinted=False, presolved=False, diving=True)
"""
Finds most answers first.
"""

IMPROVING = Manner(hinted=True, presolved=True, diving=False)
RELAXED = Manner(hinted=False, presolved=True, diving=True)


@dataclass(frozen=True, slots=True)
class Turn:
    """
    A manner, its part of the limit, and the part of the gap at which it may stop.

    A tier locked short of its best makes the next ones harder: the first turns try for
    a tenth of the gap.
    """

    manner: Manner
    part: float
    gap: float = 1.0


Lane = tuple[Turn, ...]
ALONE: tuple[Lane, ...] = (
    (
        Turn(STAYING, 0.05, 0.1),
        Turn(DIVING, 0.2, 0.1),
        Turn(IMPROVING, 0.3),
        Turn(RELAXED, 0.2),
        Turn(DIVING, 0.25),
    ),
)
RACING: tuple[Lane, ...] = (
    (Turn(DIVING, 0.2, 0.1), Turn(RELAXED, 0.5), Turn(DIVING, 0.3)),
    (Turn(STAYING, 0.1, 0.1), Turn(IMPROVING, 0.1, 0.1), Turn(IMPROVING, 0.8)),
)


@dataclass(slots=True)
class Goal:
    """
    What is to be reached: the value in hand, a bound, and a gap that will do.
    """

    direction: Literal["max", "min"]
    gap: float
    value: int
    bound: int

    def is_closed(self, claim: int | None = None, part: float = 1.0) -> bool:
        """
        Tell whether the better of the value and a claim is as near the bound as asked.
        """
        best = self.value
        if claim is not None and self.is_better(claim, best):
            best = claim
        return abs(best - self.bound) <= part * self.gap * abs(best)

    def is_better(self, one: int, other: int) -> bool:
        """
        Compare two values.
        """
        return one > other if self.direction == "max" else one < other

    def tighten(self, bound: float) -> None:
        """
        Learn a bound, rounded to the nearest whole value that it still allows.
        """
        found = whole(bound, up=self.direction == "min")
        if self.direction == "max":
            self.bound = min(self.bound, max(found, self.value))
        else:
            self.bound = max(self.bound, min(found, self.value))


def whole(bound: float, *, up: bool) -> int:
    """
    Round a bound to the nearest whole value it still allows.
    """
    nearest = round(bound)
    if abs(bound - nearest) < 1e-6 * max(1.0, abs(bound)):
        return nearest
    return int(-(-bound // 1)) if up else int(bound // 1)


@dataclass(slots=True)
class Budget:
    """
    What is left of the limit, in deterministic units or in seconds.
    """

    limits: Limits
    spent: Clock
    used: float = 0.0

    @property
    def left(self) -> float:
        """
        Give what may still be used.
        """
        if self.limits.seconds is not None:
            return self.limits.seconds - self.spent()
        return self.limits.deterministic - self.used

    @property
    def races(self) -> bool:
        """
        Tell whether two manners may run at once.
        """
        return self.limits.seconds is not None and self.limits.workers > 1

    def solver(self, manner: Manner, share: float, gap: float, seed: int) -> "_Solver":
        """
        Set a solver up for one manner and a share of the limit.
        """
        solver = _Solver()
        parameters = solver.parameters
        parameters.random_seed = seed
        parameters.num_workers = 1
        parameters.presolve_probing_deterministic_time_limit = 0.5
        parameters.symmetry_level = 0
        parameters.linearization_level = 2
        parameters.relative_gap_limit = gap
        if self.limits.seconds is not None:
            parameters.max_time_in_seconds = max(0.01, share)
        else:
            parameters.max_deterministic_time = max(0.001, share)
        manner.configure(solver)
        return solver


_Solver = cp_model.CpSolver


class Answer:
    """
    The values of one solve.
    """

    def __init__(self, solver: _Solver) -> None:
        self.solver = solver
        self.claim = round(solver.objective_value)

    def value(self, variable: Var) -> int:
        """
        Give a variable's value.
        """
        return int(self.solver.value(variable))


def attempt(
    model: cp_model.CpModel, goal: Goal, budget: Budget, share: float, seed: int
) -> Answer | None:
    """
    Solve a model with hints for its objective; tighten the goal's bound on the way.

    Gives the best answer found, none when there is none.
    """
    race = _Race(goal, budget, min(share, budget.left), seed)
    lanes = RACING if budget.races else ALONE
    if len(lanes) == 1:
        race.run(model, lanes[0])
    else:
        threads = [Thread(target=race.run, args=(model, lane)) for lane in lanes]
        for thread in threads:
            thread.start()
        race.attend(threads)
    return race.best


def _unhinted(model: cp_model.CpModel) -> cp_model.CpModel:
    copy = model.clone()
    copy.clear_hints()  # type: ignore[no-untyped-call]
    return copy


_ANSWERED = frozenset({cp_model.OPTIMAL, cp_model.FEASIBLE})
_GLANCE = 0.002


@dataclass(slots=True)
class _Race:
    """
    Lanes on the same model: when what they know together will do, all are stopped.
    """

    goal: Goal
    budget: Budget
    limit: float
    seed: int
    best: Answer | None = None
    claim: int | None = None
    part: float = 0.0
    over: bool = False
    running: list[_Solver] = field(default_factory=list)
    lock: RLock = field(default_factory=RLock)

    def run(self, model: cp_model.CpModel, lane: Lane) -> None:
        """
        Search in one manner after the other, until one of all lanes closes the goal.
        """
        for turn in lane:
            with self.lock:
                self.part = max(self.part, turn.gap)
                self._check()
                if self.over or self.budget.left <= 0:
                    return
                limit = min(self.limit * turn.part, self.budget.left)
                gap = self.goal.gap * turn.gap
                solver = self.budget.solver(turn.manner, limit, gap, self.seed)
                self.running.append(solver)
            solver.best_bound_callback = self._learn
            given = model if turn.manner.hinted else _unhinted(model)
            status = solver.solve(given, _Watcher(self))
            self._finish(solver, answered=status in _ANSWERED)

    def _finish(self, solver: _Solver, *, answered: bool) -> None:
        with self.lock:
            self.running.remove(solver)
            self.budget.used += solver.deterministic_time
            if not answered:
                return
            answer = Answer(solver)
            if self.best is None or self.goal.is_better(answer.claim, self.best.claim):
                self.best = answer
            self._learn(solver.best_objective_bound)
            self.hear(answer.claim)

    def attend(self, lanes: Sequence[Thread]) -> None:
        """
        Wait for all lanes, and stop those that run on when the race is over.
        """
        for lane in lanes:
            while lane.is_alive():
                lane.join(_GLANCE)
                if self.over:
                    for solver in tuple(self.running):
                        solver.stop_search()

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
        self.over |= self.goal.is_closed(self.claim, self.part)


class _Watcher(cp_model.CpSolverSolutionCallback):
    """
    Tells a race of every solution.
    """

    def __init__(self, race: _Race) -> None:
        super().__init__()
        self.race = race

    def on_solution_callback(self) -> None:
        """
        Pass the objective on.
        """
        self.race.hear(round(self.objective_value))
