"""
The workspace: free room, hosts and queue ledgers while gangs are placed one by one.

Every change is logged and can be undone to a mark, so that trying costs little.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from models.policy import Policy
from solver.place.draft import Draft
from solver.place.free_room import Stock
from solver.place.queue_ledger import Ledger
from solver.problem.gang_state import Standing
from solver.problem.leaving_pods import Places
from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class _LogEntry:
    """
    Pods of one leaf placed at one go.
    """

    state: Standing
    leaf: int
    hosts: Ints
    counts: Ints
    total: int


class Workspace:
    """
    What is free now, with the drafts made so far.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.stock = Stock(problem)
        self.ledger = Ledger(problem)
        self.placed: dict[str, dict[int, list[int]]] = {}
        self.entitled: set[str] = set()
        self.frugal = _is_frugal(problem.policy)
        self._log: list[_LogEntry] = []

    def mark(self) -> int:
        """
        Remember this moment.
        """
        return len(self._log)

    def undo(self, mark: int) -> None:
        """
        Take back every pod placed since a mark.
        """
        while len(self._log) > mark:
            step = self._log.pop()
            state, leaf = step.state, step.leaf
            self.stock.shift(self._shape(state, leaf), step.hosts, -step.counts)
            rows = self.placed[state.key]
            del rows[leaf][len(rows[leaf]) - step.total :]
            if not rows[leaf]:
                del rows[leaf]
            if not rows:
                del self.placed[state.key]
            self.ledger.take(state, leaf, -step.total)

    def put(self, state: Standing, leaf: int, counts: Mapping[int, int]) -> None:
        """
        Place so many pods of a leaf on each of some nodes.
        """
        if counts:
            self._put(state, leaf, np.array([*counts]), np.array([*counts.values()]))

    def _put(self, state: Standing, leaf: int, hosts: Ints, counts: Ints) -> None:
        total = int(counts.sum())
        self.stock.shift(self._shape(state, leaf), hosts, counts)
        row = self.placed.setdefault(state.key, {}).setdefault(leaf, [])
        row.extend(np.repeat(hosts, counts).tolist())
        self.ledger.take(state, leaf, total)
        self._log.append(_LogEntry(state, leaf, hosts, counts, total))

    def release(self, state: Standing, leaf: int, host: int) -> None:
        """
        Give back the room of one pod whose place was already forgotten.
        """
        self.stock.shift_one(self._shape(state, leaf), host, -1)
        self.ledger.take(state, leaf, -1)

    def num(self, state: Standing, leaf: int) -> int:
        """
        Count the pods of a leaf placed so far.
        """
        rows = self.placed.get(state.key)
        return len(rows.get(leaf, ())) if rows else 0

    def _shape(self, state: Standing, leaf: int) -> int:
        return self.problem.shapes.of_leaf[state.key, leaf]

    def room_for(self, state: Standing, leaf: int, mask: Bools | None) -> Ints:
        """
        Count how many pods of a leaf each node would take now.
        """
        shape = self._shape(state, leaf)
        counts = self.stock.places(shape)
        if mask is not None:
            counts = counts * mask
        if self.problem.shapes.items[shape].tag:
            counts = counts.copy()
            self._keep_hosts_apart(state, leaf, counts)
        return counts

    def _keep_hosts_apart(self, state: Standing, leaf: int, counts: Ints) -> None:
        mine = state.leaves[leaf].pod_set.exclusive
        if mine:
            np.minimum(counts, 1, out=counts)
        for other, hosts in self.placed.get(state.key, {}).items():
            if mine or state.leaves[other].pod_set.exclusive:
                counts[hosts] = 0

    def could_hold(self, state: Standing, leaf: int, count: int) -> bool:
        """
        Tell quickly whether queues and nodes leave room for some pods of a leaf.
        """
        return (
            self.ledger.most(state, leaf, count) >= count
            and self.stock.total(self._shape(state, leaf)) >= count
        )

    def strain(self, state: Standing, leaf: int) -> float:
        """
        Say how much of all places for a leaf its need would take.
        """
        places = self.stock.total(self._shape(state, leaf))
        return state.leaves[leaf].need / max(1, places)

    def fill(self, state: Standing, leaf: int, count: int, mask: Bools | None) -> int:
        """
        Place up to ``count`` pods of a leaf, tightest nodes first; say how many.
        """
        count = self.ledger.most(state, leaf, count)
        shape = self._shape(state, leaf)
        if count <= 0 or not self.stock.total(shape):
            return 0
        room = self.room_for(state, leaf, mask)
        hosts = np.flatnonzero(room)
        if not len(hosts):
            return 0
        hosts = self._by_fit(hosts, room, count, shape)
        full = np.cumsum(room[hosts])
        last = int(np.searchsorted(full, count))
        hosts = hosts[: last + 1]
        counts = room[hosts]
        if last < len(full):
            counts[-1] -= int(full[last]) - count
        self._put(state, leaf, hosts, counts)
        return int(counts.sum())

    def _by_fit(self, nodes: Ints, room: Ints, count: int, shape: int) -> Ints:
        """
        Order nodes tightest first, unless one alone breaks less room than many.
        """
        strain = self.stock.strain(shape)
        whole = nodes if count == 1 else nodes[room[nodes] >= count]
        best = whole[[np.argmin(strain[whole])]] if len(whole) else None
        if best is not None and count == 1:
            return best
        left = strain[nodes]
        if count < len(nodes):
            nodes = nodes[left <= np.partition(left, count - 1)[count - 1]]
            left = strain[nodes]
        nodes = nodes[np.argsort(left, kind="stable")]
        if best is None:
            return nodes
        full = np.cumsum(room[nodes])
        many = nodes[: int(np.searchsorted(full, count)) + 1]
        broken = float((strain[many] ** 2).sum())
        return best if float(strain[best[0]]) ** 2 <= broken else many

    def places(self, state: Standing) -> Places | None:
        """
        Give a gang's places so far; none when it has none.
        """
        rows = self.placed.get(state.key)
        if not rows:
            return None
        return tuple(tuple(sorted(rows.get(i, []))) for i in range(len(state.leaves)))

    def draft(self) -> Draft:
        """
        Freeze what was placed.
        """
        found = {}
        for unit in self.problem.units:
            for state in unit.states:
                places = self.places(state)
                if places is not None:
                    found[state.key] = places
        return Draft(places=found, entitled=frozenset(self.entitled))


def _is_frugal(policy: Policy) -> bool:
    """
    Tell whether fewest preferred domains count for more than surplus pods.
    """
    names = [tier.name for tier in policy.tiers]
    if "topology" not in names:
        return False
    return not set(names[: names.index("topology")]) & {"surplus", "gpus", "pods"}
