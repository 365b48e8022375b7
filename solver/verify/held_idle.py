"""
Rules about what a plan lets idle, held for gangs that were passed over for long.
"""

from collections import Counter
from collections.abc import Iterator

from models.gangs import ON_A_NODE, pod_sets
from models.plan import Hold
from models.resources import num_gpus
from solver.verify.evidence import Evidence
from solver.verify.tied_pieces import free_pieces
from solver.verify.violation import Violation

_SOONEST = 600


def held_claims(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no more idles for heads than there is, and nothing without a budget.

    Held GPUs <= GPUs of nodes that take pods - used - running - bound; and none are
    where the policy has no heads, or where the GPU-seconds of the window that idled so
    before are budget x window x GPUs of nodes that take pods, or more.
    """
    held, waiting = evidence.plan.held, evidence.policy.waiting
    if held == 0:
        return
    if held < 0 or not waiting.heads:
        yield Violation("held-claim", "plan", f"{held} GPUs held, and there is no head")
        return
    nodes = [node for node in evidence.snapshot.nodes if not node.unschedulable]
    whole = sum(num_gpus(node.allocatable) for node in nodes)
    before = evidence.snapshot.held
    if before >= waiting.budget * waiting.window * whole:
        message = f"{held} GPUs held after {before} GPU-seconds, which was the budget"
        yield Violation("held-claim", "plan", message)
    taken, pieces = _taken(evidence), free_pieces(evidence, later=False)
    taken.subtract({name: num_gpus(free) for name, free in pieces.items()})
    idle = sum(
        max(0, num_gpus(n.allocatable) - num_gpus(n.used) - taken[n.name])
        for n in nodes
    )
    if held > idle:
        message = f"{held} GPUs held of {idle} that are idle"
        yield Violation("held-claim", "plan", message)


def hold_claims(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that nodes are held for gangs that wait only, and for none for too long.

    Seconds held so far + seconds to its start <= slip x max(600, seconds expected at
    first); a gang of which nothing was expected yet may have nodes held.  Whom they
    are lent starts there, is preemptible, and has not run for too long by then.
    """
    waiting = evidence.policy.waiting
    for hold in evidence.plan.holds:
        gang = evidence.gangs.get(hold.gang)
        if gang is None or not waiting.heads:
            message = "nodes are held for what is not a head"
            yield Violation("hold-claim", hold.gang, message)
            continue
        yield from _not_lent(evidence, hold)
        if gang.held_first is None:
            continue
        most = waiting.slip * max(_SOONEST, gang.held_first)
        if gang.held_for + hold.expected > most:
            message = (
                f"nodes held for {gang.held_for} s and {hold.expected} s more,"
                f" {most:g} s at most"
            )
            yield Violation("hold-claim", hold.gang, message)


def _not_lent(evidence: Evidence, hold: Hold) -> Iterator[Violation]:
    """
    Ensure that what is lent starts there, may be evicted, and is lost in time.
    """
    most = evidence.policy.evict.lent_for
    for key in hold.lent:
        case = evidence.cases.get(key)
        got = {n for row in case.got.values() for n in row} if case else set()
        wrong = ""
        if case is None or got.isdisjoint(hold.nodes):
            wrong = "nothing of it gets a place there"
        elif not case.gang.preemptible:
            wrong = "it is not preemptible"
        elif not 0 < hold.expected <= most:
            wrong = f"it would be lost after {hold.expected} s, {most} are allowed"
        if wrong:
            message = f"nodes are lent to {key}, and {wrong}"
            yield Violation("hold-claim", hold.gang, message)


def _taken(evidence: Evidence) -> Counter[str]:
    """
    Count by node the GPUs of pods that are there, or are bound by the plan.
    """
    taken: Counter[str] = Counter()
    for gang in evidence.snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            gpus = num_gpus(leaf.requests)
            for pod in leaf.pods:
                if gpus and pod.node and pod.phase in ON_A_NODE:
                    taken[pod.node] += gpus
    for case in evidence.gaining():
        for leaf in pod_sets(case.gang.tree):
            for node, pods in case.deeds.bound.get(leaf.name, {}).items():
                taken[node] += num_gpus(leaf.requests) * pods
    return taken
