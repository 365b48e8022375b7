"""
The search: tier by tier, each solved, decoded, repaired and locked before the next.

The best draft so far is kept outside the model and is never worse than greedy's in
the policy's order; the bounds are the model's own, or arithmetic where none was built.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ortools.sat.python import cp_model

from models.plan import ModelSize
from solver.bounds import trivial_bound
from solver.classes import Level, NodeClass, classes_of
from solver.complete import complete
from solver.decode import decode
from solver.draft import Draft
from solver.encode.encoding import Encoding, encode
from solver.encode.variables import Linear, Var
from solver.greedy import greedy
from solver.hint import hint
from solver.outcome import Outcome, Stopwatch, tier_results
from solver.problem import Problem
from solver.score import TierKey, is_better, score, tier_keys

SMALL = 400
MOST_CLASSES = 600
MOST_REFINEMENTS = 6
SPLIT_WHOLE = 24


def search(problem: Problem, watch: Stopwatch) -> Outcome:
    """
    Plan with the exact model, starting from greedy.
    """
    first = greedy(problem)
    watch.lap("greedy")
    run = _Search(problem, watch, first)
    run.all_tiers()
    return Outcome(
        draft=run.best,
        tiers=tier_results(run.keys, run.values, run.bounds),
        model=run.size,
    )


@dataclass(frozen=True, slots=True)
class _Manner:
    """
    One way to search; cases that stall in one close at once in another.
    """

    hinted: bool
    by_relaxation: bool
    lazy: bool

    def configure(self, solver: cp_model.CpSolver) -> None:
        """
        Set the parameters in which manners differ.
        """
        if self.by_relaxation:
            solver.parameters.search_branching = cp_model.LP_SEARCH
        solver.parameters.add_lp_constraints_lazily = self.lazy


MANNERS = (
    (_Manner(hinted=True, by_relaxation=False, lazy=True), 0.3),
    (_Manner(hinted=False, by_relaxation=True, lazy=False), 0.3),
    (_Manner(hinted=True, by_relaxation=True, lazy=True), 0.4),
)


@dataclass
class _Budget:
    """
    What is left of the limit, in deterministic units or in seconds.
    """

    problem: Problem
    watch: Stopwatch
    used: float = 0.0

    @property
    def left(self) -> float:
        limits = self.problem.policy.limits
        if limits.seconds is not None:
            return limits.seconds - self.watch.spent()
        return limits.deterministic - self.used

    def configure(self, solver: cp_model.CpSolver, share: float, gap: float) -> None:
        limits = self.problem.policy.limits
        parameters = solver.parameters
        parameters.random_seed = self.problem.policy.seed
        parameters.num_workers = 1
        parameters.presolve_probing_deterministic_time_limit = 0.5
        parameters.symmetry_level = 0
        parameters.linearization_level = 2
        parameters.relative_gap_limit = gap
        if limits.seconds is not None:
            parameters.max_time_in_seconds = max(0.01, share)
        else:
            parameters.max_deterministic_time = max(0.001, share)


@dataclass
class _Search:
    """
    The state of one search: the best draft, its values, and the bounds found.
    """

    problem: Problem
    watch: Stopwatch
    best: Draft
    keys: tuple[TierKey, ...] = ()
    values: tuple[int, ...] = ()
    bounds: list[int] = field(default_factory=list)
    size: ModelSize = field(default_factory=ModelSize)
    split: dict[int, int] = field(default_factory=dict)
    encoding: Encoding | None = None
    sums: dict[int, Linear] = field(default_factory=dict)
    locked: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.budget = _Budget(self.problem, self.watch)
        self.keys = tier_keys(self.problem)
        self.values = score(self.problem, self.best)
        self.bounds = [trivial_bound(self.problem, key) for key in self.keys]
        self.levels = levels_of(self.problem)
        self.shapes = pending_shapes(self.problem)

    def all_tiers(self) -> None:
        """
        Solve every tier that arithmetic does not prove already.
        """
        if self.budget.left > 0 and not self._is_proven():
            self._offer(complete(self.problem, Draft()))
        for at in range(len(self.keys)):
            if self.values[at] == self.bounds[at]:
                continue
            if self.budget.left <= 0 or not self.problem.units:
                break
            self._solve_tier(at)

    def _solve_tier(self, at: int) -> None:
        share = self._share(at)
        for _ in range(MOST_REFINEMENTS):
            encoding = self._ready(at)
            target = self._solve_once(encoding, at, share)
            if target is None or self.budget.left <= 0:
                return
            if not self._gains(at, target):
                return
            unpacked = self._take(encoding, at, target)
            if self._is_closed(at) or not unpacked:
                return
            if not self._refine([encoding.classes.items[c] for c in unpacked]):
                return

    def _share(self, at: int) -> float:
        open_tiers = sum(
            value != bound
            for value, bound in zip(self.values[at:], self.bounds[at:], strict=True)
        )
        return max(0.0, self.budget.left) / max(1.0, open_tiers * 0.5)

    def _is_closed(self, at: int) -> bool:
        """
        Tell whether a tier is proven, or near enough where the model is large.
        """
        missing = abs(self.values[at] - self.bounds[at])
        return missing <= self._gap(at) * abs(self.values[at])

    def _gap(self, at: int) -> float:
        return 0.0 if self.size.variables <= SMALL else self.keys[at].gap

    def _gains(self, at: int, answer: "_Answer") -> bool:
        """
        Tell whether the model claims more than the best draft already has.
        """
        claimed = answer.objective
        if self.keys[at].direction == "max":
            return claimed > self.values[at]
        return claimed < self.values[at]

    def _ready(self, at: int) -> Encoding:
        """
        Build the model if there is none, with every earlier tier locked.
        """
        if self.encoding is None:
            classes = classes_of(
                self.problem, self.shapes, self.levels, self.split, MOST_CLASSES
            )
            self.encoding = encode(self.problem, classes)
            self.sums = {}
            self.locked = set()
            self.watch.lap("build")
        encoding = self.encoding
        for earlier in range(at + 1):
            if earlier not in self.sums:
                self.sums[earlier] = encoding.tier(self.keys[earlier])
            if earlier < at and earlier not in self.locked:
                self.locked.add(earlier)
                self._lock(encoding, earlier)
        self._measure(encoding)
        return encoding

    def _lock(self, encoding: Encoding, at: int) -> None:
        """
        Keep a tier at the value of the decoded plan.
        """
        row = self.sums[at]
        if not row.variables:
            return
        if self.keys[at].direction == "max":
            encoding.model.add(row.expression >= self.values[at])
        else:
            encoding.model.add(row.expression <= self.values[at])

    def _measure(self, encoding: Encoding) -> None:
        proto = encoding.model.proto
        self.size = ModelSize(
            variables=len(proto.variables),
            constraints=len(proto.constraints),
            node_classes=encoding.classes.num_parts,
            pod_shapes=len(self.shapes),
            gang_types=len(encoding.types),
        )

    def _solve_once(
        self, encoding: Encoding, at: int, share: float
    ) -> "_Answer | None":
        key, row = self.keys[at], self.sums[at]
        if not row.variables:
            self._tighten(at, row.constant)
            return None
        if key.direction == "max":
            encoding.model.maximize(row.expression)
        else:
            encoding.model.minimize(row.expression)
        self.watch.lap("build")
        best: _Answer | None = None
        share = min(share, self.budget.left)
        for manner, part in MANNERS:
            answer = self._attempt(encoding, at, manner, share * part)
            if answer is not None and (best is None or answer.beats(best, key)):
                best = answer
            if self.budget.left <= 0 or (best and self._is_settled(at, best)):
                break
        return best

    def _attempt(
        self, encoding: Encoding, at: int, manner: "_Manner", share: float
    ) -> "_Answer | None":
        """
        Search once in one manner; its bound holds whatever it finds.
        """
        if manner.hinted:
            hint(encoding, self.best)
        else:
            encoding.model.clear_hints()  # type: ignore[no-untyped-call]
        solver = cp_model.CpSolver()
        self.budget.configure(solver, share, self._gap(at))
        manner.configure(solver)
        status = solver.solve(encoding.model)
        self.budget.used += solver.deterministic_time
        self.watch.lap("search")
        if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            return None
        bound = solver.best_objective_bound
        self._tighten(at, _whole(bound, up=self.keys[at].direction == "min"))
        return _Answer(solver)

    def _is_settled(self, at: int, answer: "_Answer") -> bool:
        claimed = answer.objective
        if not self._gains(at, answer):
            claimed = self.values[at]
        return abs(claimed - self.bounds[at]) <= self._gap(at) * abs(claimed)

    def _tighten(self, at: int, bound: int) -> None:
        if self.keys[at].direction == "max":
            bound = max(bound, self.values[at])
            self.bounds[at] = min(self.bounds[at], bound)
        else:
            bound = min(bound, self.values[at])
            self.bounds[at] = max(self.bounds[at], bound)

    def _take(self, encoding: Encoding, at: int, answer: "_Answer") -> tuple[int, ...]:
        """
        Decode an answer and keep it where it is better than the best so far.
        """
        decoded = decode(encoding, answer.value)
        draft = decoded.draft
        if decoded.unpacked:
            draft = complete(self.problem, draft)
        values = score(self.problem, draft)
        if is_better(self.keys[: at + 1], values, self.values):
            self.best, self.values = draft, values
            self._widen(at)
            self._complete(at)
        self.watch.lap("decode")
        return decoded.unpacked

    def _complete(self, at: int) -> None:
        """
        Offer what the answer leaves open to later tiers, by hand.
        """
        if self._offer(complete(self.problem, self.best)):
            self._widen(at)

    def _is_proven(self) -> bool:
        return list(self.values) == self.bounds

    def _offer(self, draft: Draft) -> bool:
        """
        Keep a draft if it is better than the best so far.
        """
        values = score(self.problem, draft)
        if not is_better(self.keys, values, self.values):
            return False
        self.best, self.values = draft, values
        return True

    def _widen(self, at: int) -> None:
        """
        Keep bounds on the right side of values.

        A repaired draft may beat a tier that was locked lower.
        """
        for i in range(len(self.keys)):
            if i <= at:
                self._tighten_side(i)
            else:
                self.bounds[i] = trivial_bound(self.problem, self.keys[i])

    def _tighten_side(self, i: int) -> None:
        if self.keys[i].direction == "max":
            self.bounds[i] = max(self.bounds[i], self.values[i])
        else:
            self.bounds[i] = min(self.bounds[i], self.values[i])

    def _refine(self, classes: Sequence[NodeClass]) -> bool:
        """
        Split the classes whose counts could not be packed, so that they become exact.
        """
        changed = False
        for item in classes:
            if len(item.nodes) == 1:
                continue
            changed = True
            pieces = len(item.nodes)
            size = 1 if pieces <= SPLIT_WHOLE else -(-pieces // SPLIT_WHOLE)
            for i, node in enumerate(item.nodes):
                self.split[node] = 1 + item.nodes[i // size * size]
        if changed:
            self.encoding = None
        return changed


class _Answer:
    """
    The values of one solve.
    """

    def __init__(self, solver: cp_model.CpSolver) -> None:
        self.solver = solver
        self.objective = round(solver.objective_value)

    def beats(self, other: "_Answer", key: TierKey) -> bool:
        """
        Tell whether this answer claims more than another.
        """
        if key.direction == "max":
            return self.objective > other.objective
        return self.objective < other.objective

    def value(self, variable: Var) -> int:
        """
        Give a variable's value.
        """
        return int(self.solver.value(variable))


def _whole(bound: float, *, up: bool) -> int:
    """
    Round a bound to the nearest whole value it still allows.
    """
    nearest = round(bound)
    if abs(bound - nearest) < 1e-6 * max(1.0, abs(bound)):
        return nearest
    return int(-(-bound // 1)) if up else int(bound // 1)


def levels_of(problem: Problem) -> list[Level]:
    """
    List the topology levels that pending gangs ask for, outermost first.
    """
    found = set()
    for unit in problem.units:
        for state in unit.states:
            for node in state.nodes:
                demand = node.topology
                for level in (demand.required, demand.preferred) if demand else ():
                    if level is not None and demand is not None:
                        order = problem.topologies[demand.topology].levels.index(level)
                        found.add((demand.topology, order, level))
    return [(topology, level) for topology, _, level in sorted(found)]


def pending_shapes(problem: Problem) -> list[int]:
    """
    List the shapes of pods that may be bound.
    """
    return sorted(
        {
            problem.shapes.of_leaf[state.key, i]
            for unit in problem.units
            for state in unit.states
            for i, leaf in enumerate(state.leaves)
            if leaf.pending
        }
    )
