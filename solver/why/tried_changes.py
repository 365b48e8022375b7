"""
Remedies, tried: the round with a change planned and judged, for each line of the menu.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from models.changes import Change, ChangesRejectedError, changed
from models.errors import PlanRejectedError
from models.plan import Plan
from models.policy import Policy
from models.reasons import Reason
from models.remedies import Remedies, Remedy
from models.snapshot import Snapshot
from solver.effort.budget import Budget, Stopwatch
from solver.evict.open_step import remembering
from solver.problem.problem import problem_of
from solver.round import RoundMemo, decide
from solver.why.given_to_others import given_by
from solver.why.menu import MenuLine, menu_of
from solver.why.named_rules import rules_of
from solver.why.start_under import StartUnder
from solver.why.why_waits import unit_of

SIZE_TRIED = 10_000
"""
Nodes and gangs of all rounds together that are planned to try changes.
"""
LEAST_TRIES, MOST_TRIES = 2, 80
UNITS_OF_SIZE = 2000.0
"""
Deterministic units for one such round, times its nodes and gangs.
"""
HOPELESS = frozenset(
    {
        Reason.INVALID_GANG,
        Reason.CONFIG_CONFLICT,
        Reason.UNSUPPORTED_CONSTRAINT,
        Reason.HELD,
        Reason.QUEUE_NOT_FOUND,
        Reason.QUEUE_CLOSED,
        Reason.WAITING_FOR_GROUP,
        Reason.WAITING_FOR_VOLUMES,
        Reason.TIMED_OUT,
        Reason.BIND_REJECTED,
    }
)
"""
Reasons that nothing on the menu takes away.
"""
_HELPED = frozenset({"Starting", "Reserved", "Running", "Growing"})


def remedies_of(snapshot: Snapshot, policy: Policy, plan: Plan, gang: str) -> Remedies:
    """
    Say what would start a gang that waits: single changes, or two where none helps.

    Parameters
    ----------
    snapshot
        What is.
    policy
        What is wanted, and what changes cost.
    plan
        The round that was planned for both.
    gang
        Who waits.
    """
    problem = remembering(problem_of(snapshot, policy))
    waiting = problem.blocked.get(gang)
    if waiting is not None and waiting.reason in HOPELESS:
        return Remedies()
    unit = unit_of(problem, gang)
    beside = given_by(plan, problem, unit).beside(problem)
    rules = rules_of(problem, beside, unit)
    menu = menu_of(problem, unit, rules, policy.prices)
    trial = trial_of(snapshot, policy, plan, gang)
    found = [one for offer in menu if (one := trial.least(offer)) is not None]
    if not found:
        pairs = combinations((x for x in menu if x.most), 2)
        cheap = sorted(pairs, key=lambda two: sum(x.price(x.most) for x in two))
        for first, second in cheap:
            both = trial.both(first, second)
            if both is not None:
                found.append(both)
                break
    return Remedies(
        found=tuple(sorted(found, key=lambda one: one.price)),
        tried=trial.tried,
        untried=trial.untried,
    )


def trial_of(snapshot: Snapshot, policy: Policy, plan: Plan, gang: str) -> "Trial":
    """
    Plan rounds without a clock, in large clusters fewer and each in less time.
    """
    size = max(1, len(snapshot.nodes) + len(snapshot.gangs))
    tries = min(MOST_TRIES, max(LEAST_TRIES, SIZE_TRIED // size))
    most = min(policy.limits.deterministic, UNITS_OF_SIZE / size)
    limits = policy.limits.model_copy(
        update={"seconds": None, "workers": 1, "deterministic": most}
    )
    return Trial(
        snapshot, policy.model_copy(update={"limits": limits}), plan, gang, tries
    )


@dataclass(slots=True)
class Trial:
    """
    One gang's round, planned again and again with something changed.
    """

    snapshot: Snapshot
    policy: Policy
    plan: Plan
    gang: str
    tries: int
    tried: int = 0
    untried: int = 0
    memo: RoundMemo = field(default_factory=RoundMemo)

    def least(self, offer: MenuLine) -> Remedy | None:
        """
        Find the least amount of a line with which the gang starts.
        """
        return self._least(offer.least, offer.most, lambda by: [(offer, by)])

    def both(self, first: MenuLine, second: MenuLine) -> Remedy | None:
        """
        Find the least amounts of two lines with which the gang starts, one by one.
        """
        whole = self._try([(first, first.most), (second, second.most)])
        if whole is None:
            return None
        one = self._least(
            first.least, first.most, lambda by: [(first, by), (second, second.most)]
        )
        used = first.most if one is None else _amount(first, one)
        two = self._least(
            second.least, second.most, lambda by: [(first, used), (second, by)]
        )
        return two or one or whole

    def _least(
        self, least: int, most: int, lines: Callable[[int], list[tuple[MenuLine, int]]]
    ) -> Remedy | None:
        """
        Find the least amount between two that helps: more helps where less does.
        """
        best = self._try(lines(least))
        if best is not None or least >= most:
            return best
        best = self._try(lines(most))
        low, high = least, most
        while best is not None and high - low > 1:
            middle = (low + high) // 2
            found = self._try(lines(middle))
            low, high = (low, middle) if found else (middle, high)
            best = found or best
        return best

    def _try(self, lines: Sequence[tuple[MenuLine, int]]) -> Remedy | None:
        """
        Plan and judge the round with changes; none where the gang waits all the same.
        """
        changes = tuple(offer.change(by) for offer, by in lines)
        plan = self._planned(changes)
        if plan is None:
            return None
        after = {line.name: str(line.state) for line in plan.gangs}
        if after.get(self.gang) not in _HELPED:
            return None
        price = sum(offer.price(by) for offer, by in lines)
        return self.told(changes, price, after)

    def _planned(self, changes: Sequence[Change]) -> Plan | None:
        """
        Plan and judge the round with changes; none where it is known not to help.
        """
        try:
            then = changed(self.snapshot, changes)
        except ChangesRejectedError:
            return None
        return None if self._cannot(then) else self.round_of(then)

    def round_of(self, then: Snapshot) -> Plan | None:
        """
        Plan and judge a round; none where no more are planned, or it broke a rule.
        """
        if self.tried >= self.tries:
            self.untried += 1
            return None
        self.tried += 1
        try:
            return decide(then, self.policy, explained=False, memo=self.memo)
        except PlanRejectedError:
            return None

    def _cannot(self, then: Snapshot) -> bool:
        """
        Tell whether a gang could not even start alone after changes, by proof.
        """
        problem = remembering(problem_of(then, self.policy, None, self.memo.problem))
        if self.gang in problem.blocked:
            return True
        state = problem.states.get(self.gang)
        if state is None or state.satisfied:
            return False
        unit = unit_of(problem, self.gang)
        rules = rules_of(problem, problem, unit)
        budget = Budget(self.policy.limits, 0, Stopwatch(None))
        ask = StartUnder(problem, problem, unit, rules, closed=False, budget=budget)
        return ask.answer(frozenset(rules)) is False

    def told(
        self, changes: tuple[Change, ...], price: int, after: dict[str, str]
    ) -> Remedy:
        """
        Say what others gain and lose.
        """
        before = {line.name: str(line.state) for line in self.plan.gangs}
        others = [name for name in sorted(before) if name != self.gang]

        def became(states: Sequence[str], not_before: Sequence[str]) -> tuple[str, ...]:
            return tuple(
                name
                for name in others
                if after.get(name) in states and before[name] not in not_before
            )

        starting = ("Starting", "Growing", "Reserved")
        waits = tuple(
            name
            for name in others
            if before[name] in starting and after.get(name) == "Waiting"
        )
        gone = tuple(
            name
            for name in others
            if before[name] == "Running" and after.get(name) == "Waiting"
        )
        leaves = {*became(("Evicting",), ("Evicting",)), *gone}
        return Remedy(
            changes=changes,
            price=price,
            starts=became(("Starting", "Reserved"), starting),
            waits=waits,
            leaves=tuple(sorted(leaves)),
        )


def _amount(offer: MenuLine, remedy: Remedy) -> int:
    """
    Give the amount of a line that a remedy has.
    """
    return next(
        by
        for by in range(offer.least, offer.most + 1)
        if offer.change(by) in remedy.changes
    )
