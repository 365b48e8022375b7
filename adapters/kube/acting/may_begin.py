"""
Why something is not to begin after all, by what there is now.

Gangs that are held may have changed, and those may be gone for whom others leave.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from adapters.kube.acting.operations import NO_ANSWER, Answer, Deeds
from adapters.loop.interfaces import Turn
from models.gangs import Gang, Group, MatchPolicy, Tree, pod_sets
from models.plan import Operation
from models.topology import TopologyDemand
from models.why.reasons import Waiting
from solver import standing


def why_not_begun(held: Turn, now: Mapping[str, Gang], pause: Waiting | None) -> Answer:
    """
    Say why gangs that are held may not begin now; no words where they may.

    Their pods count as bound in what there is ``now``.
    """
    if pause is not None:
        return "skipped", "Phalanx is paused"
    pods = _pods_of(held.plan.operations)
    for gang in held.snapshot.gangs:
        if why := _why_not(gang, now.get(gang.key), pods[gang.key]):
            return "again", f"gang {gang.key}: {why}"
    return NO_ANSWER


def _pods_of(steps: Sequence[Operation]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for step in steps:
        found.setdefault(step.gang, set()).add(step.pod)
    return found


def _why_not(planned: Gang, now: Gang | None, pods: Collection[str]) -> str:
    """
    Say why a gang is not to get what was planned for some of its pods.
    """
    if now is None:
        return "is gone"
    if now.refused is not None:
        return now.refused.message
    asked = {
        f"is in queue {now.queue} now": now.queue == planned.queue,
        "starts with other gangs now": now.mates == planned.mates,
        "asks for another topology now": [*_topologies(now.tree)]
        == [*_topologies(planned.tree)],
        "is timed out": not now.timed_out,
        "needs other pods now than it was to get": _is_enough(now, pods),
    }
    return next((why for why, is_so in asked.items() if not is_so), "")


def _is_enough(gang: Gang, pods: Collection[str]) -> bool:
    """
    Tell whether some pods are in its tree where all minimums above them hold.
    """
    if gang.match_policy is MatchPolicy.ONLY_WAITING:
        gang = replace(gang, match_policy=MatchPolicy.WAITING_AND_RUNNING)
    nodes, left = standing(gang).nodes, set(pods)
    at = {node.leaf: node for node in nodes if node.leaf >= 0}
    for number, leaf in enumerate(pod_sets(gang.tree)):
        mine = left.intersection(f"{gang.namespace}/{pod.name}" for pod in leaf.pods)
        left -= mine
        node = at[number]
        while mine and node.satisfied and node.parent >= 0:
            node = nodes[node.parent]
        if mine and not node.satisfied:
            return False
    return not left


def _topologies(tree: Tree) -> Iterator[TopologyDemand]:
    if tree.topology is not None:
        yield tree.topology
    for child in tree.children if isinstance(tree, Group) else ():
        yield from _topologies(child)


class StillWanted:
    """
    What a plan does, as things are seen while it is carried out.
    """

    def __init__(self, deeds: Deeds, steps: Iterable[Operation] = ()) -> None:
        self._deeds = deeds
        self._pods: dict[str, dict[str, str | None]] = {}
        for step in steps:
            if step.op in {"Bind", "Reserve"}:
                self._pods.setdefault(step.gang, {})[step.pod] = step.uid

    def why_not(self, step: Operation) -> Answer:
        """
        Say why a node does not take a pod, or that all are gone for whom one leaves.
        """
        pods: dict[str, str | None] = {}
        for gang in step.beneficiaries:
            pods |= self._pods.get(gang, {})
        there = (
            pod
            for pod in self._deeds.cache.pods_named(pods)
            if pod.deleted is None and pods[pod.key] in {None, pod.uid}
        )
        if not pods or any(there):
            return self._deeds.why_not_there(step)
        names = ", ".join(step.beneficiaries)
        return "skipped", f"nobody is there any more for whom it was to leave: {names}"
