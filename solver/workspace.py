"""
The workspace: free room, hosts and queue ledgers while gangs are placed one by one.

Every change is logged and can be undone to a mark, so that trying costs little.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from models.topology import Domain
from solver.draft import Draft, Places
from solver.feasible import num_fitting
from solver.ledger import Ledger
from solver.problem import Problem
from solver.room import Bools, Ints
from solver.standing import Standing


class Workspace:
    """
    What is free now, with the drafts made so far.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.free = problem.room.free.copy()
        self.ledger = Ledger(problem)
        self.placed: dict[str, dict[int, list[int]]] = {}
        self.entitled: set[str] = set()
        scale = np.maximum(problem.room.empty.max(axis=0, initial=1), 1)
        weights = np.array(
            [4.0 if "gpu" in r else 1.0 for r in problem.room.resources]
        )
        self._unit = weights / scale
        self.tight = self.free.clip(min=0) @ self._unit
        self._log: list[tuple[Standing, int, int, int]] = []
        self._domains: dict[tuple[str, str], dict[Domain, Bools]] = {}

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
            state, leaf, host, count = self._log.pop()
            self._shift(state, leaf, host, -count)
            hosts = self.placed[state.key][leaf]
            del hosts[len(hosts) - count :]
            charge = self.ledger.charge_of(state, {leaf: count})
            self.ledger.take(state, charge, -1)

    def put(self, state: Standing, leaf: int, host: int, count: int) -> None:
        """
        Place some pods of a leaf on one node.
        """
        self._shift(state, leaf, host, count)
        rows = self.placed.setdefault(state.key, {})
        rows.setdefault(leaf, []).extend([host] * count)
        self.ledger.take(state, self.ledger.charge_of(state, {leaf: count}))
        self._log.append((state, leaf, host, count))

    def release(self, state: Standing, leaf: int, host: int) -> None:
        """
        Give back the room of one pod whose place was already forgotten.
        """
        self._shift(state, leaf, host, -1)
        self.ledger.take(state, self.ledger.charge_of(state, {leaf: 1}), -1)

    def _shift(self, state: Standing, leaf: int, host: int, count: int) -> None:
        shapes = self.problem.shapes
        request = shapes.requests[shapes.of_leaf[state.key, leaf]]
        self.free[host] -= request * count
        self.tight[host] = float(self.free[host].clip(min=0) @ self._unit)

    def room_for(self, state: Standing, leaf: int, mask: Bools | None) -> Ints:
        """
        Count how many pods of a leaf each node would take now.
        """
        shapes = self.problem.shapes
        shape = shapes.of_leaf[state.key, leaf]
        usable = shapes.fits[shape] if mask is None else shapes.fits[shape] & mask
        nodes = np.flatnonzero(usable)
        counts = np.zeros(len(usable), dtype=np.int64)
        counts[nodes] = num_fitting(self.free[nodes], shapes.requests[shape])
        if shapes.items[shape].tag:
            self._keep_hosts_apart(state, leaf, counts)
        return counts

    def _keep_hosts_apart(self, state: Standing, leaf: int, counts: Ints) -> None:
        mine = state.leaves[leaf].pod_set.exclusive
        if mine:
            np.minimum(counts, 1, out=counts)
        for other, hosts in self.placed.get(state.key, {}).items():
            if mine or state.leaves[other].pod_set.exclusive:
                counts[hosts] = 0

    def fill(
        self, state: Standing, leaf: int, count: int, mask: Bools | None
    ) -> int:
        """
        Place up to ``count`` pods of a leaf, tightest nodes first; say how many.
        """
        charge = self.ledger.charge_of(state, {leaf: 1})
        if charge and not self.ledger.allows(
            state, {r: a * count for r, a in charge.items()}
        ):
            count = self._most_allowed(state, charge, count)
        if count <= 0:
            return 0
        room = self.room_for(state, leaf, mask)
        nodes = np.flatnonzero(room)
        if not len(nodes):
            return 0
        done = 0
        for host in self._by_fit(nodes, room, count):
            step = min(count - done, int(room[host]))
            self.put(state, leaf, int(host), step)
            done += step
            if done == count:
                break
        return done

    def _most_allowed(self, state: Standing, charge: Mapping[str, int], n: int) -> int:
        while n > 0 and not self.ledger.allows(
            state, {r: a * n for r, a in charge.items()}
        ):
            n -= 1
        return n

    def _by_fit(self, nodes: Ints, room: Ints, count: int) -> Sequence[int]:
        if count == 1:
            return [int(nodes[np.argmin(self.tight[nodes])])]
        whole = np.minimum(room[nodes], count)
        left = self.tight[nodes]
        enough = nodes[whole == count]
        if len(enough):
            return [int(enough[np.argmin(self.tight[enough])])]
        return [int(n) for n in nodes[np.argsort(left, kind="stable")]]

    def domains(self, topology: str, level: str) -> dict[Domain, Bools]:
        """
        Give every domain of a level as a mask over the nodes.
        """
        key = (topology, level)
        if key not in self._domains:
            found: dict[Domain, list[int]] = {}
            tree = self.problem.topologies[topology]
            for at, node in enumerate(self.problem.room.nodes):
                domain = tree.domain(node.labels, level)
                if domain is not None:
                    found.setdefault(domain, []).append(at)
            masks: dict[Domain, Bools] = {}
            for domain in sorted(found):
                mask = np.zeros(len(self.problem.room.nodes), dtype=bool)
                mask[found[domain]] = True
                masks[domain] = mask
            self._domains[key] = masks
        return self._domains[key]

    def places(self, state: Standing) -> Places | None:
        """
        Give a gang's places so far; none when it has none.
        """
        rows = self.placed.get(state.key, {})
        if not any(rows.values()):
            return None
        return tuple(
            tuple(sorted(rows.get(i, []))) for i in range(len(state.leaves))
        )

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
