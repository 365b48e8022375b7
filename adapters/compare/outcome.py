"""
What a plan leaves behind: which pods run or are bound where, counted for people.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from models.devices.free_shares import free_shares
from models.devices.gpu_counts import in_gpus, shares_asked, shares_held
from models.gangs import Gang, Pod, PodPhase, PodSet, pod_sets
from models.plan import Operation, Plan, TierResult
from models.snapshot import Snapshot
from solver import LOSSES as EVERY_LOSS
from solver import satisfied_after, standing

SATISFIED = frozenset({"Starting", "Growing", "Running", "Finished"})
LOSSES = frozenset(EVERY_LOSS) - {"disruption"}
"""
Tiers that a plan lists only where it loses something.
"""


@dataclass(frozen=True, slots=True)
class Totals:
    """
    GPUs and pods that run or are bound after a plan, and gangs that have enough.
    """

    gpus: float
    pods: int
    gangs: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    A plan seen from its end: every placed pod, with its gang and leaf.

    ``places`` are of pods that run or are bound; a moved pod is where it will be.
    ``seats`` are these, and of pods that wait until their place is free.
    """

    places: Mapping[str, str]
    seats: Mapping[str, str]
    bound: Counter[str]
    running: Counter[str]
    by_leaf: Counter[tuple[str, str]]
    totals: Totals


def outcome_of(snapshot: Snapshot, plan: Plan) -> Outcome:
    """
    Carry a plan out on paper.
    """
    places = _running(snapshot)
    reserved: dict[str, str] = {}
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
                reserved[step.pod] = step.node
    by_leaf: Counter[tuple[str, str]] = Counter()
    memories = _memories(snapshot)
    shares = 0
    for gang, leaf, pod in _every_pod(snapshot):
        node = places.get(f"{gang.namespace}/{pod.name}")
        if node is not None:
            by_leaf[gang.key, leaf.name] += 1
            if node in memories:
                shares += shares_held(leaf.requests, memories[node])
    running: Counter[str] = Counter()
    for (name, _), count in by_leaf.items():
        running[name] += count
    totals = Totals(
        gpus=in_gpus(shares),
        pods=by_leaf.total(),
        gangs=_satisfied(snapshot, plan, places),
    )
    return Outcome(places, reserved | places, bound, running, by_leaf, totals)


def _satisfied(snapshot: Snapshot, plan: Plan, places: Mapping[str, str]) -> int:
    """
    Count gangs that have enough; one that only gave surplus away still has.
    """
    gangs = {gang.key: gang for gang in snapshot.gangs}
    return sum(
        line.state in SATISFIED
        or (line.state == "Evicting" and _is_left_enough(gangs[line.name], places))
        for line in plan.gangs
    )


def _is_left_enough(gang: Gang, places: Mapping[str, str]) -> bool:
    now = standing(gang)
    lost = {
        at: -sum(f"{gang.namespace}/{pod.name}" not in places for pod in leaf.running)
        for at, leaf in enumerate(now.leaves)
    }
    return satisfied_after(now, lost)[0]


def gpus_of_steps(
    snapshot: Snapshot, plan: Plan, *ops: str
) -> tuple[dict[str, float], float]:
    """
    Give the GPUs that some operations bind, keep or take, by gang, and of all of them.
    """
    shares = Counter[str]()
    for step, amount in shares_of_steps(snapshot, plan, *ops):
        shares[step.gang] += amount
    return {gang: in_gpus(n) for gang, n in shares.items()}, in_gpus(shares.total())


def shares_of_steps(
    snapshot: Snapshot, plan: Plan, *ops: str
) -> Iterator[tuple[Operation, int]]:
    """
    Walk some operations with what the pod holds of its node, in 1/7000 of a GPU.
    """
    steps = [step for step in plan.operations if step.op in ops]
    asked = {
        f"{gang.namespace}/{pod.name}": leaf.requests
        for gang, leaf, pod in (_every_pod(snapshot) if steps else ())
    }
    memories = _memories(snapshot)
    for step in steps:
        node = step.source or step.node
        yield step, shares_held(asked.get(step.pod, {}), memories.get(node, 0))


def gpus_of_nodes(snapshot: Snapshot) -> tuple[float, float]:
    """
    Count the GPUs of all nodes, and those that nobody uses where pods may come.
    """
    left = free_shares(snapshot.nodes, snapshot.gangs)
    every = sum(shares_asked(node.allocatable) for node in snapshot.nodes)
    free = sum(
        shares
        for node, shares in zip(snapshot.nodes, left, strict=True)
        if not node.unschedulable
    )
    return in_gpus(every), in_gpus(free)


def _memories(snapshot: Snapshot) -> dict[str, int]:
    return {node.name: node.gpu_memory for node in snapshot.nodes}


def label(tier: TierResult) -> str:
    """
    Name a tier as files do: ``entitled/100`` for one band.
    """
    return tier.name if tier.band is None else f"{tier.name}/{tier.band}"


def first_difference(plan: Plan, other: Plan) -> tuple[TierResult, TierResult] | None:
    """
    Give the first tier in which two plans of one input differ: that one decides.
    """
    pairs = paired_tiers(plan, other)
    return next((pair for pair in pairs if pair[0].value != pair[1].value), None)


def paired_tiers(plan: Plan, other: Plan) -> list[tuple[TierResult, TierResult]]:
    """
    Put the tiers of two plans of one input side by side, in the order of the policy.

    Tiers of losses are listed only by a plan that loses something; the other one
    loses nothing there, and nothing is less than that.
    """
    ours = {(tier.name, tier.band) for tier in plan.tiers}
    theirs = list(other.tiers)
    pairs: list[tuple[TierResult, TierResult]] = []
    for tier in plan.tiers:
        while theirs and (theirs[0].name, theirs[0].band) not in ours:
            lost = theirs.pop(0)
            pairs.append((_nothing(lost), lost))
        same = bool(theirs) and (theirs[0].name, theirs[0].band) == (
            tier.name,
            tier.band,
        )
        pairs.append((tier, theirs.pop(0) if same else _nothing(tier)))
    return pairs + [(_nothing(tier), tier) for tier in theirs]


def _nothing(tier: TierResult) -> TierResult:
    return replace(tier, value=0, bound=0, proof="proven")


def is_better(tier: TierResult, other: TierResult) -> bool:
    """
    Tell whether a tier's value is better than another plan's.
    """
    return (tier.value > other.value) == (tier.direction == "max")


def certainty(tier: TierResult) -> str:
    """
    Say what is known about the distance to the best.
    """
    if tier.proof == "proven":
        return "proven"
    if tier.value == tier.bound:
        return tier.proof
    return percent(tier.gap)


def percent(part: float) -> str:
    """
    Write a part as people read it; what is not nothing never reads as nothing.
    """
    return f"{100 * part:.1f} %" if part >= 0.0005 else "< 0.1 %"


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
