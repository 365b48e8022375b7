"""
The master: how many nodes hold which pattern, beside all that says nothing of places.
"""

from collections.abc import Sequence

from solver.effort.budget import Budget
from solver.encode.encoding import Encoding
from solver.encode.variables import Linear
from solver.patterns.pattern_sequences import Column
from solver.patterns.relaxation import relaxation

WHOLE = 1e-6
"""
What is nearer to a whole number is one.
"""


class Master:
    """
    A linear program over patterns, which may grow by some that were missing.

    Some pods are ``held`` already, and of equal nodes so many are ``left``.
    """

    def __init__(
        self,
        encoding: Encoding,
        goal: Linear,
        held: Sequence[int],
        left: Sequence[int],
    ) -> None:
        places = {variable.index for variable in encoding.capacity.loose.values()}
        self._program, self._found = relaxation(encoding.model, goal, places)
        self._rows_per_unit = encoding.problem.tuning.search.rows_per_unit
        self._number = len(held)
        self.left = left
        self.wanted = {shape: row for (shape, _), row in encoding.demand.sums.items()}
        self._rows = {}
        for shape, wanted in self.wanted.items():
            self._rows[shape] = self._program.row(held[shape] - wanted.constant)
            for index, number in wanted.by_index().items():
                self._program.set(self._rows[shape], self._found[index], number)
        self._nodes = [self._program.row(number) for number in left]
        self.columns: dict[Column, int] = {}

    def add(self, column: Column) -> bool:
        """
        Let nodes hold a pattern; say whether none could before.
        """
        if column in self.columns:
            return False
        at, pattern = column
        pods = [(self._rows[x], -float(n)) for x, n in pattern if x in self._rows]
        self.columns[column] = self._program.column(
            0.0, [(self._nodes[at], 1.0), *pods]
        )
        return True

    def solve(self, budget: Budget) -> bool:
        """
        Find the best amounts; tell whether they were found.
        """
        budget.charge(self._program.size / self._rows_per_unit)
        return self._program.solve()

    def amounts(self) -> dict[Column, float]:
        """
        Give the patterns that are used, and on how many nodes.
        """
        found = {one: self._program.amount(at) for one, at in self.columns.items()}
        return {one: much for one, much in found.items() if much > WHOLE}

    def target(self) -> list[int]:
        """
        Give how many pods of each shape are wanted.
        """
        target = [0] * self._number
        for shape, wanted in self.wanted.items():
            pairs = wanted.by_index().items()
            pods = sum(self._program.amount(self._found[at]) * n for at, n in pairs)
            target[shape] = int(pods + 1 - WHOLE)
        return target

    def prices(self) -> tuple[dict[int, float], list[float]]:
        """
        Give what one more pod of each shape costs, and what one more node is worth.
        """
        pods = {shape: self._program.price(row) for shape, row in self._rows.items()}
        return pods, [self._program.price(row) for row in self._nodes]

    def likely(self, most: int) -> list[Column]:
        """
        List the patterns that cost least beside the best, at most so many.
        """
        pods, nodes = self.prices()

        def costs(column: Column) -> tuple[float, Column]:
            at, pattern = column
            worth = sum(pods.get(shape, 0.0) * number for shape, number in pattern)
            return nodes[at] - worth, column

        return sorted(self.columns, key=costs)[:most]
