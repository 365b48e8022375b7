"""
Runners: all preemptible gangs that run, read once for all who ask who may leave.
"""

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property

from models.gangs import (
    Gang,
    Pod,
    PodSet,
    is_complete,
    leaf_of,
    pod_sets,
    running_pods,
)
from models.resources import Resources, add
from models.snapshot import Snapshot
from solver.problem.pod_values import PodValues

Runner = tuple[int, Pod]
"""
A running pod with the index of its leaf.
"""
Single = tuple[Gang, Pod, int, int, int]
"""
A gang of one pod that runs: with the node, its work, and the number of its requests.
"""


class Runners:
    """
    Gangs of a single pod, and all others; read when first asked for.
    """

    def __init__(
        self, snapshot: Snapshot, index: dict[str, int], values: PodValues
    ) -> None:
        self.snapshot = snapshot
        self.index = index
        self.values = values
        self._numbers: dict[int, int] = {}
        self._equal: dict[frozenset[tuple[str, int]], int] = {}

    @cached_property
    def all(self) -> tuple[list[Single], list[tuple[Gang, tuple[Runner, ...]]]]:
        """
        List single pods on nodes that exist, and the other gangs with what runs.
        """
        singles: list[Single] = []
        others: list[tuple[Gang, tuple[Runner, ...]]] = []
        for gang in self.snapshot.gangs:
            if not gang.preemptible:
                continue
            tree = gang.tree
            if isinstance(tree, PodSet) and len(tree.pods) == 1 and is_complete(gang):
                pod = tree.pods[0]
                host = self.index.get(pod.node or "", -1)
                if host >= 0:
                    number = self.number_of(tree.requests)
                    work = self.values.work(tree.requests, pod.seconds)
                    singles.append((gang, pod, host, work, number))
                continue
            runners = tuple([(at, pod) for at, _, pod in running_pods(gang)])
            if runners:
                others.append((gang, runners))
        return singles, others

    def on(self, nodes: AbstractSet[int]) -> "Runners":
        """
        See only the gangs that lie on some nodes, with all their pods.
        """
        some, at = Runners(self.snapshot, self.index, self.values), self.index.get
        singles = [one for one in self.all[0] if one[2] in nodes]
        more = [x for x in self.all[1] if nodes >= {at(p.node or "") for _, p in x[1]}]
        some.all = singles, more
        return some

    @cached_property
    def unprotected(self) -> "Runners":
        """
        See all gangs as preemptible, in no budget.
        """
        had = self.snapshot
        free = (x if x.preemptible else replace(x, preemptible=True) for x in had.gangs)
        bare = replace(had, gangs=tuple(free), budgets=(), unchanged_for=None)
        return Runners(bare, self.index, self.values)

    def number_of(self, requests: Resources) -> int:
        """
        Give equal requests one number.
        """
        number = self._numbers.get(id(requests))
        if number is None:
            known = self._equal.setdefault(
                frozenset(requests.items()), len(self._equal)
            )
            number = self._numbers[id(requests)] = known
        return number


def asked_by(gang: Gang, pods: Iterable[Runner]) -> dict[str, int]:
    """
    Add up what some pods of a gang ask for.
    """
    total: dict[str, int] = {}
    for leaf, number in Counter(leaf for leaf, _ in pods).items():
        add(total, leaf_of(gang, leaf).requests, number)
    return total


def work_of(values: PodValues, gang: Gang, pods: Iterable[Runner]) -> int:
    """
    Add up the GPU-seconds that some pods have run.
    """
    leaves = tuple(pod_sets(gang.tree))
    return sum(values.work(leaves[at].requests, pod.seconds) for at, pod in pods)


def age_of(pods: Iterable[Runner]) -> int:
    """
    Add up the seconds that some pods have run.
    """
    return sum(pod.seconds for _, pod in pods)
