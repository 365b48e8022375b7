"""
Rounds that are planned alike, though something that they are given differs.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from models.errors import PlanRejectedError
from models.gangs import pod_sets
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from solver.problem.problem import Problem
from solver.round import RoundMemo, RoundOptions, budget_of, judged, propose

MOST_UNITS, MOST_LONG = 0.25, 8
"""
Deterministic units that a round may take, and how many such rounds are planned.
"""
UNITS_OF_CHARGE, ANY_SIZE = 0.00008, 20
"""
Deterministic units for writing and reading a model, for each node and gang and for as
many as these.
"""
Read = tuple[Snapshot, Policy, Mapping[str, Mapping[str, int]]]


class RoundsTakeLongError(Exception):
    """
    Rounds of this kind are too dear to plan many of them.
    """


@dataclass(slots=True)
class PlannedRounds:
    """
    Rounds that were planned; those that read the same are planned once.

    They took so many deterministic ``units``; one alone may take the ``most``.
    """

    memo: RoundMemo = field(default_factory=RoundMemo)
    known: list[tuple[Read, Plan | None]] = field(default_factory=list)
    most: float = MOST_UNITS
    units: float = 0.0

    def plan(self, problem: Problem, strategy: str) -> Plan | None:
        """
        Plan and judge a round by one strategy; none where it broke a rule.

        Raises
        ------
        RoundsTakeLongError
            When it took too long, or all of them together did.
        """
        read = as_read(problem)
        same = next((one for one in self.known if one[0] == read), None)
        if same is None:
            same = read, self._plan(problem, strategy)
            self.known.append(same)
        return same[1]

    def _plan(self, problem: Problem, strategy: str) -> Plan | None:
        then, policy, memo = problem.snapshot, problem.policy, self.memo
        budget = budget_of(policy)
        options = RoundOptions(strategy, explained=False, memo=memo, problem=problem)
        try:
            plan = propose(then, policy, budget, options)
            size = ANY_SIZE + len(then.nodes) + len(then.gangs)
            took = budget.used + UNITS_OF_CHARGE * size * budget.charges
            self.units += took
            if took > self.most or self.units > MOST_LONG * self.most:
                raise RoundsTakeLongError
            return judged(then, policy, plan, budget.watch, memo)
        except PlanRejectedError:
            return None


def as_read(problem: Problem) -> Read:
    """
    Give all that a round reads: weights only as the shares that come from them.

    No more pods are moved than run, or than start before they are moved.
    """
    snapshot, policy = problem.snapshot, problem.policy
    queues = tuple(
        replace(
            queue,
            resources={
                name: replace(rule, weight=min(1, rule.weight))
                for name, rule in queue.resources.items()
            },
        )
        for queue in snapshot.queues
    )
    most = policy.evict.max_moves
    if most is not None:
        leaves = [leaf for gang in snapshot.gangs for leaf in pod_sets(gang.tree)]
        phases = Counter(pod.phase for leaf in leaves for pod in leaf.pods)
        most = min(most, max(phases.values(), default=0))
    evict = policy.evict.model_copy(update={"max_moves": most})
    policy = policy.model_copy(update={"evict": evict})
    return replace(snapshot, queues=queues), policy, problem.shares
