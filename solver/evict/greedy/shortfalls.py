"""
What a start takes of limits, quotas and shares, and by how much these are too low.

Whoever leaves makes room below limits, and below the shares of inner queues; quotas of
fixed work and the shares of leaf queues are as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from solver.evict.rights.hand_rights import HandRights
from solver.place.round_state import RoundState
from solver.problem.node_room import Ints
from solver.problem.problem import Unit

Counts = Mapping[str, Mapping[int, int]]
"""
Pods per gang and leaf.
"""
Key = tuple[str, str]
"""
A queue and a resource.
"""


@dataclass(frozen=True, slots=True)
class Shortfalls:
    """
    The ledger of a round, asked for what is missing.
    """

    work: RoundState
    rights: HandRights

    def within_quotas(self, unit: Unit, counts: Counts) -> bool:
        """
        Tell whether fixed work keeps within quotas, which no eviction changes.
        """
        quota = self.work.ledger.quota
        asked = self._asked(unit, counts, fixed=True)
        return all(
            amount <= quota[queue].get(name, amount)
            for (queue, name), amount in asked.items()
        )

    def short(self, unit: Unit, counts: Counts) -> dict[Key, int]:
        """
        Say by how much limits are too low for a unit that has no places yet.
        """
        limit = self.work.ledger.limit
        return {
            (queue, name): amount - limit[queue][name]
            for (queue, name), amount in self._asked(unit, counts).items()
            if amount > limit[queue].get(name, amount)
        }

    def above(self, unit: Unit, counts: Counts) -> list[Key]:
        """
        List where a booked unit takes more than the share.

        What gangs ask for that were evicted before is booked there already.
        """
        share = self.work.ledger.share
        return [
            (queue, name)
            for queue, name in self._asked(unit, counts)
            if share[queue][name] < 0
        ]

    def room(self, unit: Unit, counts: Counts) -> Ints:
        """
        Say by how much all that is free, wherever it is, is too little for a unit.
        """
        room, shapes = self.work.room, self.work.problem.shapes
        short = -np.maximum(room.rows, 0).sum(axis=0)
        for state in unit.states:
            for i, pods in counts[state.key].items():
                short += shapes.requests[shapes.of_leaf[state.key, i]] * pods
        sums = np.isin(np.arange(len(short)), self.work.problem.room.sums)
        return np.where(sums, short, 0)

    def _asked(
        self, unit: Unit, counts: Counts, *, fixed: bool = False
    ) -> dict[Key, int]:
        """
        Add up what a unit takes of each queue on its way.
        """
        named = self.work.problem.queues.named
        asked: dict[Key, int] = {}
        for state in unit.states:
            if fixed and state.gang.preemptible:
                continue
            for i, count in counts[state.key].items():
                requests = state.leaves[i].pod_set.requests
                for queue in self.rights.path(state.gang.queue):
                    for name in named:
                        if requests.get(name, 0):
                            key = (queue, name)
                            asked[key] = asked.get(key, 0) + requests[name] * count
        return asked
