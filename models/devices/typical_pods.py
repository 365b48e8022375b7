"""
Typical pods: what a cluster's pods with GPUs are like, to say what they could not use.

They are those that wait and run, or those that a policy lists; of those with GPUs the
most frequent ones, as many as make up 95 %.  Each has a part of a thousand: as many as
there are of it, divided by what one takes of GPUs.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from models.devices.gpu_parts import WHOLE, GpuPart, counts_as, is_reckoned, part_of
from models.gangs import PodPhase, pod_sets
from models.nodes import ANYWHERE, Node, NodeDemand
from models.policy import Policy
from models.resources import GPU, SHARES_PER_GPU, Resources
from models.snapshot import Snapshot

THOUSAND = 1000
_COVERED = 950
_COUNTED = frozenset({PodPhase.PENDING, PodPhase.RUNNING, PodPhase.RESERVED})
Asked = tuple[tuple[str, int], ...]
Kind = tuple[int, GpuPart | None, Asked, NodeDemand, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class TypicalPod:
    """
    A kind of pod, with whole ``gpus`` or a ``part``, and its ``weight`` of a thousand.

    ``requests`` is what it asks for beside GPUs; it may be on nodes of some ``models``.
    It takes ``size`` thousandths of a GPU, by which the queues count it, rounded up.
    """

    gpus: int
    part: GpuPart | None
    requests: Asked
    demand: NodeDemand
    models: tuple[str, ...]
    weight: int
    size: int

    def allows(self, node: Node) -> bool:
        """
        Tell whether such a pod may be on a node, whatever its room.
        """
        fits = not self.models or node.gpu_model in self.models
        return fits and self.demand.allows(node)


def typical_pods(snapshot: Snapshot, policy: Policy) -> tuple[TypicalPod, ...]:
    """
    Give the typical pods of a cluster, or those that the policy lists.
    """
    counts: Counter[Kind] = Counter()
    tier = policy.fragments
    for listed in () if tier is None else tier.pods:
        part = None if listed.gpu is None else listed.gpu.part
        kind = _kind(listed.requests, part, ANYWHERE, listed.models)
        counts[kind] += listed.count
    for gang in () if counts else snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            here = sum(pod.phase in _COUNTED for pod in leaf.pods)
            kind = _kind(leaf.requests, part_of(leaf.requests), leaf.demand, ())
            counts[kind] += here
    memories = [node.gpu_memory for node in snapshot.nodes]
    sized = [(kind, number, _size(kind, memories)) for kind, number in counts.items()]
    return tuple(_weighed([each for each in sized if each[1] and each[2]]))


def names_of(pods: Sequence[TypicalPod]) -> frozenset[str]:
    """
    Name the resources that typical pods ask for, GPUs among them.
    """
    asked = {name for pod in pods for name, _ in pod.requests}
    return frozenset(asked | ({GPU} if pods else set()))


def _kind(
    requests: Resources,
    part: GpuPart | None,
    demand: NodeDemand,
    models: tuple[str, ...],
) -> Kind:
    plain = {
        name: amount
        for name, amount in requests.items()
        if amount > 0 and name != GPU and not is_reckoned(name)
    }
    asked = tuple(sorted(plain.items()))
    return requests.get(GPU, 0), part, asked, demand, tuple(sorted(models))


def _size(kind: Kind, memories: Sequence[int]) -> int:
    """
    Give the thousandths of a GPU that a pod takes, 0 of one without GPUs.
    """
    gpus, part = kind[:2]
    pieces = SHARES_PER_GPU * gpus if part is None else counts_as(part, memories)
    return -(-WHOLE * pieces // SHARES_PER_GPU)


def _weighed(counts: Sequence[tuple[Kind, int, int]]) -> Iterator[TypicalPod]:
    """
    Take the most frequent kinds, and share a thousand out by the largest remainders.
    """
    ranked = sorted(counts, key=lambda each: (-each[1], repr(each[0])))
    total = sum(number for _, number, _ in ranked)
    taken, covered = [], 0
    for kind, number, size in ranked:
        if covered * THOUSAND >= _COVERED * total:
            break
        taken.append((kind, size, Fraction(number, size)))
        covered += number
    every = sum(part for _, _, part in taken)
    exact = [THOUSAND * part / every for _, _, part in taken]
    weights = [int(each) for each in exact]
    order = sorted(range(len(taken)), key=lambda at: (weights[at] - exact[at], at))
    for at in order[: THOUSAND - sum(weights)]:
        weights[at] += 1
    for (kind, size, _), weight in zip(taken, weights, strict=True):
        if weight:
            yield TypicalPod(*kind, weight, size)
