"""
Typed containers of the model's variables, asked for by meaning.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from solver.effort.cp_sat import cp_model
from solver.problem.gang_state import Standing
from solver.problem.problem import Unit

Var = cp_model.IntVar
Cell = int | None
"""
A domain's number at a level, or none for the whole cluster.
"""


class Linear:
    """
    A sum that grows: coefficients on variables, and a constant.
    """

    __slots__ = ("coefficients", "constant", "most", "variables")

    def __init__(self, constant: int = 0) -> None:
        self.variables: list[Var] = []
        self.coefficients: list[int] = []
        self.constant = constant
        self.most = constant

    def add(self, variable: "Var | None", coefficient: int, upper: int) -> None:
        """
        Add a term; without a variable its upper end is a constant.
        """
        if coefficient == 0 or upper == 0:
            return
        if variable is None:
            self.constant += coefficient * upper
        else:
            self.variables.append(variable)
            self.coefficients.append(coefficient)
        self.most += max(0, coefficient * upper)

    def extend(self, other: "Linear", factor: int = 1) -> None:
        """
        Add another sum so many times.
        """
        self.variables += other.variables
        self.coefficients += [factor * c for c in other.coefficients]
        self.constant += factor * other.constant
        self.most += max(0, factor * other.most)

    def by_index(self) -> dict[int, int]:
        """
        Add up coefficients by the index of their variable.
        """
        found: dict[int, int] = {}
        for variable, number in zip(self.variables, self.coefficients, strict=True):
            found[variable.index] = found.get(variable.index, 0) + number
        return found

    def at(self, value: Callable[[Var], int]) -> int:
        """
        Give what the sum comes to where each variable has some value.
        """
        pairs = zip(self.variables, self.coefficients, strict=True)
        return self.constant + sum(number * value(var) for var, number in pairs)

    @property
    def expression(self) -> cp_model.LinearExprT:
        """
        The sum as the solver takes it.
        """
        if not self.variables:
            return self.constant
        body = cp_model.LinearExpr.weighted_sum(self.variables, self.coefficients)
        return body + self.constant if self.constant else body


@dataclass(frozen=True, slots=True)
class Count:
    """
    How many of something: a variable with its upper end, or a constant when none.
    """

    variable: Var | None
    upper: int

    @property
    def chosen(self) -> Var:
        """
        The variable, where there must be one.
        """
        assert self.variable is not None
        return self.variable


@dataclass(slots=True, kw_only=True)
class RigidVars:
    """
    A gang without choice: its surplus per leaf, and per domain where one must hold it.

    ``level`` is the level of the required domain, or -1; ``core`` the pods it needs.
    """

    state: Standing
    core: tuple[int, ...]
    level: int = -1
    active: dict[int, Count] = field(default_factory=dict)
    surplus: dict[tuple[int, Cell], Count] = field(default_factory=dict)
    footprint: "Footprint | None" = None


@dataclass(slots=True, kw_only=True)
class ChoiceVars:
    """
    A gang with choice: a boolean per tree node, counts per leaf and cell.

    ``level`` gives each leaf's cells; ``used`` the preferred domains a tree node uses.
    """

    state: Standing
    active: dict[int, Count] = field(default_factory=dict)
    level: dict[int, int] = field(default_factory=dict)
    counts: dict[tuple[int, Cell], Count] = field(default_factory=dict)
    used: dict[tuple[int, int], Var] = field(default_factory=dict)
    core: dict[int, Count] = field(default_factory=dict)
    core_active: dict[int, Count] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Footprint:
    """
    Gangs that want the same pods inside one domain of a level, whatever their queue.

    Which of them takes which domain is dealt out after the solve; ``starts`` adds up
    those that start, ``extra`` their surplus per leaf.
    """

    level: int
    core: tuple[int, ...]
    pending: tuple[int, ...]
    shapes: tuple[int, ...]
    cells: tuple[int, ...]
    starts: Linear = field(default_factory=Linear)
    extra: dict[int, Linear] = field(default_factory=dict)
    active: dict[int, Count] = field(default_factory=dict)
    surplus: dict[tuple[int, int], Count] = field(default_factory=dict)


StateVars = RigidVars | ChoiceVars


@dataclass(slots=True, kw_only=True)
class TypeVars:
    """
    Units that the model cannot tell apart: how many start, how many as entitled.

    ``units`` are in the order in which they would start.  How many are ``guaranteed``
    matters only where others leave for them: then ``sure`` are their pods per leaf.
    """

    units: tuple[Unit, ...]
    starts: Count
    entitled: Count
    states: list[StateVars]
    guaranteed: Count = Count(None, 0)
    sure: list[dict[int, Linear]] = field(default_factory=list)
    ranks: list[Var] = field(default_factory=list)

    @property
    def sample(self) -> Unit:
        """
        Any of the units; they are alike.
        """
        return self.units[0]


Loads = dict[tuple[int, int], Var]
"""
(shape, class) → how many pods of the shape the class holds.
"""
Terms = Mapping[str, Linear]
