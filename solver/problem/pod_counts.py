"""
The census: what runs where, counted once for all who ask.

Large clusters have a hundred thousand running pods and few kinds of them, so pods are
counted by queue and by node under the identity of their requests.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from models.gangs import Pod, PodPhase, pod_sets
from models.policy import LONGEST_LEAVING
from models.resources import Resources
from models.snapshot import Snapshot

LOAD = frozenset({PodPhase.RUNNING, PodPhase.TERMINATING})
"""
Pods that hold the room of their node.
"""


def is_leaving(pod: Pod) -> bool:
    """
    Tell whether a pod's room can be counted on although it is still there.
    """
    return pod.phase is PodPhase.TERMINATING and pod.seconds < LONGEST_LEAVING


@dataclass(frozen=True, slots=True)
class Census:
    """
    Pods by what they ask for: running ones by queue, and all that are load by node.

    ``kinds`` holds the requests under their number; ``queues`` counts running pods by
    (queue, preemptible, kind); ``loads`` lists (node, kind) of pods that hold room.
    ``leaving`` are the loads among them that will be gone before long.
    """

    kinds: list[Resources] = field(default_factory=list)
    queues: dict[tuple[str, bool, int], int] = field(default_factory=dict)
    loads: list[tuple[str, int]] = field(default_factory=list)
    leaving: list[tuple[str, int]] = field(default_factory=list)

    def running(self) -> Iterator[tuple[Resources, int]]:
        """
        Walk what runs: requests, and how many pods ask for them.
        """
        for (_, _, kind), count in self.queues.items():
            yield self.kinds[kind], count


def census_of(snapshot: Snapshot) -> Census:
    """
    Count the pods of a snapshot.
    """
    census = Census()
    numbers: dict[int, int] = {}
    queues, loads = census.queues, census.loads
    for gang in snapshot.gangs:
        for leaf in pod_sets(gang.tree):
            kind = -1
            running = 0
            for pod in leaf.pods:
                loads_node = pod.phase in LOAD
                if not loads_node and pod.phase is not PodPhase.RUNNING:
                    continue
                if kind < 0:
                    kind = numbers.setdefault(id(leaf.requests), len(census.kinds))
                    if kind == len(census.kinds):
                        census.kinds.append(leaf.requests)
                running += pod.phase is PodPhase.RUNNING
                if loads_node and pod.node is not None:
                    loads.append((pod.node, kind))
                    if is_leaving(pod):
                        census.leaving.append((pod.node, kind))
            if running:
                key = (gang.queue, gang.preemptible, kind)
                queues[key] = queues.get(key, 0) + running
    return census
