"""
What a cluster looks like some time after a plan was carried out.

Rounds are played with it: in tests, in comparisons with others, in replays.  Nothing
here decides anything, and no pod ever ends by itself.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from models.devices.gpu_models import with_models
from models.gangs import (
    DisruptionBudget,
    Gang,
    MatchPolicy,
    Pod,
    PodPhase,
    PodSet,
    Tree,
    comes_back,
    is_complete,
    running_pods,
)
from models.plan import GangLine, Operation, Plan
from models.snapshot import Snapshot
from models.why.reasons import Reason
from solver.problem.gang_state import standing

_GONE = frozenset({"Evict", "Move"})
_NOT_CHOSEN = frozenset(
    {
        Reason.QUOTA_LIMIT_REACHED,
        Reason.PREEMPTION_PROTECTED,
        Reason.INSUFFICIENT_CAPACITY,
        Reason.FRAGMENTED,
        Reason.LOWER_TIER_OR_PRIORITY,
        Reason.SEARCH_LIMIT_REACHED,
    }
)
"""
Reasons of gangs that are ready.
"""


def not_chosen(lines: Iterable[GangLine]) -> set[str]:
    """
    Name the gangs of some lines of a plan that others were chosen before.
    """
    return {
        line.name
        for line in lines
        if line.waiting is not None and line.waiting.reason in _NOT_CHOSEN
    }


def carry_out(snapshot: Snapshot, plan: Plan, seconds: int) -> Snapshot:
    """
    Give the snapshot some time after a plan was carried out and every pod obeyed.

    Bound pods have run for that long, evicted ones are pending again, moved and
    reserved ones are reserved on their node.  Terminating pods are gone and made
    anew; reservations that the plan does not repeat are void.  Stale gangs that are
    evicted, and those that wait and whose back-off ends, change what is wanted.
    """
    later = _Later(
        {step.pod: step for step in plan.operations},
        seconds,
        {hold.gang: hold.expected for hold in plan.paid_holds()},
        plan.lenders(),
    )
    leave = [step for step in plan.operations if step.op in _GONE]
    gone = Counter(step.gang for step in leave if step.rule != "stale")
    passed = not_chosen(plan.gangs)
    told = {step.gang for step in plan.operations} | passed | later.holds.keys()
    gangs = tuple(
        gang
        if seconds == 0 and gang.key not in told and _stays(gang)
        else _gang_after(
            gang,
            later,
            is_evicted=gang.key in gone,
            is_passed_over=gang.key in passed,
        )
        for gang in snapshot.gangs
    )
    after = replace(
        snapshot,
        gangs=gangs,
        budgets=tuple(_budget_after(budget, gone) for budget in snapshot.budgets),
        unchanged_for=_unchanged_for(snapshot, plan, seconds),
        held=snapshot.held + plan.held * seconds,
    )
    return with_models(after)


def _unchanged_for(snapshot: Snapshot, plan: Plan, seconds: int) -> int:
    """
    Say for how long what is wanted has not changed then.
    """
    changed = any(step.rule == "stale" for step in plan.operations) or any(
        comes_back(gang, seconds) for gang in snapshot.gangs
    )
    return 0 if changed else (snapshot.unchanged_for or 0) + seconds


@dataclass(frozen=True, slots=True)
class _Later:
    """
    The steps of a plan, by pod, how long ago they were, and for whom nodes are held.

    ``lenders`` are those that lent nodes to gangs that start.
    """

    steps: Mapping[str, Operation]
    seconds: int
    holds: Mapping[str, int]
    lenders: Mapping[str, tuple[str, ...]]


def _stays(gang: Gang) -> bool:
    """
    Tell whether a gang that runs whole is as it was where no time passes.
    """
    is_settled = gang.match_policy is not MatchPolicy.ONCE_SATISFIED
    is_settled |= gang.once_satisfied
    return is_settled and gang.stale_since is None and is_complete(gang)


def _gang_after(
    gang: Gang, later: _Later, *, is_evicted: bool, is_passed_over: bool
) -> Gang:
    """
    Move a gang's pods and clocks on.
    """
    seconds = later.seconds
    tree = _tree_after(gang.tree, lambda pods: _pods_after(gang, pods, later))
    after = replace(
        gang,
        tree=tree,
        age=gang.age + seconds,
        backoff=max(0, gang.backoff - seconds),
    )
    live = is_live(after)
    waited = gang.passed_over + seconds if is_passed_over else gang.passed_over
    if gang.key in later.holds:
        first = later.holds[gang.key] if gang.held_first is None else gang.held_first
        after = replace(after, held_for=gang.held_for + seconds, held_first=first)
    begins = live and not is_live(gang)
    lenders = later.lenders.get(gang.key, ()) if begins else gang.lent_by
    return replace(
        after,
        lent_by=() if is_evicted and not live else lenders,
        once_satisfied=_is_once_satisfied(after, live=live),
        passed_over=0 if begins else waited,
        stale_since=_stale_since(after, seconds, live=live),
        evicted_ago=_evicted_ago(gang, seconds, is_evicted=is_evicted),
    )


def _tree_after(tree: Tree, pods_after: Callable[[PodSet], Iterable[Pod]]) -> Tree:
    if isinstance(tree, PodSet):
        return replace(tree, pods=tuple(pods_after(tree)))
    children = tuple(_tree_after(child, pods_after) for child in tree.children)
    return replace(tree, children=children)


def _pods_after(gang: Gang, leaf: PodSet, later: _Later) -> Iterable[Pod]:
    """
    Walk a leaf's pods as they are later; more than its replicas are not made anew.
    """
    staying = sum(pod.phase is not PodPhase.TERMINATING for pod in leaf.pods)
    wanted = max(0, leaf.replicas - staying)
    for pod in leaf.pods:
        if pod.phase is not PodPhase.TERMINATING:
            step = later.steps.get(f"{gang.namespace}/{pod.name}")
            yield _pod_after(pod, step, later.seconds)
        elif wanted:
            wanted -= 1
            yield Pod(pod.name)


def _pod_after(pod: Pod, step: Operation | None, seconds: int) -> Pod:
    if step is None:
        return _left_alone(pod, seconds)
    match step.op:
        case "Bind":
            running = PodPhase.RUNNING
            return Pod(pod.name, running, step.node, seconds, pod.uid, step.devices)
        case "Reserve":
            reserved = PodPhase.RESERVED
            return Pod(pod.name, reserved, step.node, 0, pod.uid, step.devices)
        case "Move":
            return Pod(pod.name, PodPhase.RESERVED, step.node, devices=step.devices)
        case "Evict":
            return Pod(pod.name)


def _left_alone(pod: Pod, seconds: int) -> Pod:
    if pod.phase is PodPhase.RUNNING:
        return replace(pod, seconds=pod.seconds + seconds)
    if pod.phase is PodPhase.RESERVED:
        return replace(pod, phase=PodPhase.PENDING, node=None, devices=())
    return pod


def is_live(gang: Gang) -> bool:
    """
    Tell whether a gang is satisfied and has a pod, those that succeeded counted.
    """
    if gang.match_policy is MatchPolicy.WAITING_RUNNING_SUCCEED:
        return standing(gang).nodes[0].live
    counting = replace(gang, match_policy=MatchPolicy.WAITING_RUNNING_SUCCEED)
    return standing(counting).nodes[0].live


def _is_once_satisfied(gang: Gang, *, live: bool) -> bool:
    is_now = live and gang.match_policy is MatchPolicy.ONCE_SATISFIED
    return gang.once_satisfied or is_now


def _stale_since(gang: Gang, seconds: int, *, live: bool) -> int | None:
    """
    Give for how long a gang has run below its minimum, if it does.

    Pods of a gang that was once satisfied are ordinary: it has no minimum any more.
    """
    if live or not any(running_pods(gang)) or _is_ordinary(gang):
        return None
    return (gang.stale_since or 0) + seconds


def _is_ordinary(gang: Gang) -> bool:
    return gang.once_satisfied and gang.match_policy is MatchPolicy.ONCE_SATISFIED


def _evicted_ago(gang: Gang, seconds: int, *, is_evicted: bool) -> int | None:
    """
    Give how long ago a gang last lost a pod to others.
    """
    if is_evicted:
        return seconds
    return None if gang.evicted_ago is None else gang.evicted_ago + seconds


def _budget_after(budget: DisruptionBudget, gone: Counter[str]) -> DisruptionBudget:
    """
    Take disturbed pods off a budget; when they count as undisturbed is not ours to say.
    """
    allowed = max(0, budget.allowed - sum(gone[gang] for gang in budget.gangs))
    return replace(budget, allowed=allowed)
