"""
Gangs as rows: how they stand now, whatever a plan would make of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

from adapters.inventory.listed import Seen, Why
from models.devices.gpu_counts import (
    in_gpus,
    shares_asked,
    shares_held,
    written_request,
)
from models.gangs import (
    ON_A_NODE,
    Gang,
    PodPhase,
    PodSet,
    is_complete,
    pod_sets,
)
from models.memory.aged_gangs import still
from models.memory.kept import Kept
from models.resources import summed
from models.snapshot import Snapshot
from models.why.reasons import NOTHING_NEEDED, Reason
from solver import has_ended, least_pods, standing


@dataclass(frozen=True, slots=True, kw_only=True)
class GangRow:
    """
    One gang: its state now, its pods by phase, and why it waits if somebody knows.

    ``total`` counts the pods it is to have; ``asked`` is what all of them ask for of
    GPUs and ``held`` what its pods hold, in 1/7000 of one.  ``seconds`` is its age.
    """

    namespace: str
    name: str
    queue: str
    state: str
    priority: int
    pods: Counter[PodPhase]
    minimum: int
    total: int
    asked: int
    held: int
    seconds: int
    nodes: tuple[str, ...] = ()
    why: Why | None = None
    starts: str = ""
    gang: Gang = field(compare=False)

    @property
    def key(self) -> str:
        """
        The name people see and plans use.
        """
        return f"{self.namespace}/{self.name}"

    @property
    def gpus(self) -> float:
        """
        The GPUs that all its pods ask for.
        """
        return in_gpus(self.asked)

    @property
    def used(self) -> float:
        """
        The GPUs that its pods hold.
        """
        return in_gpus(self.held)

    @property
    def waits_for(self) -> str:
        """
        What must come before it starts, in a few words, where somebody said it.
        """
        return self.why.waits_for if self.why else ""

    @property
    def message(self) -> str:
        """
        Why it waits, in a sentence, where somebody said it.
        """
        return self.why.message if self.why else ""

    def document(self) -> dict[str, Any]:
        """
        Give the row as plain values.
        """
        return {
            "name": self.name,
            "namespace": self.namespace,
            "queue": self.queue,
            "state": self.state,
            "priority": self.priority,
            "preemptible": self.gang.preemptible,
            "ageSeconds": self.seconds,
            "pods": {
                "total": self.total,
                "min": self.minimum,
                **{phase.value.lower(): self.pods[phase] for phase in PodPhase},
            },
            "gpus": {"requested": self.gpus, "used": self.used},
            "nodes": list(self.nodes),
            "reason": (self.why.reason or None) if self.why else None,
            "message": self.why.message if self.why else None,
            "waitsFor": self.waits_for or None,
            "starts": self.starts or None,
        }


def gang_rows(seen: Seen) -> Iterator[GangRow]:
    """
    Walk the gangs of a snapshot by name.
    """
    memories = {node.name: node.gpu_memory for node in seen.snapshot.nodes}
    for gang in seen.snapshot.gangs:
        row = row_of(gang, memories)
        why, starts = seen.whys.get(gang.key), seen.starts.get(gang.key, "")
        yield replace(row, why=why_shown(gang, row.state, why), starts=starts)


class RowsMemo:
    """
    Rows without what somebody said of them, of gangs that stay; it may be dropped.

    Their ages are those at which the gangs were read.
    """

    def __init__(self) -> None:
        self._memories: Mapping[str, int] = {}
        self._rows: Kept[Gang, GangRow] = Kept(self._make)

    def _make(self, gang: Gang) -> GangRow:
        return row_of(gang, self._memories)

    def of(self, snapshot: Snapshot) -> list[GangRow]:
        """
        Give the rows of a snapshot's gangs.
        """
        memories = {node.name: node.gpu_memory for node in snapshot.nodes}
        if memories != self._memories:
            self._memories, self._rows = memories, Kept(self._make)
        return self._rows.of(still(snapshot.gangs))


def state_now(gang: Gang) -> str:
    """
    Say how a gang stands: with its minimum running, at its end, leaving, or waiting.
    """
    return _state(
        gang, Counter(pod.phase for x in pod_sets(gang.tree) for pod in x.pods)
    )


def row_of(gang: Gang, memories: Mapping[str, int]) -> GangRow:
    """
    Give the row of a gang without what somebody said of it.

    ``memories`` are those of a GPU on each node.
    """
    leaves = tuple(pod_sets(gang.tree))
    counts = Counter([pod.phase for leaf in leaves for pod in leaf.pods])
    where = [
        [pod.node or "" for pod in leaf.pods if pod.phase in ON_A_NODE]
        for leaf in leaves
    ]
    return GangRow(
        namespace=gang.namespace,
        name=gang.name,
        queue=gang.queue,
        state=_state(gang, counts),
        priority=gang.priority,
        pods=counts,
        minimum=least_pods(gang),
        total=sum([leaf.replicas for leaf in leaves]),
        asked=sum([shares_asked(leaf.requests) * leaf.replicas for leaf in leaves]),
        held=sum(map(_held, leaves, where, repeat(memories))),
        seconds=gang.age,
        nodes=tuple(sorted({node for nodes in where for node in nodes if node})),
        gang=gang,
    )


def _held(leaf: PodSet, nodes: list[str], memories: Mapping[str, int]) -> int:
    """
    Count what pods of a leaf hold of some nodes, as far as these are there.
    """
    kinds = Counter([memories[node] for node in nodes if node in memories])
    return sum([shares_held(leaf.requests, memory) * n for memory, n in kinds.items()])


def why_shown(gang: Gang, state: str, why: Why | None) -> Why | None:
    """
    Give why a gang waits; of one that runs only that somebody holds it.

    One that needs no more pods waits for no reason, and is told so.
    """
    held = gang.refused
    if state == "Running" and held is not None and held.reason is Reason.HELD:
        return Why(held.reason.value, f"{held.message}; what runs goes on")
    if why is None and state == "Waiting" and standing(gang).satisfied:
        return Why("", NOTHING_NEEDED)
    return why if state in {"Waiting", "Reserved", "Leaving"} else None


def _state(gang: Gang, pods: Counter[PodPhase]) -> str:
    if is_complete(gang):
        return "Running"
    now = standing(gang)
    if has_ended(now):
        return "Finished"
    if pods[PodPhase.RUNNING] and now.satisfied:
        return "Running"
    if pods[PodPhase.TERMINATING] and not pods[PodPhase.PENDING]:
        return "Leaving"
    return "Reserved" if pods[PodPhase.RESERVED] else "Waiting"


def requests_of(gang: Gang) -> dict[str, str]:
    """
    Give what all pods of a gang ask for together, as people write it.
    """
    every = summed(
        {name: amount * leaf.replicas for name, amount in leaf.requests.items()}
        for leaf in pod_sets(gang.tree)
    )
    return written_request(every)
