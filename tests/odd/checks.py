"""
What must hold of every round: it is planned, legal, and never worse than greedy's.
"""

import traceback
from collections.abc import Mapping
from dataclasses import replace

from benchmarks.planned import decide_alone
from benchmarks.quality import vector_of
from exact import (
    UndecidedError,
    best_first_step,
    best_later,
    best_second_step,
    gone_stale,
    worse_in_a_step,
)
from exact.search import Value
from models.documents.scenario import Scenario
from models.errors import PlanRejectedError
from models.gangs import PodPhase, PodSet, Tree, comes_back, pod_sets, released
from models.plan import Operation, Plan
from models.policy import Policy
from solver.next_snapshot import carry_out
from solver.problem.problem import problem_of
from solver.round import decide
from tests.odd.difference import Name, first_difference

MOST_PODS = 14


def complaint(scenario: Scenario, *, exactly: bool = False) -> str | None:
    """
    Say in one line what is wrong with a round; none where all is well.

    Parameters
    ----------
    scenario
        The round.
    exactly
        Whether the plan is held against the exact model as well.
    """
    plans = {}
    for strategy in ("greedy", "solver"):
        try:
            plans[strategy] = decide(
                scenario.snapshot, scenario.policy, strategy=strategy
            )
        except PlanRejectedError as error:
            return f"{strategy} rejected: {error.violations[0]}"
        except Exception as error:  # noqa: BLE001 - any crash is what is looked for
            where = traceback.extract_tb(error.__traceback__)[-1]
            return f"{strategy} crashed: {error!r} in {where.name}"
    found = better(plans["greedy"], plans["solver"])
    if found is not None and not _excused(scenario, plans["greedy"], plans["solver"]):
        return f"greedy is better: {found}"
    if exactly and is_exact(scenario):
        plan = decide_alone(scenario.snapshot, scenario.policy)
        return _difference(scenario, plan)
    return None


def kind(found: str) -> str:
    """
    Name what a complaint is about, without its gangs and numbers.
    """
    first, _, rest = found.partition(": ")
    return f"{first}: {rest.split(':')[0]}"


# --- greedy ---------------------------------------------------------------------


def _excused(scenario: Scenario, greedy: Plan, solver: Plan) -> bool:
    """
    Tell whether greedy's plan gives up what the solver's keeps, or does not last.
    """
    kept = _kept(scenario, greedy)
    return (
        kept != _kept(scenario, solver)
        or bool(_let_go(greedy) - _let_go(solver))
        or (bool(kept) and _gives_up(scenario, greedy))
        or any(_taken_back(scenario, greedy, "solver", after=x) for x in (0, 60))
    )


def _kept(scenario: Scenario, plan: Plan) -> set[tuple[str, str | None]]:
    """
    Name the promised places that a plan keeps: whoever gives one up may do more.
    """
    promised = {
        (gang.key, pod.node)
        for gang in scenario.snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
        if pod.phase is PodPhase.RESERVED
    }
    return promised & {(op.gang, op.node) for op in plan.operations}


def _gives_up(scenario: Scenario, greedy: Plan) -> bool:
    """
    Tell whether greedy plans as if nothing had been promised.

    A promise that is kept counts in no tier, and one that is given up and then found
    again does.
    """
    snapshot = scenario.snapshot
    free = replace(snapshot, gangs=tuple(map(released, snapshot.gangs)))
    return decide(free, scenario.policy, strategy="greedy").tiers == greedy.tiers


def _let_go(plan: Plan) -> set[str]:
    """
    Name the stale gangs that leave: whoever helps one of them has not its room.
    """
    return {step.gang for step in plan.operations if step.rule == "stale"}


def better(greedy: Plan, solver: Plan) -> str | None:
    """
    Name the first tier that differs, where greedy has the better value.
    """
    found = first_difference(greedy, solver)
    if found is None or not found.is_better:
        return None
    return f"{found.name}: {found.value}, and the solver has {found.other}"


def undone(
    scenario: Scenario, plan: Plan, strategy: str = "solver"
) -> list[tuple[str, str | None, tuple[str, ...]]]:
    """
    List what the next round evicts of what a plan binds, for who waits in it.

    No plan may let that happen (decision 0023), but for those who wait all the same
    where the ones they evict do not start; greedy sees only its own next round.
    """
    found = _taken_back(scenario, plan, strategy)
    gone = {step.gang for step in found}
    served = _served(scenario, strategy, gone) if found else set()
    served &= _waiting(plan)
    return [
        (step.pod, step.rule, step.beneficiaries)
        for step in found
        if not served.isdisjoint(step.beneficiaries)
    ]


def _taken_back(
    scenario: Scenario, plan: Plan, strategy: str, *, after: int = 60
) -> list[Operation]:
    """
    List what a round so much later evicts of what a plan binds, whoever else may start.

    Where somebody comes back meanwhile, what is wanted has changed.
    """
    if any(comes_back(gang, after) for gang in scenario.snapshot.gangs):
        return []
    later = carry_out(scenario.snapshot, plan, after)
    following = decide(later, scenario.policy, strategy=strategy)
    bound = {step.pod for step in plan.operations if step.op == "Bind"}
    return [
        step
        for step in following.operations
        if step.op == "Evict" and step.pod in bound
        if not _waiting(plan).isdisjoint(step.beneficiaries)
    ]


def _waiting(plan: Plan) -> set[str]:
    return {line.name for line in plan.gangs if line.state == "Waiting"}


def _served(scenario: Scenario, strategy: str, gone: set[str]) -> set[str]:
    """
    Name the gangs that get places where some others start nothing; what runs stays.
    """
    gangs = tuple(
        replace(gang, tree=_gated(gang.tree)) if gang.key in gone else gang
        for gang in scenario.snapshot.gangs
    )
    snapshot = replace(scenario.snapshot, gangs=gangs)
    plan = decide(snapshot, scenario.policy, strategy=strategy)
    return {step.gang for step in plan.operations if step.op in {"Bind", "Reserve"}}


def _gated(tree: Tree) -> Tree:
    """
    Hold back what waits of a gang.
    """
    if not isinstance(tree, PodSet):
        return replace(tree, children=tuple(map(_gated, tree.children)))
    pods = (
        replace(pod, phase=PodPhase.GATED) if pod.phase is PodPhase.PENDING else pod
        for pod in tree.pods
    )
    return replace(tree, pods=tuple(pods))


# --- the exact model ------------------------------------------------------------


def is_exact(scenario: Scenario) -> bool:
    """
    Tell whether the exact model knows all of a round, and is small enough.
    """
    snapshot, policy = scenario.snapshot, scenario.policy
    pods = [p for g in snapshot.gangs for leaf in pod_sets(g.tree) for p in leaf.pods]
    waiting = policy.waiting
    return (
        len(pods) <= MOST_PODS
        and not any(pod.phase is PodPhase.RESERVED for pod in pods)
        and not (
            waiting.heads
            and any(g.passed_over >= waiting.protect_after for g in snapshot.gangs)
        )
        and _in_known_order(policy)
        and not policy.has("expected-fragments")
    )


def _in_known_order(policy: Policy) -> bool:
    """
    Tell whether entitled starts, losses and borrowing come first, as the steps do.
    """
    names = [tier.name for tier in policy.tiers]
    return names[:3] == ["entitled", "disruption", "borrowing"] or (
        names[:2] == ["entitled", "disruption"] and "borrowing" not in names
    )


def _difference(scenario: Scenario, plan: Plan) -> str | None:
    """
    Name the first tier in which a plan is worse than a step of the exact model.
    """
    snapshot, policy = scenario.snapshot, scenario.policy
    shares = problem_of(snapshot, policy).shares
    try:
        first = best_first_step(snapshot, policy, shares, gone_stale(plan))
        second: list[Value] | None = []
        if policy.has("borrowing"):
            second = best_second_step(snapshot, policy, shares, plan)
        later = best_later(snapshot, policy, shares, plan)
    except UndecidedError:
        return None
    if first is None or second is None or later is None:
        return "the exact model rejects: what the plan froze"
    have: Mapping[Name, int] = vector_of(plan)
    worse = worse_in_a_step(have, first, second, later)
    if worse is None:
        return None
    name, band, value = worse
    text = f"{value}, and the solver has {have.get((name, band), 0)}"
    return f"the exact model differs: {name}: {text}"
