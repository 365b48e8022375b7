"""
Rules about what evictions and moves cost: the policy's bounds, and what a plan claims.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from models.gangs import Gang, MatchPolicy, pod_sets
from models.memory.aged_gangs import still
from models.resources import (
    GPU_SHARE,
    SHARES_PER_THOUSANDTH,
    Resources,
    is_gpu,
    is_worth_nothing,
    num_gpus,
    unit_of,
)
from solver.verify.evidence import Evidence
from solver.verify.gang_counts import is_satisfied, tally
from solver.verify.plan_steps import STALE
from solver.verify.violation import Violation

_GPUS_OF_A_CLUSTER_WITHOUT = 1000
_MOST_BANDS = 64
_THOUSANDTH = {GPU_SHARE: SHARES_PER_THOUSANDTH}


class _Cost(NamedTuple):
    """
    What is lost to others: GPU-seconds run, pods evicted, and pods moved.

    ``age`` adds up for how long these pods have run, ``size`` what they are worth.
    """

    gpu_seconds: int
    evicted: int
    moved: int
    age: int
    size: int


class _Scale:
    """
    What pods are worth: 10⁹ times their largest part of the cluster.

    GPUs are worth the same each, as are their thousandths where parts of them count,
    CPUs, and GiB.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.offered = evidence.memo.offered(evidence.snapshot.nodes)
        self.gpus = num_gpus(self.offered) or _GPUS_OF_A_CLUSTER_WITHOUT
        self._known: dict[tuple[tuple[str, int], ...], int] = {}

    def size(self, requests: Resources) -> int:
        """
        Give the value of one pod; pods that ask for the same are priced once.
        """
        asked = tuple(requests.items())
        if asked not in self._known:
            self._known[asked] = self._price(requests)
        return self._known[asked]

    def _price(self, requests: Resources) -> int:
        most = 1
        for name, amount in requests.items():
            total = self.offered.get(name, 0)
            if total <= 0 or is_worth_nothing(name):
                continue
            units = _THOUSANDTH.get(name) or unit_of(name)
            each, left = divmod(10**9 * units, total)
            if left and (is_gpu(name) or name in _THOUSANDTH):
                each += 1
            elif each < 100:
                each, units = 10**9, total
            most = max(most, (amount * each + units - 1) // units)
        return min(100 * 10**9, most)

    def gpu_seconds(self, requests: Resources, seconds: int) -> int:
        """
        Give what one pod runs in some seconds; without GPUs by its part of all.
        """
        own = num_gpus(requests)
        if own == 0:
            return -(-self.size(requests) * self.gpus * seconds // 10**9)
        return own * seconds


def eviction_bounds(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that no more is evicted, moved and lost than the policy allows in a round.

    Lost GPU-seconds are allowed by the GPUs reserved for those that pods leave for, and
    by the part of the cluster that each of their pods without GPUs gets.
    """
    evict, cost = evidence.policy.evict, _cost(evidence)
    gangs = sum(
        any(pods and rule != STALE for rule, pods in loss.rules.items())
        for loss in evidence.losses.values()
    )
    bounds = (
        ("maxPods", f"{cost.evicted} pods evicted", cost.evicted, evict.max_pods),
        ("maxGangs", f"pods of {gangs} gangs evicted", gangs, evict.max_gangs),
        ("maxMoves", f"{cost.moved} pods moved", cost.moved, evict.max_moves),
    )
    for name, said, number, most in bounds:
        if most is not None and number > most:
            yield Violation("eviction-bound", name, f"{said}, at most {most} may be")
    if evict.max_lost_per_gpu is not None and cost.gpu_seconds:
        most = _gained(evidence, evict.max_lost_per_gpu)
        if cost.gpu_seconds > most:
            message = f"{cost.gpu_seconds} GPU-seconds lost, at most {most} may be"
            yield Violation("eviction-bound", "maxLostPerGpu", message)


def _cost(evidence: Evidence) -> _Cost:
    seconds = evicted = moved = age = size = 0
    scale = _Scale(evidence)
    for step in evidence.taking:
        if step.operation.op == "Evict":
            evicted += 1
        else:
            moved += 1
        if step.pod is not None and step.leaf is not None:
            seconds += scale.gpu_seconds(step.leaf.requests, step.pod.seconds)
            age += step.pod.seconds
            size += scale.size(step.leaf.requests)
    return _Cost(seconds, evicted, moved, age, size)


def _gained(evidence: Evidence, seconds: int) -> int:
    """
    Count what is reserved for the gangs that pods leave for runs in some seconds.

    Those that start together with one of them gain by it as well.
    """
    named, scale = evidence.beneficiaries(), _Scale(evidence)
    for key in sorted(named & evidence.cases.keys()):
        named.update(evidence.cases[key].gang.mates)
    total = 0
    for key in named & evidence.cases.keys():
        case = evidence.cases[key]
        for leaf in pod_sets(case.gang.tree):
            pods = sum(case.deeds.reserved.get(leaf.name, {}).values())
            total += scale.gpu_seconds(leaf.requests, seconds) * pods
    return total


def lost_claims(evidence: Evidence) -> Iterator[Violation]:
    """
    Ensure that the tiers of losses say what is lost, where a plan lists any.

    A plan does not tell its steps apart, so disruption and preemption are added up.
    """
    kinds = ("", "-gangs", "-pods", "-rank", "-age", "-size")
    claimed = dict.fromkeys(kinds, 0)
    listed = False
    for tier in evidence.plan.tiers:
        for first in ("disruption", "preemption"):
            kind = tier.name.removeprefix(first)
            if tier.name.startswith(first) and kind in claimed:
                claimed[kind] += tier.value
                listed = True
    if not listed:
        return
    cost = _cost(evidence)
    sure, at_most = _gangs_lost(evidence)
    pods = cost.evicted + cost.moved
    bounds = {
        "": (cost.gpu_seconds, cost.gpu_seconds, "GPU-seconds"),
        "-gangs": (sure, at_most, "gangs evicted whole"),
        "-pods": (pods, pods, "pods"),
        "-age": (cost.age, cost.age, "seconds that pods have run"),
        "-size": (cost.size, cost.size, "of value of pods"),
    }
    rank = _rank(evidence)
    if rank is not None:
        bounds["-rank"] = (rank, rank, "bands below what is evicted")
    for kind, (low, high, what) in bounds.items():
        if not low <= claimed[kind] <= high:
            message = f"says {claimed[kind]} {what}, {low} are lost"
            yield Violation("lost-claim", f"disruption{kind}", message)


def _gangs_lost(evidence: Evidence) -> tuple[int, int]:
    """
    Count gangs that are evicted whole, for sure and at most.

    In between are gangs that need none of their running pods, or whose pods may leave
    one by one.
    """
    sure = at_most = 0
    for loss in evidence.losses.values():
        if loss.whole and STALE not in loss.rules:
            at_most += 1
            sure += not _is_loose(loss.gang)
    return sure, at_most


def _rank(evidence: Evidence) -> int | None:
    """
    Count for all evicted pods the bands below their own; none where it is arguable.

    Without cut points every priority is a band, unless there are very many.
    """
    gangs, bands = still(evidence.snapshot.gangs), evidence.policy.bands
    cuts = sorted({gang.priority for gang in gangs})[1:] if bands is None else bands
    if bands is None and len(cuts) >= _MOST_BANDS:
        return None
    cuts = sorted(set(cuts))
    return sum(
        bisect_right(cuts, evidence.gangs[step.operation.gang].priority)
        for step in evidence.taking
        if step.operation.op == "Evict"
    )


def _is_loose(gang: Gang) -> bool:
    match gang.match_policy:
        case MatchPolicy.ONCE_SATISFIED:
            return True
        case MatchPolicy.WAITING_RUNNING_SUCCEED:
            kept = {leaf.name: tally(leaf).succeeded for leaf in pod_sets(gang.tree)}
            return is_satisfied(gang.tree, kept)
        case MatchPolicy.ONLY_WAITING | MatchPolicy.WAITING_AND_RUNNING:
            return is_satisfied(gang.tree, {})
