"""
Nodes with the same contents: what runs there, where it lies, what it costs to leave.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from models.gangs import pod_sets
from solver.encode.conversion.contents import Contents, list_choices
from solver.encode.conversion.options import Costs
from solver.encode.conversion.relief import relieved_queues
from solver.evict.victims import Pieces, Victim, Victims, held_row
from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem


@dataclass(slots=True, kw_only=True)
class AlikeNodes:
    """
    Nodes of the same contents with the same accounts at the same costs.
    """

    contents: Contents
    accounts: tuple[int, ...]
    pieces: tuple[Pieces, ...]
    costs: Costs
    nodes: list[int] = field(default_factory=list)


class Grouping:
    """
    One walk over the nodes that somebody may come to or has to leave.
    """

    def __init__(
        self,
        problem: Problem,
        shapes: Sequence[int],
        victims: Victims,
        singly: Collection[int],
    ) -> None:
        self.problem = problem
        self.victims = victims
        self.singly = singly
        self.linked = _linked_accounts(problem, victims)
        self.relieving = _relieving_accounts(problem, victims)
        self.allowed = np.ascontiguousarray(problem.shapes.may_be[list(shapes)].T)
        self.contents: dict[object, Contents] = {}
        self._rows: dict[int, Ints] = {}

    def run(self, domains: Ints, apart: Mapping[int, int]) -> list[AlikeNodes]:
        """
        Group nodes, those in other domains and those that stay apart each alone.
        """
        found: dict[object, AlikeNodes] = {}
        nodes = np.flatnonzero(self.allowed.any(axis=1) | self._linked())
        for node in nodes.tolist():
            here = _by_pieces(self.victims.on_node.get(node, {}))
            accounts = tuple(account for account, _ in here)
            costs = tuple(
                tuple(sorted(victim.cost for victim in alike))
                for alike in here.values()
            )
            name, contents = self._contents(node, here)
            pieces = tuple(held for _, held in here)
            where = domains[node].tobytes(), apart.get(node, 0)
            leaves = tuple(tuple(leaf for leaf, _ in x[0].pods) for x in here.values())
            beside = leaves if self.problem.around is not None else ()
            key = (name, accounts, pieces, costs, where, beside)
            if key not in found:
                found[key] = AlikeNodes(
                    contents=contents, accounts=accounts, pieces=pieces, costs=costs
                )
            found[key].nodes.append(node)
        return list(found.values())

    def _contents(
        self, node: int, here: Mapping[tuple[int, Pieces], Sequence[Victim]]
    ) -> tuple[object, Contents]:
        """
        Give what a node holds, the same record for all that hold the same.
        """
        room = self.problem.room
        rows = tuple(
            self._row(account, alike[0], node) for (account, _), alike in here.items()
        )
        counts = tuple(map(len, here.values()))
        linked = tuple(at in self.linked for at, _ in here)
        relieving = tuple(at in self.relieving for at, _ in here)
        name = (
            self.allowed[node].tobytes(),
            room.later[node].tobytes(),
            tuple(row.tobytes() for row in rows),
            counts,
            linked,
            relieving,
            -1 if room.parts is None else int(room.parts.sort_of[node]),
            node in self.singly,
        )
        if name not in self.contents:
            self.contents[name] = Contents(
                fits=self.allowed[node],
                free=room.later[node],
                rows=rows,
                counts=counts,
                linked=linked,
                relieving=relieving,
                node=node,
            )
            singly = node in self.singly
            list_choices(self.contents[name], self.problem, singly=singly)
        return name, self.contents[name]

    def _linked(self) -> Bools:
        """
        Tell which nodes hold what may have to leave although nobody takes its place.

        It is a part of a gang that others of it leave with, or keeps others away.
        """
        found = np.zeros(len(self.problem.room.later), dtype=bool)
        for node, here in self.victims.on_node.items():
            found[node] = not self.linked.isdisjoint(here)
        return found

    def _row(self, account: int, victim: Victim, node: int) -> Ints:
        """
        Write what one victim holds as a row over the room's columns.
        """
        record = self.victims.accounts[account]
        room = self.problem.room
        if victim.pieces:
            return held_row(room, victim, node)
        if record.pods:
            key = id(record.requests)
            if key not in self._rows:
                self._rows[key] = room.row(dict(record.requests))
            return self._rows[key]
        return room.row(dict(victim.requests))


def _linked_accounts(problem: Problem, victims: Victims) -> frozenset[int]:
    beside = problem.around is not None
    return frozenset(
        at
        for at, account in enumerate(victims.accounts)
        if account.wide >= 0
        or (beside and any(x.neighbours for x in pod_sets(account.sample.gang.tree)))
    )


def _relieving_accounts(problem: Problem, victims: Victims) -> frozenset[int]:
    relieved = relieved_queues(problem)
    return frozenset(
        at
        for at, account in enumerate(victims.accounts)
        if not relieved.isdisjoint(problem.queues.path(account.queue))
    )


def _by_pieces(
    here: Mapping[int, list[Victim]],
) -> dict[tuple[int, Pieces], list[Victim]]:
    """
    Sort what may leave a node by account, and by the pieces that it has there.
    """
    found: dict[tuple[int, Pieces], list[Victim]] = {}
    for account in sorted(here):
        for victim in sorted(here[account], key=lambda victim: victim.pieces):
            found.setdefault((account, victim.pieces), []).append(victim)
    return found
