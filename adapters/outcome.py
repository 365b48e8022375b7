"""
What a plan leaves behind: which pods run or are bound where, counted for people.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from models.gangs import Gang, Pod, PodPhase, PodSet, pod_sets
from models.plan import Plan, TierResult
from models.resources import Resources, is_gpu
from models.snapshot import Snapshot

SATISFIED = frozenset({"Starting", "Growing", "Running", "Finished"})


@dataclass(frozen=True, slots=True)
class Totals:
    """
    GPUs and pods that run or are bound after a plan, and gangs that have enough.
    """

    gpus: int
    pods: int
    gangs: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    A plan seen from its end: every placed pod, with its gang and leaf.
    """

    places: Mapping[str, str]
    bound: Counter[str]
    running: Counter[str]
    by_leaf: Counter[tuple[str, str]]
    totals: Totals


def outcome_of(snapshot: Snapshot, plan: Plan) -> Outcome:
    """
    Carry a plan out on paper.
    """
    places = _running(snapshot)
    bound: Counter[str] = Counter()
    for step in plan.operations:
        match step.op:
            case "Bind":
                places[step.pod] = step.node
                bound[step.gang] += 1
            case "Move":
                places[step.pod] = step.node
            case "Evict":
                places.pop(step.pod, None)
            case "Reserve":
                pass
    by_leaf: Counter[tuple[str, str]] = Counter()
    gpus = 0
    for gang, leaf, pod in _every_pod(snapshot):
        if f"{gang.namespace}/{pod.name}" in places:
            by_leaf[gang.key, leaf.name] += 1
            gpus += num_gpus(leaf.requests)
    running: Counter[str] = Counter()
    for (name, _), count in by_leaf.items():
        running[name] += count
    satisfied = sum(line.state in SATISFIED for line in plan.gangs)
    totals = Totals(gpus=gpus, pods=by_leaf.total(), gangs=satisfied)
    return Outcome(places, bound, running, by_leaf, totals)


def num_gpus(requests: Resources) -> int:
    """
    Count the whole GPUs of one pod.
    """
    return sum(amount for name, amount in requests.items() if is_gpu(name))


def gpus_of_pods(snapshot: Snapshot) -> dict[str, int]:
    """
    Give the GPUs that each pod asks for, by the pod's key.
    """
    return {
        f"{gang.namespace}/{pod.name}": num_gpus(leaf.requests)
        for gang, leaf, pod in _every_pod(snapshot)
    }


def distance(tier: TierResult) -> float:
    """
    Give what a tier may still lack, as a part of the larger of value and bound.
    """
    largest = max(abs(tier.bound), abs(tier.value), 1)
    return abs(tier.bound - tier.value) / largest


def certainty(tier: TierResult) -> str:
    """
    Say what is known about the distance to the best.
    """
    if tier.proof == "proven":
        return "proven"
    if tier.value == tier.bound:
        return tier.proof
    return f"{100 * distance(tier):.1f} %"


def _running(snapshot: Snapshot) -> dict[str, str]:
    return {
        f"{gang.namespace}/{pod.name}": pod.node
        for gang, _, pod in _every_pod(snapshot)
        if pod.phase is PodPhase.RUNNING and pod.node is not None
    }


def _every_pod(snapshot: Snapshot) -> Iterator[tuple[Gang, PodSet, Pod]]:
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            for pod in leaf.pods:
                yield gang, leaf, pod
