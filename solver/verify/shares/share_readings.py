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
        self._parents = {each.name: each.parent for each in queues}
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
        best = self._own[queue][resource]
        if sign * best >= sign * wanted or not self._doubts:
            return best
        own = [doubt.options[0] for doubt in self._doubts]
        readings = self._extreme(queue, resource, sign)
        share = self._read(readings)[queue][resource]
        if sign * share >= sign * best:
            best = share
        else:
            readings = own
        for at, doubt in enumerate(self._doubts):
            for option in doubt.options:
                if sign * best >= sign * wanted:
                    return best
                tried = [*readings[:at], option, *readings[at + 1 :]]
                share = self._read(tried)[queue][resource]
                if sign * share > sign * best:
                    best, readings = share, tried
        return best

    def _extreme(self, queue: str, resource: str, sign: int) -> list[Mapping[str, int]]:
        """
        Read each doubt as most, or least, in a queue, and the other way elsewhere.

        One doubt alone may change nothing where others of its queue still ask enough.
        """

        def amount(option: Mapping[str, int]) -> int:
            return option.get(resource, 0)

        return [
            (max if (sign > 0) == self._is_in(doubt.queue, queue) else min)(
                doubt.options, key=amount
            )
            for doubt in self._doubts
        ]

    def _is_in(self, name: str | None, queue: str) -> bool:
        while name is not None and name != queue:
            name = self._parents.get(name)
        return name == queue

    def _read(self, readings: Sequence[Mapping[str, int]]) -> Amounts:
        demand = {name: dict(row) for name, row in self._demand.items()}
        for doubt, reading in zip(self._doubts, readings, strict=True):
            row = demand.setdefault(doubt.queue, {})
            for resource, amount in reading.items():
                row[resource] = row.get(resource, 0) + amount
        return fair_shares(self._queues, self._totals, demand, self._precedence)
