"""
Who may leave for whom, by sort: victims of one account, or of one gang that goes whole.
"""

from collections.abc import Sequence

import numpy as np

from solver.evict.rights.may_leave import Rights
from solver.evict.rights.policy_bounds import StillMayLeave
from solver.evict.victims import Victims
from solver.problem.node_room import Bools, Ints

RECLAIM, PREEMPT, MOVE = 1, 2, 3


class Sorts:
    """
    Queue, band and rights of every sort, as columns.

    ``pods`` says how many go where only one item of a sort does; those of a gang that
    goes whole are fewer once some have left one by one.
    """

    def __init__(self, victims: Victims) -> None:
        accounts, wide = victims.accounts, victims.wide
        rights: list[Rights] = [r.rights for r in accounts] + [w.rights for w in wide]
        self._queues = [r.queue for r in accounts] + [w.queue for w in wide]
        self._codes = {name: i for i, name in enumerate(dict.fromkeys(self._queues))}
        self._queue = np.array([self._codes[q] for q in self._queues], dtype=np.int64)
        bands = [r.band for r in accounts] + [w.band for w in wide]
        self._band = np.array(bands, dtype=np.int64)
        self._reclaim = np.array([r.reclaim for r in rights], dtype=bool)
        self._preempt = np.array([r.preempt for r in rights], dtype=bool)
        self.pods: Ints = np.array(
            [r.pods for r in accounts] + [len(w.pods) for w in wide], dtype=np.int64
        )
        names = [w.gang.key for w in wide]
        own = [r.wide for r in accounts] + [*range(len(wide))]
        self._gang = [names[at] if at >= 0 else "" for at in own]
        self.movable: Bools = np.array([r.move for r in rights], dtype=bool)

    def rules(
        self, queue: str, band: int, left: StillMayLeave, *, claims: bool
    ) -> Ints:
        """
        Give for each sort the rule by which it may leave for a start, 0 for none.

        Who may not be evicted any more, as bounds have ``left``, may still be moved.
        """
        own = self._queue == self._codes.get(queue, -1)
        found = np.where(self.movable, MOVE, 0)
        found[self._preempt & own & (self._band < band)] = PREEMPT
        if claims:
            found[self._reclaim & ~own] = RECLAIM
        shut = self.pods > left.pods
        if left.gangs <= 0:
            shut |= np.array([gang not in left.begun for gang in self._gang], bool)
        found[shut & (found > 0)] = MOVE
        found[(found == MOVE) & ~(self.movable & (self.pods <= left.moves))] = 0
        return found

    def in_queues(self, queues: Sequence[str]) -> Bools:
        """
        Tell for each sort whether it is of one of some queues.
        """
        codes = [self._codes[name] for name in queues if name in self._codes]
        return np.isin(self._queue, codes)
