"""
Nodes as rows: what they have, who uses it, what is left.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.inventory.devices import DeviceRow, DeviceUser, device_rows
from adapters.inventory.listed import Seen
from models.devices.gpu_counts import held_on, in_gpus, shares_asked, written_amounts
from models.gangs import ON_A_NODE, pod_sets
from models.nodes import Node
from models.resources import GPU_SHARE, PODS, SHARES_PER_GPU, add


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """
    One node: ``ours`` is what pods of gangs hold, alone or together.

    ``gangs`` counts the pods there by gang; ``devices`` are its GPUs, where it is
    known who has parts of them.
    """

    node: Node
    ours: Mapping[str, int]
    gangs: Mapping[str, int]
    devices: Sequence[DeviceRow] = ()

    @property
    def name(self) -> str:
        """
        The node's name.
        """
        return self.node.name

    @property
    def state(self) -> str:
        """
        Whether anything new may go there.
        """
        return "Closed" if self.node.unschedulable else "Open"

    @property
    def gpus(self) -> float:
        """
        The GPUs that it offers, those that pods claim included.
        """
        return in_gpus(shares_asked(self.node.allocatable))

    @property
    def gpus_used(self) -> float:
        """
        The GPUs that pods hold, whoever's they are, parts of them included.
        """
        return in_gpus(shares_asked(self.used) - self._beyond)

    @property
    def gpus_free(self) -> float:
        """
        What is left of its GPUs, on shared ones as well.
        """
        return in_gpus(shares_asked(self.free))

    @property
    def _beyond(self) -> int:
        """
        What counts on devices beyond all of them: it takes nothing of the others.
        """
        return sum(max(0, row.shares - SHARES_PER_GPU) for row in self.devices)

    @property
    def pods(self) -> int:
        """
        The pods of gangs that are there.
        """
        return sum(self.gangs.values())

    @property
    def others(self) -> dict[str, int]:
        """
        What other pods hold: of what counts as used no piece that pods are tied to.
        """
        total = dict(self.node.used)
        for piece in self.node.tied:
            add(total, piece, -1)
        return total

    @property
    def used(self) -> dict[str, int]:
        """
        What pods hold, whoever's they are.
        """
        total = self.others
        add(total, self.ours)
        return total

    @property
    def free(self) -> dict[str, int]:
        """
        What is left; nothing where nothing new may go.
        """
        if self.node.unschedulable:
            return dict.fromkeys(self.node.allocatable, 0)
        used = self.used
        beyond = {GPU_SHARE: self._beyond}
        return {
            name: max(0, amount - used.get(name, 0) + beyond.get(name, 0))
            for name, amount in self.node.allocatable.items()
        }

    def document(self) -> dict[str, Any]:
        """
        Give the row as plain values.
        """
        return {
            "name": self.name,
            "state": self.state,
            "allocatable": written_amounts(self.node.allocatable),
            "used": written_amounts(self.used),
            "free": written_amounts(self.free),
            "gangs": dict(sorted(self.gangs.items())),
            "devices": [row.document() for row in self.devices],
            "labels": dict(sorted(self.node.labels.items())),
            "taints": [
                {"key": taint.key, "value": taint.value, "effect": taint.effect}
                for taint in self.node.taints
            ],
        }


def node_rows(seen: Seen) -> Iterator[NodeRow]:
    """
    Walk the nodes of a snapshot by name.
    """
    ours: defaultdict[str, dict[str, int]] = defaultdict(dict)
    gangs: defaultdict[str, Counter[str]] = defaultdict(Counter)
    users: defaultdict[str, list[DeviceUser]] = defaultdict(list)
    tied: defaultdict[str, set[int]] = defaultdict(set)
    memories = {record.name: record.gpu_memory for record in seen.snapshot.nodes}
    for gang in seen.snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            held = Counter(
                (pod.node, bool(pod.devices))
                for pod in leaf.pods
                if pod.phase in ON_A_NODE and pod.node
            )
            for (node, is_known), number in held.items():
                memory = memories.get(node, 0)
                held_there = held_on(leaf.requests, memory, is_known=is_known)
                add(ours[node], {PODS: 1, **held_there}, number)
                gangs[node][gang.key] += number
            there = (x for x in leaf.pods if x.phase in ON_A_NODE)
            for pod in there:
                where, name = pod.node or "", f"{gang.namespace}/{pod.name}"
                tied[where].update(pod.tied)
                if pod.devices:
                    users[where].append(DeviceUser(name, leaf.requests, pod.devices))
    for record in seen.snapshot.nodes:
        for number in tied.get(record.name, ()):
            add(ours[record.name], record.tied[number])
        yield NodeRow(
            node=record,
            ours=ours.get(record.name, {}),
            gangs=gangs.get(record.name, {}),
            devices=device_rows(record, users.get(record.name, ())),
        )
