"""
The round in which a gang that is outranked starts all the same: what its start costs.
"""

from dataclasses import replace

from models.errors import PlanRejectedError
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from solver.problem.problem import problem_of
from solver.round import RoundOptions, budget_of, judged, propose
from solver.why.same_rounds import RoundsTakeLongError
from solver.why.trial import SMALL, in_short
from solver.why.why_waits import unit_of

UNITS = 0.1
"""
Deterministic units for such a round.
"""


def start_anyway(snapshot: Snapshot, policy: Policy, gang: str) -> Plan | None:
    """
    Plan and judge a round in which a gang starts, whatever the policy wants instead.

    Its tiers are those of the policy.  Where it waits all the same, its line says why;
    there is no plan where that breaks a rule.

    Raises
    ------
    RoundsTakeLongError
        When the round is too large to be planned once more.
    """
    if len(snapshot.nodes) + len(snapshot.gangs) > SMALL:
        raise RoundsTakeLongError
    policy = in_short(policy, UNITS)
    problem, budget = problem_of(snapshot, policy), budget_of(policy)
    problem = replace(problem, asked=unit_of(problem, gang).key)
    plan = propose(snapshot, policy, budget, RoundOptions(problem=problem))
    plan = replace(plan, tiers=tuple(x for x in plan.tiers if x.name != "asked"))
    try:
        return judged(snapshot, policy, plan, budget.watch)
    except PlanRejectedError:
        return None
