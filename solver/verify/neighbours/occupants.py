"""
Who is where before and after a plan, of pods that are neighbours to others.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from models.gangs import PodPhase, PodSet, pod_sets
from models.neighbours import Neighbours
from models.nodes import Node, NodeDemand
from solver.verify.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupant:
    """
    Pods of one leaf, or of others, on one node.

    They ``stay`` or are ``ending``, which those are that this plan takes away too;
    ``bound`` and ``later`` ones come by this plan, at once or once there is room; of
    these ``moved`` ones come from other places, or from this one.
    """

    said: Neighbours
    node: Node
    gang: str = ""
    demand: NodeDemand | None = None
    stay: int = 0
    ending: int = 0
    bound: int = 0
    later: int = 0
    moved: int = 0

    @property
    def new(self) -> int:
        """
        Count the pods that get a place.
        """
        return self.bound + self.later


def occupants(evidence: Evidence) -> list[Occupant]:
    """
    List the pods that have neighbours; none where no pod that gets a place has any.
    """
    if not any(
        leaf.neighbours
        for case in evidence.gaining()
        for leaf in pod_sets(case.gang.tree)
    ):
        return []
    found = [
        Occupant(said=said, node=node, stay=count)
        for node in evidence.snapshot.nodes
        for said, count in node.others
    ]
    for gang in evidence.snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            if leaf.neighbours:
                found.extend(_of_leaf(evidence, gang.key, leaf))
    return found


def _of_leaf(evidence: Evidence, gang: str, leaf: PodSet) -> Iterator[Occupant]:
    """
    Count the pods of a leaf per node.
    """
    running = _on_nodes(leaf, PodPhase.RUNNING)
    ending = _on_nodes(leaf, PodPhase.TERMINATING)
    bound: Counter[str] = Counter()
    later: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    case = evidence.cases.get(gang)
    if case is not None:
        bound += Counter(case.deeds.bound.get(leaf.name, {}))
        later += Counter(case.got.get(leaf.name, {})) - bound
        moved += Counter(case.deeds.arriving.get(leaf.name, {}))
    loss = Counter(
        step.source
        for step in evidence.steps
        if step.takes and step.leaf is leaf and step.operation.gang == gang
    )
    gone = Counter({name: n for name, n in loss.items() if name is not None})
    for name in sorted({*running, *ending, *bound, *later}):
        node = evidence.nodes.get(name)
        if node is not None:
            yield Occupant(
                said=leaf.neighbours,
                node=node,
                gang=gang,
                demand=leaf.demand,
                stay=max(0, running[name] - gone[name]),
                ending=ending[name] + min(gone[name], running[name]),
                bound=bound[name],
                later=later[name],
                moved=moved[name],
            )


def _on_nodes(leaf: PodSet, phase: PodPhase) -> Counter[str]:
    return Counter(
        pod.node for pod in leaf.pods if pod.phase is phase and pod.node is not None
    )
