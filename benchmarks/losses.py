"""
What a plan takes from those who run, and what it gives to those who wait.
"""

from collections.abc import Collection
from dataclasses import dataclass

from models.gangs import Pod, PodPhase, PodSet, pod_sets
from models.plan import Plan
from models.resources import num_gpus
from models.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Losses:
    """
    Pods evicted and moved, their GPUs and GPU-seconds, and the GPUs gained.

    Stale gangs lose nothing that counts: what is below its minimum does no work.
    """

    evicted: int = 0
    moved: int = 0
    gpus: int = 0
    gpu_seconds: int = 0
    gained: int = 0

    def __add__(self, other: "Losses") -> "Losses":
        return Losses(
            self.evicted + other.evicted,
            self.moved + other.moved,
            self.gpus + other.gpus,
            self.gpu_seconds + other.gpu_seconds,
            self.gained + other.gained,
        )

    @property
    def per_gained(self) -> float:
        """
        GPUs lost for each GPU gained.
        """
        return _ratio(self.gpus, self.gained)

    @property
    def work_per_gained(self) -> float:
        """
        GPU-seconds lost for each GPU gained.
        """
        return _ratio(self.gpu_seconds, self.gained)

    def facts(self, prefix: str = "") -> dict[str, float]:
        """
        Name the numbers as reports do, all with the same beginning.
        """
        named = {
            "evicted": self.evicted,
            "moved": self.moved,
            "lostGpus": self.gpus,
            "lostGpuSeconds": self.gpu_seconds,
            "gainedGpus": self.gained,
            "lostPerGained": round(self.per_gained, 4),
        }
        if not prefix:
            return named
        return {f"{prefix}{n[0].upper()}{n[1:]}": value for n, value in named.items()}


def losses_of(snapshot: Snapshot, plan: Plan) -> Losses:
    """
    Add up a plan's operations; gained are GPUs bound or reserved for who waited.
    """
    pods = _pods_by_key(snapshot)
    waited = waiting_gangs(snapshot)
    total = Losses()
    for op in plan.operations:
        pod, leaf = pods[op.pod]
        gpus = num_gpus(leaf.requests)
        if op.op in {"Bind", "Reserve"}:
            if op.gang in waited:
                total += Losses(gained=gpus)
        elif op.rule != "stale":
            evicted = op.op == "Evict"
            total += Losses(evicted, not evicted, gpus, gpus * pod.seconds)
    return total


def waiting_gangs(snapshot: Snapshot) -> frozenset[str]:
    """
    Name the gangs that run nothing.
    """
    return frozenset(
        gang.key
        for gang in snapshot.gangs
        if all(
            pod.phase is not PodPhase.RUNNING
            for leaf in pod_sets(gang.tree)
            for pod in leaf.pods
        )
    )


def running_gpus(snapshot: Snapshot, gangs: Collection[str]) -> int:
    """
    Sum the GPUs on which pods of some gangs run.
    """
    return sum(
        num_gpus(leaf.requests)
        for gang in snapshot.gangs
        if gang.key in gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
        if pod.phase is PodPhase.RUNNING
    )


def _pods_by_key(snapshot: Snapshot) -> dict[str, tuple[Pod, PodSet]]:
    return {
        f"{gang.namespace}/{pod.name}": (pod, leaf)
        for gang in snapshot.gangs
        for leaf in pod_sets(gang.tree)
        for pod in leaf.pods
    }


def _ratio(lost: int, gained: int) -> float:
    return lost / max(1, gained)
