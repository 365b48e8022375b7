"""
Rules about victims: who may be evicted or moved at all, and what must stay whole.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from models.gangs import PodSet, Tree, pod_sets
from solver.verify.evidence import Evidence
from solver.verify.gang_changes import GangLoss
from solver.verify.gang_counts import all_nodes, is_ordinary, is_satisfied, tally
from solver.verify.leaving.what_stays import broken_by
from solver.verify.plan_steps import (
    CONSOLIDATE,
    LEND,
    PREEMPT,
    RECLAIM,
    STALE,
    TAKING,
)
from solver.verify.violation import Violation

_FITTING: Mapping[str, tuple[str, ...]] = {
    "Evict": (RECLAIM, PREEMPT, STALE, LEND),
    "Move": (CONSOLIDATE,),
}


def eviction_rules(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that every eviction and move gives a rule that can be its reason.
    """
    for step in evidence.steps:
        operation = step.operation
        if operation.op in TAKING and operation.rule not in _FITTING[operation.op]:
            fitting = " or ".join(_FITTING[operation.op])
            said = operation.rule or "nothing"
            message = f"{operation.op} by rule {said}, it can be {fitting}"
            yield Violation("eviction-rule", operation.pod, message)


def eviction_switches(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that the policy allows each rule that pods are evicted or moved by.

    Only stale gangs are evicted without a tier for what is lost and one for what is
    gained; for entitled starts both are listed, the start before the loss.
    """
    numbers: Counter[str] = Counter()
    for step in evidence.steps:
        operation = step.operation
        if step.takes and operation.rule in _FITTING[operation.op]:
            numbers[operation.rule] += 1
    called = {line.name for line in evidence.plan.gangs if line.entitled}
    for rule, pods in sorted(numbers.items()):
        for_entitled = bool(evidence.beneficiaries(rule) & called)
        why = _forbidden(evidence, rule, for_entitled=for_entitled)
        if why:
            message = f"{pods} pods leave, but {why}"
            yield Violation("eviction-switch", rule, message)


def _forbidden(evidence: Evidence, rule: str, *, for_entitled: bool) -> str:
    evict, listed = evidence.policy.evict, [t.name for t in evidence.policy.tiers]
    is_on = {
        RECLAIM: evict.reclaim,
        PREEMPT: evict.preempt,
        CONSOLIDATE: evict.consolidate,
        STALE: evict.stale,
        LEND: evict.lent_for > 0,
    }
    if not is_on[rule]:
        return "the policy switches it off"
    if rule == STALE:
        return ""
    if "disruption" not in listed:
        return "no tier disruption is listed"
    if "entitled" not in listed and (rule == RECLAIM or "borrowing" not in listed):
        return "no tier is listed that starts could serve"
    before = listed[: listed.index("disruption")]
    if for_entitled and "entitled" in listed and "entitled" not in before:
        return "tier entitled is listed after disruption"
    return ""


def fixed_victims(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that nothing non-preemptible is evicted or moved for others.
    """
    for loss in evidence.losses.values():
        if loss.for_others and not loss.gang.preemptible:
            pods = loss.for_others
            message = f"{pods} pods evicted or moved, and it is not preemptible"
            yield Violation("not-preemptible", loss.gang.key, message)


def victims_again(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no gang loses pods again before the policy's time.
    """
    least = evidence.policy.evict.again
    for loss in evidence.losses.values():
        ago, pods = loss.gang.evicted_ago, loss.for_others
        if pods and ago is not None and ago < least:
            message = (
                f"{pods} pods evicted or moved {ago} s after the last, not {least}"
            )
            yield Violation("evicted-again", loss.gang.key, message)


def min_runtimes(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no pod leaves before the longest min runtime of its queue's path.

    That for reclaim or that for preempt, by rule; the longer of both for moves.
    """
    known: dict[tuple[str, str], int] = {}
    for step in evidence.taking:
        operation, pod = step.operation, step.pod
        key = (evidence.gangs[operation.gang].queue, operation.rule or "")
        if key not in known:
            known[key] = _min_runtime(evidence, *key)
        if pod is not None and pod.seconds < known[key]:
            message = f"has run {pod.seconds} s, its queue grants {known[key]} s"
            yield Violation("min-runtime", operation.pod, message)


def _min_runtime(evidence: Evidence, queue: str, rule: str) -> int:
    path = [evidence.queues[name] for name in evidence.path(queue)]
    reclaim = max((above.reclaim_min_runtime for above in path), default=0)
    preempt = max((above.preempt_min_runtime for above in path), default=0)
    if rule == RECLAIM:
        return reclaim
    return preempt if rule == PREEMPT else max(reclaim, preempt)


def budgets(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no more pods of a budget's gangs are evicted and moved than it allows.
    """
    lost = evidence.losses
    for budget in evidence.snapshot.budgets:
        pods = sum(lost[key].for_others for key in lost.keys() & set(budget.gangs))
        if pods > max(0, budget.allowed):
            message = f"{pods} pods evicted or moved, {budget.allowed} are allowed"
            yield Violation("budget", budget.name, message)


def victim_minimums(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no gang is left below its minimum: it keeps it or goes whole.
    """
    for loss in evidence.losses.values():
        if loss.for_others and loss.evicted:
            for problem in broken_by(loss, loss.evicted):
                yield Violation("victim-minimum", loss.gang.key, problem)


def victims_with_places(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no gang gets pods bound or reserved while others make it lose some.
    """
    for key, loss in evidence.losses.items():
        case = evidence.cases.get(key)
        if loss.for_others and case is not None and case.placed:
            message = f"{loss.for_others} pods evicted or moved, and {case.told}"
            yield Violation("victim-placed", key, message)


def whole_moves(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that a gang moves with all its running pods, or with surplus pods only.

    Surplus pods move by themselves where the gang has no topology and no exclusive
    hosts.
    """
    for loss in evidence.losses.values():
        if not loss.moved or not loss.stays:
            continue
        gone = {
            name: loss.moved.get(name, 0) + loss.evicted.get(name, 0)
            for name in loss.running
        }
        tie = _tie(loss.gang.tree)
        problems = [f"{loss.stays} pods stay, and it has {tie}"] if tie else []
        for problem in problems or broken_by(loss, gone):
            yield Violation("move-whole", loss.gang.key, f"moved in part: {problem}")


def _tie(tree: Tree) -> str:
    for part in all_nodes(tree):
        if isinstance(part, PodSet) and part.exclusive:
            return "exclusive hosts"
        if part.topology is not None:
            return "a topology"
    return ""


def stale_gangs(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that only stale gangs are evicted as such: whole, and for nobody.

    Stale is a gang whose running and succeeded pods do not satisfy it, for as long as
    its grace period or longer, and that gets no place in this plan.
    """
    for loss in evidence.losses.values():
        if STALE in loss.rules:
            for problem in _not_stale(loss, evidence):
                yield Violation("stale-gang", loss.gang.key, problem)
    for step in evidence.steps:
        operation = step.operation
        if step.takes and operation.rule == STALE and operation.beneficiaries:
            message = f"stale, but evicted for {len(operation.beneficiaries)} gangs"
            yield Violation("stale-gang", operation.pod, message)


def _not_stale(loss: GangLoss, evidence: Evidence) -> Iterator[str]:
    gang = loss.gang
    active = {}
    for leaf in pod_sets(gang.tree):
        counts = tally(leaf)
        active[leaf.name] = counts.running + counts.succeeded
    if is_ordinary(gang, active) or is_satisfied(gang.tree, active):
        yield "evicted as stale, but it is not below its minimum"
    grace = gang.stale_after
    if grace is None:
        grace = evidence.policy.evict.stale_after
    since = gang.stale_since
    if grace < 0:
        yield "evicted as stale, but it never is"
    elif since is None or since < grace:
        known = "not known for how long" if since is None else f"for {since} s"
        yield f"evicted as stale, but {known}, its grace is {grace} s"
    case = evidence.cases.get(gang.key)
    if case is not None and case.got:
        yield f"evicted as stale with {case.told}"
    pods = sum(loss.rules[STALE].values())
    if pods < sum(loss.running.values()):
        yield f"{pods} of {sum(loss.running.values())} running pods evicted as stale"
