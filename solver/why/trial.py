"""
A trial: rounds planned and judged again and again with something changed.

In a small cluster it is this round that is planned anew.  In a large one, and where
rounds take long, it is the next, after this plan: who starts now runs then, so that
little is left to plan.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TypeVar

from models.changes import (
    Change,
    ChangesRejectedError,
    MoreMoves,
    PassedTime,
    changed,
    policy_after,
)
from models.errors import PlanRejectedError
from models.gangs import as_large_as_it_is
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from models.why.menu_line import MenuLine
from models.why.remedies import STARTS, Remedy, others_changed
from solver.next_snapshot import carry_out
from solver.problem.problem import Problem, problem_of, together
from solver.round import (
    RoundMemo,
    RoundOptions,
    budget_of,
    judged,
    propose,
)
from solver.why.same_rounds import MOST_UNITS, PlannedRounds, RoundsTakeLongError
from solver.why.start_under import STARTS as TIERS
from solver.why.why_waits import cannot_start

SMALL = 600
"""
Nodes and gangs up to which this round is planned anew.
"""
SIZE_TRIED, SIZE_ALONE = 10_000, 100_000
"""
Nodes and gangs of all rounds together that are planned to try changes: with all that
wait, and with one of them alone.
"""
LEAST_TRIES, MOST_TRIES = 3, 80
LEAST_ALONE, MOST_ALONE = 12, 400
UNITS_OF_SIZE = 2000.0
"""
Deterministic units for one such round, times its nodes and gangs.
"""
_HELPED = frozenset({*STARTS, "Running", "Growing"})
Lines = Sequence[tuple[MenuLine, int]]
Found = TypeVar("Found")


def try_out(
    snapshot: Snapshot,
    policy: Policy,
    plan: Plan,
    gang: str,
    tried: "Callable[[Trial], Found]",
) -> Found:
    """
    Try changes in this round, and where that takes long in the next.
    """
    try:
        return tried(trial_of(snapshot, policy, plan, gang))
    except RoundsTakeLongError:
        return tried(trial_of(snapshot, policy, plan, gang, later=True))


def trial_of(
    snapshot: Snapshot, policy: Policy, plan: Plan, gang: str, *, later: bool = False
) -> "Trial":
    """
    Plan rounds without a clock, in large clusters fewer and each in less time.
    """
    size = max(1, len(snapshot.nodes) + len(snapshot.gangs))
    later |= size > SMALL
    trial = Trial(
        snapshot=snapshot,
        policy=in_short(policy, UNITS_OF_SIZE / size if later else MOST_UNITS),
        gang=gang,
        before=plan.states,
        tries=min(MOST_TRIES, max(LEAST_TRIES, SIZE_TRIED // size)),
        tries_alone=min(MOST_ALONE, max(LEAST_ALONE, SIZE_ALONE // size)),
    )
    if later:
        trial.begin_later(plan)
    return trial


def in_short(policy: Policy, most: float) -> Policy:
    """
    Plan by a policy without a clock, and in no more than some deterministic units.
    """
    most = min(policy.limits.deterministic, most)
    limits = policy.limits.model_copy(
        update={"seconds": None, "workers": 1, "deterministic": most}
    )
    return policy.model_copy(update={"limits": limits})


@dataclass(slots=True, kw_only=True)
class Trial:
    """
    One gang's round, planned again and again with something changed.

    ``begun`` is the plan after which the next round is planned; none where it is this.
    ``alone`` is that round with this gang as the only one that waits or grows.
    ``open`` says that what did not help may only not have been found to.  In a
    ``crowded`` round others start or wait, too.  ``helped`` are the plans that
    started this gang alone: how much the last one used of a line may be enough.
    """

    snapshot: Snapshot
    policy: Policy
    gang: str
    before: Mapping[str, str]
    tries: int
    tries_alone: int
    begun: Plan | None = None
    alone: Snapshot | None = None
    tried: int = 0
    untried: int = 0
    open: bool = False
    known: dict[tuple[Change, ...], Remedy | None] = field(default_factory=dict)
    known_alone: dict[tuple[Change, ...], Remedy | None] = field(default_factory=dict)
    rounds: PlannedRounds = field(default_factory=PlannedRounds)
    memo_alone: RoundMemo = field(default_factory=RoundMemo)
    helped: dict[tuple[Change, ...], Plan] = field(default_factory=dict)

    def begin_later(self, plan: Plan) -> None:
        """
        Try changes after a plan was carried out, beside what the next round does.
        """
        self.begun, self.rounds.most = plan, inf
        after = carry_out(self.snapshot, _kept(plan), 0)
        waits = {line.name for line in plan.gangs if line.state == "Waiting"}
        self.snapshot = after
        problem = self.problem_with(())
        if self.gang:
            states = problem.states
            own = {state.key for state in together(states[self.gang], states)}
            self.alone = _without_others(after, own, waits - own)
        following = self.round_of(problem)
        if following is not None:
            self.before = following.states

    @property
    def crowded(self) -> bool:
        """
        Tell whether more may help less: others may take it first.
        """
        others = {was for name, was in self.before.items() if name != self.gang}
        return not others.isdisjoint({"Waiting", "Growing", *STARTS})

    def least(self, line: MenuLine) -> Remedy | None:
        """
        Find the least amount of a line with which the gang starts.
        """
        return self.search(line, line.amounts, lambda by: [(line, by)])

    def search(
        self, line: MenuLine, amounts: Sequence[int], lines: Callable[[int], Lines]
    ) -> Remedy | None:
        """
        Find the least of some amounts of a line that helps: more helps where less does.

        In the next round it is tried as if nobody else waited.
        """
        some = range(amounts[0], amounts[-1] + 1)
        if self.alone is None:
            return _halved(some, lambda by: self.tried_with(lines(by)))
        found = guessed(
            some,
            lambda by: self._alone(lines(by)),
            lambda: max(map(line.used, [*self.helped.values()][-1:]), default=0),
        )
        return found if found is not None and _holds(self, found) else None

    def with_others(self, remedy: Remedy) -> Remedy:
        """
        Plan the round with a remedy and all that wait, where it was tried alone.

        Moves for all that wait, and evictions for them once more may be evicted, take
        longer than everything else here.
        """
        long = any(isinstance(x, MoreMoves | PassedTime) for x in remedy.changes)
        if long or not remedy.alone:
            return remedy
        plan = self.round_of(self.problem_with(remedy.changes))
        if plan is None or plan.states.get(self.gang) not in _HELPED:
            return remedy
        return self.told(remedy.changes, remedy.price, plan.states)

    def _alone(self, lines: Lines) -> Remedy | None:
        """
        Plan the next round with changes as if nobody else waited.
        """
        changes = tuple(line.change(by) for line, by in lines)
        if changes not in self.known_alone:
            if self.alone is None or self.tries_alone <= 0:
                self.untried += 1
                return None
            self.tries_alone, self.open = self.tries_alone - 1, True
            price = sum(line.price(by) for line, by in lines)
            self.known_alone[changes] = self._try_alone(self.alone, changes, price)
        return self.known_alone[changes]

    def _try_alone(
        self, alone: Snapshot, changes: tuple[Change, ...], price: int
    ) -> Remedy | None:
        policy = policy_after(self.policy, changes)
        memo = self.memo_alone
        options = RoundOptions(strategy="greedy", explained=False, memo=memo)
        try:
            plan = propose(changed(alone, changes), policy, budget_of(policy), options)
        except ChangesRejectedError:
            return None
        after = plan.states
        if after.get(self.gang) not in _HELPED:
            return None
        self.helped[changes] = plan
        return replace(self.told(changes, price, after), alone=True)

    def may_help(self, lines: Lines) -> bool:
        """
        Tell whether a gang could start with changes if nobody else waited.
        """
        if self.alone is not None:
            return self._alone(lines) is not None
        try:
            problem = self.problem_with([line.change(by) for line, by in lines])
        except ChangesRejectedError:
            return False
        return not cannot_start(problem, self.gang)

    def tried_with(self, lines: Lines) -> Remedy | None:
        """
        Plan and judge the round with changes; none where the gang waits all the same.
        """
        changes = tuple(line.change(by) for line, by in lines)
        if changes not in self.known:
            self.known[changes] = self._try(changes, lines)
        return self.known[changes]

    def _try(self, changes: tuple[Change, ...], lines: Lines) -> Remedy | None:
        try:
            problem = self.problem_with(changes)
        except ChangesRejectedError:
            return None
        if cannot_start(problem, self.gang):
            return None
        plan = self.round_of(problem)
        if plan is None:
            return None
        after = plan.states
        if after.get(self.gang) not in _HELPED:
            proofs = {x.proof for x in plan.tiers if x.name in TIERS}
            self.open |= proofs != {"proven"}
            return None
        price = sum(line.price(by) for line, by in lines)
        return self.told(changes, price, after)

    def problem_with(self, changes: Sequence[Change]) -> Problem:
        """
        Give the round with changes.
        """
        policy, memo = policy_after(self.policy, changes), self.rounds.memo.problem
        return problem_of(changed(self.snapshot, changes), policy, None, memo)

    def round_of(self, problem: Problem) -> Plan | None:
        """
        Plan and judge a round; none where no more are planned, or it broke a rule.
        """
        if self.tried >= self.tries:
            self.untried += 1
            return None
        self.tried += 1
        by = "solver" if self.begun is None else "greedy"
        plan = self.rounds.plan(problem, by)
        self.open |= plan is None
        return plan

    def told(
        self, changes: tuple[Change, ...], price: int, after: Mapping[str, str]
    ) -> Remedy:
        """
        Say what others gain and lose.
        """
        starts, waits, leaves = others_changed(self.before, after, self.gang)
        return Remedy(
            changes=changes, price=price, starts=starts, waits=waits, leaves=leaves
        )


def _kept(plan: Plan) -> Plan:
    """
    Give a plan as if all that it reserves had its places already.
    """
    steps = (x if x.op == "Evict" else replace(x, op="Bind") for x in plan.operations)
    return replace(plan, operations=tuple(steps))


def _without_others(then: Snapshot, own: set[str], waits: set[str]) -> Snapshot:
    kept = [gang for gang in then.gangs if gang.key not in waits]
    gangs = (x if x.key in own else as_large_as_it_is(x) for x in kept)
    return replace(then, gangs=tuple(gangs))


def _holds(trial: Trial, remedy: Remedy) -> bool:
    """
    Judge the plan that started a gang alone with a remedy.
    """
    assert trial.alone is not None
    changes = remedy.changes
    then, plan = changed(trial.alone, changes), trial.helped[changes]
    policy, memo = policy_after(trial.policy, changes), trial.memo_alone
    try:
        judged(then, policy, plan, budget_of(policy).watch, memo)
    except PlanRejectedError:
        return False
    return True


def _halved(amounts: range, tried: Callable[[int], Found | None]) -> Found | None:
    """
    Find the least amount that helps, by halving where that is not the very first.
    """
    first = tried(amounts[0])
    if first is not None or len(amounts) == 1:
        return first
    return guessed(amounts[1:], tried, lambda: 0)


def guessed(
    amounts: range, tried: Callable[[int], Found | None], used: Callable[[], int]
) -> Found | None:
    """
    Find the least amount that helps, all of it tried first.

    What the last plan that helped has ``used`` is the guess of how much is enough;
    where that is no guess, half.
    """
    best = tried(amounts[-1])
    low, high = amounts[0] - 1, amounts[-1]
    while best is not None and high - low > 1:
        guess = min(high - 1, used())
        middle = guess if low < guess else (low + high) // 2
        found = tried(middle)
        low, high = (low, middle) if found is not None else (middle, high)
        best = found if found is not None else best
    return best
