"""
What may leave, listed: one row for each victim on its node, with what it holds.
"""

from dataclasses import dataclass

import numpy as np

from models.gangs import Pod, pod_sets
from models.resources import Resources
from solver.evict.victims import Victim, Victims, Wide, held_row
from solver.problem.leaving_pods import NOWHERE
from solver.problem.node_room import Ints
from solver.problem.problem import Problem
from solver.problem.running_gangs import Runner, work_of


@dataclass(frozen=True, slots=True)
class VictimRow:
    """
    A victim on its node.

    ``sort`` is its account, or the number of accounts and more for gangs that go whole;
    ``wide`` is the index of the gang whose part it is, or -1.
    """

    node: int
    sort: int
    wide: int
    victim: Victim


class VictimRows:
    """
    All items and what each ``holds``; those of wide gangs, and their spare pods.
    """

    def __init__(self, problem: Problem, victims: Victims) -> None:
        self.problem = problem
        self.victims = victims
        self.items: list[VictimRow] = []
        self.of_wide: dict[int, list[int]] = {}
        self.singles: dict[int, dict[int, list[int]]] = {}
        self._rows_of: dict[int, tuple[Resources, Ints]] = {}
        self.holds: list[Ints] = self._collect()

    def row(self, requests: Resources) -> Ints:
        """
        Write a request over the columns of the room; not to be changed.
        """
        known = self._rows_of.get(id(requests))
        if known is None:
            known = (requests, self.problem.room.row(dict(requests)))
            self._rows_of[id(requests)] = known
        return known[1]

    def held(self, requests: Resources, pod: Pod, node: int) -> Ints:
        """
        Write what a running pod holds of its node; not to be changed.
        """
        if not pod.devices and not pod.tied:
            return self.row(requests)
        return self.problem.room.held(requests, pod.devices, node, pod.tied)

    def _collect(self) -> list[Ints]:
        """
        List all items, and what each of them holds.
        """
        rows = []
        for node, here in self.victims.on_node.items():
            for account, alike in here.items():
                record = self.victims.accounts[account]
                if record.wide >= 0 and spare_of(self.victims.wide[record.wide]) <= 0:
                    continue
                for victim in alike:
                    row = self.row(record.requests)
                    if victim.pieces:
                        row = held_row(self.problem.room, victim, node)
                    at = len(self.items)
                    self.items.append(VictimRow(node, account, record.wide, victim))
                    rows.append(row)
                    if record.wide >= 0:
                        on = self.singles.setdefault(record.wide, {})
                        on.setdefault(node, []).append(at)
                        self.of_wide.setdefault(record.wide, []).append(at)
        for at, wide in enumerate(self.victims.wide):
            rows += self._parts(at, wide)
        return rows

    def _parts(self, at: int, wide: Wide) -> list[Ints]:
        """
        Add the parts of a gang that leave together.
        """
        if not wide.rights:
            return []
        leaves = tuple(pod_sets(wide.gang.tree))
        on: dict[int, list[Runner]] = {}
        for runner, host in zip(wide.pods, wide.hosts, strict=True):
            if host != NOWHERE:
                on.setdefault(host, []).append(runner)
        rows = []
        for node, runners in on.items():
            self.of_wide.setdefault(at, []).append(len(self.items))
            work = work_of(self.problem.values, wide.gang, runners)
            part = Victim(tuple(runners), work, wide.gang)
            sort = len(self.victims.accounts) + at
            self.items.append(VictimRow(node, sort, at, part))
            row = np.zeros(len(self.problem.room.resources), dtype=np.int64)
            for leaf, pod in runners:
                row += self.held(leaves[leaf].requests, pod, node)
            rows.append(row)
        return rows


def spare_of(wide: Wide) -> int:
    """
    Count the pods that a gang of one leaf may lose one by one.
    """
    state = wide.state
    if state is None or len(state.nodes) > 1:
        return 0
    (leaf,) = state.leaves
    if not state.nodes[0].live or not leaf.minimum:
        return len(leaf.running)
    return min(len(leaf.running), leaf.counted - leaf.minimum)
