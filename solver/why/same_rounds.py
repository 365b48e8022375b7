"""
Rounds that are planned alike, though something that they are given differs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf

from models.errors import PlanRejectedError
from models.gangs import pod_sets
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from solver.problem.problem import Problem
from solver.problem.start_values import quarters_owed
from solver.round import RoundMemo, RoundOptions, budget_of, judged, propose

Read = tuple[Snapshot, Policy, Mapping[str, Mapping[str, int]]]


@dataclass(frozen=True, slots=True)
class PlannedRounds:
    """
    Rounds that were planned; those that read the same are planned once.
    """

    memo: RoundMemo = field(default_factory=RoundMemo)
    known: list[tuple[Read, Plan | None]] = field(default_factory=list)

    def plan(self, problem: Problem, strategy: str) -> Plan | None:
        """
        Plan and judge a round by one strategy; none where it broke a rule.
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


def is_same(one: Plan, other: Plan) -> bool:
    """
    Tell whether two rounds have one plan, proven to be best and of one worth in both.
    """
    sure = {x.proof for plan in (one, other) for x in plan.tiers} == {"proven"}
    values = ([(x.name, x.band, x.value) for x in plan.tiers] for plan in (one, other))
    return sure and one.operations == other.operations and next(values) == next(values)


def is_between(low: Problem, middle: Problem, high: Problem) -> bool:
    """
    Tell whether a round may do nothing that neither of two others may.

    Only limits, quotas and shares may differ, and grow from one to the next.  Where
    what grows is above all that runs, nobody has a right against it, and the high round
    may do whatever this one may; where it is below, nobody starts by it, and the low
    one may.  No plan is worth more here than there.  So the best plan of both others is
    the best of this one, if it is worth the same in both.
    """
    rounds = (low, middle, high)
    if any(_besides(one) != _besides(middle) for one in rounds):
        return False
    steps = [*_steps(rounds)]
    sides = {above for (least, _, most), above in steps if least < most}
    return len(sides) < 2 and all(x <= y <= z for (x, y, z), _ in steps)


def _steps(
    rounds: tuple[Problem, Problem, Problem],
) -> Iterator[tuple[tuple[float, ...], bool]]:
    """
    Walk what may grow over three rounds, and whether it is above what runs in the next.
    """
    queues = rounds[1].queues
    for queue in queues.queues:
        for name in queues.named:
            running = queues.running.get(queue, {}).get(name, 0)
            share, quota, limit = zip(
                *(_dues(x, queue, name) for x in rounds), strict=True
            )
            yield from ((x, x[1] >= running) for x in (share, quota))
            yield limit, True


def _dues(problem: Problem, queue: str, resource: str) -> tuple[float, ...]:
    """
    Give what a queue is due of a resource, in all and for sure, and may hold at most.
    """
    rule = problem.queues.queues[queue].rule(resource)
    share = problem.shares.get(queue, {}).get(resource, 0)
    return share, *(inf if x is None else x for x in (rule.quota, rule.limit))


def _besides(problem: Problem) -> tuple[object, ...]:
    """
    Give what else there is, and what queues allow: quotas of what nobody may evict.
    """
    snapshot = problem.snapshot
    fixed = not all(gang.preemptible for gang in snapshot.gangs)
    allowed = [
        (queue.name, name, rule.quota if fixed else 0)
        for queue in snapshot.queues
        for name, rule in sorted(queue.resources.items())
    ]
    outside = {name: team.queue for name, team in problem.queues.outside.items()}
    owed = [quarters_owed(problem, queue) for queue in problem.queues.queues]
    return problem.policy, replace(snapshot, queues=()), allowed, outside, owed
