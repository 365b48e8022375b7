"""
The plan: operations in order, and one line for every gang that has something to say.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version

from models.gangs import Gang, PodPhase, PodSet, Tree, pod_sets
from models.plan import (
    GangLine,
    Operation,
    Placement,
    Plan,
    PodCounts,
    State,
)
from models.policy import Policy
from models.reasons import Waiting
from models.snapshot import Snapshot, content_hash
from solver.outcome import Outcome
from solver.standing import is_complete, satisfied_after, standing

VERSION = "0.1.0"


def plan_of(
    snapshot: Snapshot,
    policy: Policy,
    placement: Placement,
    outcome: Outcome,
    *,
    strategy: str,
    waiting: Mapping[str, Waiting],
) -> Plan:
    """
    Order a placement's operations and describe every gang after them.
    """
    operations: list[Operation] = []
    lines: list[GangLine] = []
    for gang in snapshot.gangs:
        if is_complete(gang):
            lines.append(_running_line(gang))
            continue
        binds = _binds(gang, placement)
        operations += binds
        lines.append(_line(gang, binds, placement, waiting.get(gang.key)))
    proven = all(tier.proof == "proven" for tier in outcome.tiers)
    limits = policy.limits
    pending = any(line.state == "Waiting" for line in lines)
    idle = not operations and not pending
    return Plan(
        strategy=strategy,
        status="idle" if idle else "optimal" if proven else "feasible",
        deterministic=limits.seconds is None and limits.workers == 1,
        snapshot=content_hash(snapshot),
        seed=policy.seed,
        versions={"phalanx": VERSION, "ortools": version("ortools")},
        tiers=outcome.tiers,
        gangs=tuple(lines),
        operations=tuple(operations),
        model=outcome.model,
    )


def _binds(gang: Gang, placement: Placement) -> list[Operation]:
    found = []
    for leaf in pod_sets(gang.tree):
        for pod in leaf.pods:
            if pod.phase is not PodPhase.PENDING:
                continue
            name = f"{gang.namespace}/{pod.name}"
            node = placement.binds.get(name)
            if node is not None:
                found.append(
                    Operation(
                        op="Bind", pod=name, gang=gang.key, node=node, uid=pod.uid
                    )
                )
    return found


def _line(
    gang: Gang,
    binds: Sequence[Operation],
    placement: Placement,
    waiting: Waiting | None,
) -> GangLine:
    phases = [pod.phase for leaf in pod_sets(gang.tree) for pod in leaf.pods]
    counts = PodCounts(
        total=sum(leaf.replicas for leaf in pod_sets(gang.tree)),
        minimum=least_pods(gang),
        running=phases.count(PodPhase.RUNNING),
        succeeded=phases.count(PodPhase.SUCCEEDED),
        failed=phases.count(PodPhase.FAILED),
        binding=len(binds),
        evicting=0,
    )
    state = _state(gang, binds, counts)
    return GangLine(
        name=gang.key,
        queue=gang.queue,
        state=state,
        entitled=gang.key in placement.entitled,
        waiting=waiting if state == "Waiting" else None,
        pods=counts,
    )


def _running_line(gang: Gang) -> GangLine:
    tree = gang.tree
    assert isinstance(tree, PodSet)
    return GangLine(
        name=gang.key,
        queue=gang.queue,
        state="Running",
        entitled=False,
        waiting=None,
        pods=_running_counts(tree.replicas, tree.minimum),
    )


@cache
def _running_counts(total: int, minimum: int) -> PodCounts:
    return PodCounts(
        total=total,
        minimum=minimum,
        running=total,
        succeeded=0,
        failed=0,
        binding=0,
        evicting=0,
    )


def least_pods(gang: Gang) -> int:
    """
    Give the least number of pods that satisfies a gang's tree.
    """
    return _least_pods(gang.tree)


def _least_pods(tree: Tree) -> int:
    if isinstance(tree, PodSet):
        return tree.minimum
    children = sorted(_least_pods(child) for child in tree.children)
    return max(tree.min_pods, sum(children[: tree.min_groups]))


def _state(gang: Gang, binds: Sequence[Operation], counts: PodCounts) -> State:
    """
    Give the first state that holds, in the order of the format.
    """
    if not binds and counts.total == counts.succeeded + counts.failed:
        return "Finished"
    now = standing(gang)
    if binds:
        names = {op.pod for op in binds}
        added = {
            i: sum(f"{gang.namespace}/{pod.name}" in names for pod in leaf.pending)
            for i, leaf in enumerate(now.leaves)
        }
        if not now.satisfied and satisfied_after(now, added)[0]:
            return "Starting"
        return "Growing"
    if not now.satisfied:
        return "Waiting"
    return "Running" if counts.running else _without_pods(counts)


def _without_pods(counts: PodCounts) -> State:
    return "Finished" if counts.succeeded else "Waiting"
