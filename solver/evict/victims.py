"""
Victims: what runs and may leave, for whom, and what each of it holds.

Victims of one kind in one place (single-node gangs that differ in their work only, pods
of one leaf) form an account, so that steps after this count them.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from models.gangs import Gang, leaf_of
from models.resources import Resources
from solver.evict.rights.may_leave import Rights
from solver.problem.gang_state import Standing
from solver.problem.node_room import After, Ints, NodeRoom, Room
from solver.problem.problem import Problem
from solver.problem.running_gangs import Runner, age_of, asked_by

Pieces = tuple[tuple[tuple[int, int], ...], ...]
"""
What each pod that leaves together has of its node that is told apart.
"""


@dataclass(frozen=True, slots=True)
class Victim:
    """
    What leaves one node together: a whole small gang, a part of a wide one, or a pod.
    """

    pods: tuple[Runner, ...]
    work: int
    gang: Gang

    @property
    def cost(self) -> tuple[int, int]:
        """
        What is lost with it that victims of one kind may differ in: work, then age.
        """
        return self.work, age_of(self.pods)

    @property
    def requests(self) -> Resources:
        """
        What its pods ask for in all.
        """
        return asked_by(self.gang, self.pods)

    @property
    def pieces(self) -> Pieces:
        """
        What its pods have of their node that is told apart, as far as any is known.
        """
        found = tuple(pod.pieces for _, pod in self.pods)
        return found if any(found) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """
    Victims of one kind: of which queue and band, what each holds, how it may leave.

    ``wide`` is the index of the gang whose part it is, or -1 for gangs that lie whole
    on one node; ``requests`` and ``pods`` are those of one victim.
    """

    queue: str
    band: int
    requests: Resources
    pods: int
    rights: Rights
    budgets: tuple[int, ...]
    wide: int = -1
    leaf: int = -1
    sample: Victim


@dataclass(frozen=True, slots=True, kw_only=True)
class Wide:
    """
    A gang on several nodes, or one that may lose pods: its accounts and all its pods.

    ``state`` is set where there is a choice of what leaves; else it goes whole.
    """

    gang: Gang
    queue: str
    band: int
    pods: tuple[Runner, ...]
    hosts: tuple[int, ...]
    rights: Rights
    budgets: tuple[int, ...]
    state: Standing | None
    accounts: tuple[int, ...]
    counts: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Victims:
    """
    All that may leave: accounts, the victims of each account by node, and wide gangs.
    """

    accounts: list[Account] = field(default_factory=list)
    on_node: dict[int, dict[int, list[Victim]]] = field(default_factory=dict)
    wide: list[Wide] = field(default_factory=list)

    def goes_whole(self, account: int) -> bool:
        """
        Tell whether the victims of an account are parts of a gang without a choice.
        """
        wide = self.accounts[account].wide
        return wide >= 0 and self.wide[wide].state is None

    def alike(self, node: int, account: int, pieces: Pieces) -> list[Victim]:
        """
        List what may leave a node of an account, with the same pieces of it.
        """
        here = self.on_node.get(node, {}).get(account, [])
        return [victim for victim in here if victim.pieces == pieces]

    def numbers(self) -> Counter[int]:
        """
        Count the victims of each account.
        """
        found: Counter[int] = Counter()
        for row in self.on_node.values():
            for at, alike in row.items():
                found[at] += len(alike)
        return found


def held_row(room: Room, victim: Victim, node: int) -> Ints:
    """
    Write what the pods of a victim hold on their node as a row.
    """
    rows = [
        room.held(leaf_of(victim.gang, at).requests, pod.devices, node, pod.tied)
        for at, pod in victim.pods
    ]
    total: Ints = np.sum(rows, axis=0)
    return total


def vacated(problem: Problem, victims: Victims, before: Ints | None = None) -> After:
    """
    Give the room of each node if all left who may, where that ``before`` is free.
    """
    room = NodeRoom(problem.room.now if before is None else before, problem.room.parts)
    rows: dict[int, Ints] = {}
    for node, accounts in victims.on_node.items():
        if room.has_devices:
            gone = (victim for alike in accounts.values() for victim in alike)
            gave = [held_row(problem.room, victim, node) for victim in gone]
            if gave:
                room.give_one(np.sum(gave, axis=0), node)
            continue
        for account, alike in accounts.items():
            record = victims.accounts[account]
            if record.pods:
                if account not in rows:
                    rows[account] = problem.room.row(dict(record.requests))
                room.give_one(rows[account], node, len(alike))
                continue
            for victim in alike:
                room.give_one(held_row(problem.room, victim, node), node)
    return After(room.rows)
