"""
Measured steady rounds: one new gang in a large cluster, through the cache as in a loop.

Two rows: with nothing kept, as in the first round of a process, and with what is kept
from round to round.  Both give the same plans.  Seconds are those of the processor.
"""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.kube.api.api_resources import Resource
from adapters.kube.dialects.registry import dialects
from adapters.kube.gangs.assemble import Assembler
from adapters.kube.gangs.kinds import resources_of
from adapters.kube.watch.cache import NODES, PODS, Cache
from adapters.kube.watch.source import reducer_of
from adapters.loop.memory.gangs import Memory
from adapters.machine.clock import used
from adapters.machine.garbage import no_collection
from benchmarks.contract_steady import Steady
from benchmarks.measure import peak_gibibytes
from benchmarks.rows import Range, Row
from models.plan import Plan
from solver.round import RoundMemo, decide

NOW = 1_800_000_000.0
BETWEEN = 5.0
"""
The seconds from one round to the next.
"""
GROUPS = "scheduling.x-k8s.io"
_BORN = "2027-01-15T06:00:00Z"


def measure_steady(contract: Steady) -> Iterator[Row]:
    """
    Measure rounds with nothing kept, and with what the rounds before left.
    """
    cluster = SteadyCluster(contract)
    cluster.round()
    yield _row(contract, "empty", [cluster.afresh() for _ in range(3)])
    cluster.round()
    warm = [cluster.round() for _ in range(contract.repeat)]
    row = _row(contract, "warm", warm)
    limit = contract.reach.seconds
    promise = Range(what="seconds", value=row.seconds["total"], limit=limit)
    bound = sum(len(each.plan.operations) for each in warm)
    wanted = contract.arriving.pods * contract.repeat
    starts = Range(what="pods bound", value=bound, limit=wanted, side="exactly")
    yield Row(
        name=row.name,
        seconds=row.seconds,
        gibibytes=peak_gibibytes(),
        facts=row.facts,
        ranges=(promise, starts),
    )


@dataclass(frozen=True, slots=True)
class SteadyRound:
    """
    One round: its plan, and the seconds of its parts.
    """

    plan: Plan
    seconds: Mapping[str, float]


def _row(contract: Steady, name: str, rounds: list[SteadyRound]) -> Row:
    """
    Give the median of each part.
    """
    parts = rounds[0].seconds.keys()
    return Row(
        name=f"{contract.name} {name}",
        seconds={
            part: statistics.median(each.seconds[part] for each in rounds)
            for part in parts
        },
        facts={
            "nodes": contract.cluster.nodes,
            "pods": contract.running.pods,
            "gangs": contract.running.pods // contract.running.size,
        },
    )


@dataclass(slots=True)
class SteadyCluster:
    """
    What a loop holds of such a cluster.
    """

    contract: Steady
    cache: Cache = field(init=False)
    assembler: Assembler = field(init=False)
    memory: Memory = field(default_factory=Memory)
    memo: RoundMemo = field(default_factory=RoundMemo)
    now: float = NOW
    _resources: dict[tuple[str, str], Resource] = field(init=False)
    _version: int = 0
    _came: int = 0

    def __post_init__(self) -> None:
        """
        Let everything run.
        """
        heard = dialects()
        self._resources = {(r.group, r.plural): r for r in resources_of(heard)}
        self.cache = Cache(self._resources.values())
        self.assembler = Assembler(heard)
        for at in range(self.contract.cluster.nodes):
            self._put(NODES, _node(at, self.contract.cluster.allocatable))
        running, nodes = self.contract.running, self.contract.cluster.nodes
        for at in range(running.namespaces):
            self._put((GROUPS, "elasticquotas"), _quota(at))
        gangs = running.pods // running.size
        for gang in range(gangs):
            space = f"team-{gang % running.namespaces}"
            gpus = int(gang < running.with_gpus * gangs)
            names = [
                _name((gang * running.size + member) % nodes)
                for member in range(running.size)
            ]
            self._gang(space, f"g{gang}", gpus, names)

    def round(self) -> SteadyRound:
        """
        Let a gang come, and plan.
        """
        arriving, self.now = self.contract.arriving, self.now + BETWEEN
        name, self._came = f"new{self._came}", self._came + 1
        self._gang("team-0", name, arriving.gpus, [None] * arriving.pods)
        planned = self._planned()
        for member in range(arriving.pods):
            self._drop(PODS, f"team-0/{name}-{member}")
        self._drop((GROUPS, "podgroups"), f"team-0/{name}")
        return planned

    def afresh(self) -> SteadyRound:
        """
        Do the same with nothing kept.
        """
        self.assembler.forget()
        self.memo = RoundMemo()
        return self.round()

    def _planned(self) -> SteadyRound:
        with no_collection():
            start = used()
            view = self.cache.view(())
            made = self.assembler.assembled(
                view.pods, view.nodes, view.objects, self.now
            )
            snapshot = self.memory.applied(made.snapshot, self.now)
            seen = used() - start
            policy = self.contract.policy
            plan = decide(snapshot, policy, clock=used, memo=self.memo)
            parts = dict(plan.seconds or {})
        return SteadyRound(
            plan, {**parts, "snapshot": seen, "total": seen + parts["total"]}
        )

    def _gang(self, space: str, name: str, gpus: int, nodes: list[Any]) -> None:
        meta = {"name": name, "namespace": space, "creationTimestamp": _BORN}
        spec = {"minMember": len(nodes)}
        api = f"{GROUPS}/v1alpha1"
        group = {"apiVersion": api, "kind": "PodGroup", "metadata": meta, "spec": spec}
        self._put((GROUPS, "podgroups"), group)
        requests = self.contract.running.requests
        for member, node in enumerate(nodes):
            asked = requests | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
            self._put(PODS, _pod(meta, f"{name}-{member}", asked, node))

    def _put(self, place: tuple[str, str], raw: Any) -> None:
        resource, meta = self._resources[place], raw["metadata"]
        space = meta.get("namespace")
        key = f"{space}/{meta['name']}" if space else meta["name"]
        self._version += 1
        record = reducer_of(resource)(raw)
        shelf = self.cache.shelf(resource)
        shelf.put(key, self._version, record, str(self._version))

    def _drop(self, place: tuple[str, str], key: str) -> None:
        self._version += 1
        self.cache.shelf(self._resources[place]).drop(key, str(self._version))


def _name(at: int) -> str:
    return f"node-{at:05}"


def _node(at: int, allocatable: Mapping[str, str | int]) -> Any:
    offered = {name: str(amount) for name, amount in allocatable.items()}
    return {"metadata": {"name": _name(at)}, "status": {"allocatable": offered}}


def _quota(at: int) -> Any:
    spec = {"min": {"nvidia.com/gpu": "5000"}, "max": {"nvidia.com/gpu": "9000"}}
    return {"metadata": {"name": "quota", "namespace": f"team-{at}"}, "spec": spec}


def _pod(
    group: Mapping[str, str], name: str, asked: dict[str, str], node: str | None
) -> Any:
    """
    Write a pod of a group, running where a node is named.
    """
    labels = {"scheduling.x-k8s.io/pod-group": group["name"]}
    container = {"name": "main", "resources": {"requests": asked, "limits": asked}}
    return {
        "metadata": {**group, "name": name, "uid": name, "labels": labels},
        "spec": {
            "schedulerName": "phalanx",
            "containers": [container],
            **({"nodeName": node} if node else {}),
        },
        "status": (
            {"phase": "Running", "startTime": _BORN} if node else {"phase": "Pending"}
        ),
    }
