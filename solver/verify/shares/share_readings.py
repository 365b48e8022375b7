"""
Fair shares under the judge's reading, and under others in a plan's favour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.queues import Queue
from solver.shares.fair_share import Precedence, fair_shares
from solver.verify.plan_steps import Amounts, Rows


@dataclass(frozen=True, slots=True)
class Doubt:
    """
    A gang, or equal ones, of which it is arguable what could ever start: readings.

    The first of them is the judge's own.
    """

    queue: str
    options: tuple[Mapping[str, int], ...]


class Shares:
    """
    Fair shares of queues whose demand is in part a matter of reading.
    """

    def __init__(
        self,
        queues: Sequence[Queue],
        totals: Mapping[str, int],
        demand: Rows,
        doubts: Sequence[Doubt],
        precedence: Precedence,
    ) -> None:
        self._queues = queues
        self._totals = totals
        self._demand = demand
        self._doubts = doubts
        self._precedence = precedence
        self._own = self._read([doubt.options[0] for doubt in doubts])

    def at_most(self, queue: str, resource: str, wanted: int) -> int:
        """
        Give a queue's share, where doubts matter read as more, up to ``wanted``.
        """
        return self._lean(queue, resource, wanted, 1)

    def at_least(self, queue: str, resource: str, wanted: int) -> int:
        """
        Give a queue's share, where doubts matter read as less, down to ``wanted``.
        """
        return self._lean(queue, resource, wanted, -1)

    def _lean(self, queue: str, resource: str, wanted: int, sign: int) -> int:
        readings = [doubt.options[0] for doubt in self._doubts]
        best = self._own[queue][resource]
        for at, doubt in enumerate(self._doubts):
            for option in doubt.options[1:]:
                if sign * best >= sign * wanted:
                    return best
                tried = [*readings[:at], option, *readings[at + 1 :]]
                share = self._read(tried)[queue][resource]
                if sign * share > sign * best:
                    best, readings = share, tried
        return best

    def _read(self, readings: Sequence[Mapping[str, int]]) -> Amounts:
        demand = {name: dict(row) for name, row in self._demand.items()}
        for doubt, reading in zip(self._doubts, readings, strict=True):
            row = demand.setdefault(doubt.queue, {})
            for resource, amount in reading.items():
                row[resource] = row.get(resource, 0) + amount
        return fair_shares(self._queues, self._totals, demand, self._precedence)
