"""
The census: what runs where, counted once for all who ask.

Large clusters have a hundred thousand running pods and few kinds of them, so pods are
counted by queue and by node.  What runs of gangs that run whole is kept in a memo, of
which only what came and what went is counted again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from models.gangs import ON_A_NODE, Gang, Pod, PodPhase, PodSet, pod_sets
from models.memory.aged_gangs import still
from models.memory.kept import Held, Kept
from models.resources import Resources
from models.snapshot import Snapshot

_MOST_KINDS = 10_000
"""
With more kinds of requests than that the memo begins anew: most are gone by then.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """
    Pods by what they ask for: running ones by queue, and all that are load by node.

    ``kinds`` holds the requests under their number; ``queues`` counts running pods by
    (queue, preemptible, kind).  ``whole`` is the load of gangs that run whole, nodes ×
    ``resources``; of the gangs at the places ``open``, ``loads`` lists (node, kind) of
    pods that hold room, and ``leaving`` those that will be gone before long.
    """

    kinds: Sequence[Resources]
    queues: Mapping[tuple[str, bool, int], int]
    whole: NDArray[np.int64]
    resources: Sequence[str]
    open: Sequence[int]
    loads: Sequence[tuple[str, int]]
    leaving: Sequence[tuple[str, int]]

    def running(self) -> Iterator[tuple[Resources, int]]:
        """
        Walk what runs: requests, and how many pods ask for them.
        """
        for (_, _, kind), count in self.queues.items():
            yield self.kinds[kind], count

    def names(self) -> set[str]:
        """
        Name the resources that pods on nodes, or running ones, ask for.
        """
        there = {kind for _, _, kind in self.queues} | {kind for _, kind in self.loads}
        return {name for at in there for name, n in self.kinds[at].items() if n > 0}


class CensusMemo:
    """
    What was counted last of gangs that run whole; it may be dropped at any time.

    ``is_complete`` tells which these are, ``is_leaving`` whose room can be counted on.
    """

    def __init__(
        self, is_complete: Callable[[Gang], bool], is_leaving: Callable[[Pod], bool]
    ) -> None:
        self._complete: Kept[Gang, bool] = Kept(is_complete)
        self._is_leaving = is_leaving
        self._begin({})

    def _begin(self, index: Mapping[str, int]) -> None:
        self._index = index
        self._held: Held[Gang] = Held()
        self._kinds: list[Resources] = []
        self._numbers: dict[tuple[tuple[str, int], ...], int] = {}
        self._queues: dict[tuple[str, bool, int], int] = {}
        self._resources: list[str] = []
        self._whole = np.zeros((len(index), 0), dtype=np.int64)

    def of(self, snapshot: Snapshot, index: Mapping[str, int]) -> Census:
        """
        Count the pods of a snapshot; ``index`` numbers its nodes.
        """
        if index != self._index or len(self._kinds) > _MOST_KINDS:
            self._begin(index)
        gangs = still(snapshot.gangs)
        complete = self._complete.of(gangs)
        gone, came = self._held.changed(compress(gangs, complete))
        self._count(gone, -1)
        self._count(came, 1)
        places = [at for at, whole in enumerate(complete) if not whole]
        queues = dict(self._queues)
        loads: list[tuple[str, int]] = []
        leaving: list[tuple[str, int]] = []
        for at in places:
            gang = snapshot.gangs[at]
            for leaf in pod_sets(gang.tree):
                self._count_open(gang, leaf, queues, loads, leaving)
        return Census(
            kinds=self._kinds,
            queues=queues,
            whole=self._whole,
            resources=self._resources[: self._whole.shape[1]],
            open=places,
            loads=loads,
            leaving=leaving,
        )

    def _count(self, gangs: Sequence[Gang], sign: int) -> None:
        """
        Count gangs that run whole, or let go what was counted of them.
        """
        number_of, where, which = self._index.get, [], []
        numbers: dict[int, int] = {}
        queues: dict[tuple[str, bool, int], int] = {}
        for gang in gangs:
            tree = next(pod_sets(gang.tree))  # the only one
            kind = numbers.get(id(tree.requests))
            if kind is None:
                kind = numbers[id(tree.requests)] = self._kind(tree.requests)
            key = gang.queue, gang.preemptible, kind
            queues[key] = queues.get(key, 0) + len(tree.pods)
            for pod in tree.pods:
                node = pod.node if pod.phase in ON_A_NODE else None
                where.append(number_of(node or "", -1))
                which.append(kind)
        for key, number in queues.items():
            _add(self._queues, key, sign * number)
        if where:
            self._add_load(np.array(where), np.array(which), sign)

    def _add_load(
        self, where: NDArray[np.int64], which: NDArray[np.int64], sign: int
    ) -> None:
        there = where >= 0
        missing = len(self._resources) - self._whole.shape[1]
        if missing:
            wider = np.zeros((len(self._whole), missing), dtype=np.int64)
            self._whole = np.hstack((self._whole, wider))
        rows = [[kind.get(r, 0) for r in self._resources] for kind in self._kinds]
        table = sign * np.array(rows, dtype=np.int64)
        self._whole = self._whole.copy()  # the census before has the other one
        np.add.at(self._whole, where[there], table[which[there]])

    def _count_open(
        self,
        gang: Gang,
        leaf: PodSet,
        queues: dict[tuple[str, bool, int], int],
        loads: list[tuple[str, int]],
        leaving: list[tuple[str, int]],
    ) -> None:
        there = [pod for pod in leaf.pods if pod.phase in ON_A_NODE]
        running = sum(pod.phase is PodPhase.RUNNING for pod in leaf.pods)
        if not there and not running:
            return
        kind = self._kind(leaf.requests)
        if running:
            _add(queues, (gang.queue, gang.preemptible, kind), running)
        for pod in there:
            if pod.node is not None:
                loads.append((pod.node, kind))
                if self._is_leaving(pod):
                    leaving.append((pod.node, kind))

    def _kind(self, requests: Resources) -> int:
        """
        Give what is asked for a number; equal requests have the same one.
        """
        said = tuple(sorted(requests.items()))
        number = self._numbers.get(said)
        if number is None:
            number = self._numbers[said] = len(self._kinds)
            self._kinds.append(requests)
            new = sorted(requests.keys() - set(self._resources))
            self._resources = [*self._resources, *new]
        return number


def _add(
    counts: dict[tuple[str, bool, int], int], key: tuple[str, bool, int], number: int
) -> None:
    left = counts.get(key, 0) + number
    if left:
        counts[key] = left
    else:
        counts.pop(key, None)
