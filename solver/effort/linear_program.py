"""
Linear programs that grow by rows and columns, solved with the price of each row.

CP-SAT relaxes its models to such programs itself, but tells no prices; by these it is
found which columns are missing (Gilmore and Gomory).
"""

from collections.abc import Iterable
from typing import Any

from solver.effort.cp_sat import linear_solver

_MOST_SECONDS, NONE = 2.0, 1e-7
"""
Deterministic seconds for one solve, and what is nothing in sums of prices.
"""


class LinearProgram:
    """
    A sum to be made as large as can be; prices and amounts are of the last solve.
    """

    def __init__(self) -> None:
        solvers = linear_solver().Solver
        self._solver = solvers.CreateSolver("GLOP")
        self._optimal = solvers.OPTIMAL
        self._solver.SetSolverSpecificParametersAsString(
            f"max_deterministic_time: {_MOST_SECONDS}"
        )
        self._goal = self._solver.Objective()
        self._goal.SetMaximization()
        self._rows: list[Any] = []
        self._columns: list[Any] = []
        self._prices: list[float] = []
        self._amounts: list[float] = []

    def row(self, most: float, least: float | None = None) -> int:
        """
        Bound a sum that is empty so far.
        """
        low = -self._solver.infinity() if least is None else least
        self._rows.append(self._solver.Constraint(low, most))
        return len(self._rows) - 1

    def column(
        self,
        worth: float,
        entries: Iterable[tuple[int, float]],
        least: float = 0.0,
        most: float | None = None,
    ) -> int:
        """
        Add what may be had so often, with what one of it adds to each row.
        """
        high = self._solver.infinity() if most is None else most
        variable = self._solver.NumVar(least, high, "")
        self._columns.append(variable)
        if worth:
            self._goal.SetCoefficient(variable, worth)
        for row, number in entries:
            self._rows[row].SetCoefficient(variable, number)
        return len(self._columns) - 1

    def set(self, row: int, column: int, number: float) -> None:
        """
        Say what one of a column adds to a row.
        """
        self._rows[row].SetCoefficient(self._columns[column], number)

    @property
    def size(self) -> int:
        """
        The number of its rows and columns.
        """
        return len(self._rows) + len(self._columns)

    def solve(self) -> bool:
        """
        Find the largest sum; tell whether it was found.
        """
        if self._solver.Solve() != self._optimal:
            return False
        self._prices = [row.dual_value() for row in self._rows]
        self._amounts = [column.solution_value() for column in self._columns]
        return True

    def price(self, row: int) -> float:
        """
        Give what one more in a row's bound would add to the sum.
        """
        return self._prices[row]

    def amount(self, column: int) -> float:
        """
        Give how much of a column there is.
        """
        return self._amounts[column]
