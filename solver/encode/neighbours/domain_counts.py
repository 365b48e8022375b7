"""
The counts of pods with neighbours: by domain, by shape, and those that have places.

Classes do not reach over domains of keys that have few of them; where one does, rows
over its pods are left out, so the model stays a relaxation.
"""

from collections.abc import Callable, Sequence

import numpy as np

from models.neighbours import Neighbours
from solver.effort.cp_sat import cp_model
from solver.encode.capacity import Capacity
from solver.encode.leaving.variables import Leaving
from solver.encode.neighbours.domain_parts import parting_keys
from solver.encode.neighbours.open_places import OpenPlaces
from solver.encode.neighbours.staying import Staying
from solver.encode.variables import Linear, Var
from solver.problem.pod_shapes import Shape
from solver.problem.problem import Problem

Table = dict[int, list[Var]]


class DomainCounts:
    """
    The counts of pods with neighbours, by shape and class.
    """

    def __init__(
        self,
        model: cp_model.CpModel,
        problem: Problem,
        capacity: Capacity,
        there: Staying,
        leaving: Leaving | None,
    ) -> None:
        self.model = model
        self.capacity = capacity
        self.there = there
        self.sizes = () if leaving is None else leaving.sizes
        self.around = there.around
        self.open = OpenPlaces()
        self._cells: dict[tuple[int, str], int | None] = {}
        classes = range(len(capacity.classes.items))
        self.terms = [capacity.class_terms(at) for at in classes]
        shapes = sorted({shape for terms in self.terms for shape in terms})
        every = ((shape, problem.shapes.items[shape]) for shape in shapes)
        self.items: dict[int, Shape] = {s: item for s, item in every if item.neighbours}
        self.parting = set(parting_keys(problem, shapes))

    def by_domain(
        self, key: str, shapes: Sequence[int], counting: frozenset[int] | None = None
    ) -> tuple[Table, list[Var]]:
        """
        Collect the counts of shapes per domain, and those of classes over several.

        Those on nodes that are not ``counting`` are left out, if these are said.
        """
        table: Table = {}
        over: list[Var] = []
        for at, terms in enumerate(self.terms):
            here = [var for shape in shapes for var in terms.get(shape, ())]
            cell = self.cell_of(at, key) if here else -1
            nodes = self.capacity.classes.items[at].nodes
            known = len(nodes if counting is None else counting.intersection(nodes))
            if cell is None or 0 < known < len(nodes):
                over += here
            elif cell >= 0 and known:
                table.setdefault(cell, []).extend(here)
        return table, over

    def cell_of(self, at: int, key: str) -> int | None:
        """
        Give the domain that a class is in: none of several, -1 without the label.
        """
        if (at, key) not in self._cells:
            nodes = list(self.capacity.classes.items[at].nodes)
            inside = np.unique(self.around.domains.of(key)[nodes]).tolist() or [-1]
            spans = len(inside) > 1 or self._may_span(at, key)
            self._cells[at, key] = None if spans else inside[0]
        return self._cells[at, key]

    def _may_span(self, at: int, key: str) -> bool:
        sizes = self.sizes
        return bool(sizes) and sizes[at].most > 1 and key not in self.parting

    def some(self, terms: Sequence[Var]) -> Var:
        """
        Make a boolean that is true where there is any pod.
        """
        some = self.model.new_bool_var("")
        none = self.model.add(cp_model.LinearExpr.sum(list(terms)) == 0)
        none.only_enforce_if(~some)
        return some


def selects(pods: str) -> Callable[[Neighbours], bool]:
    """
    Tell of pods whether a selector selects them.
    """
    return lambda said: pods in said.selected


def sum_of(left: Linear, terms: Sequence[Var]) -> cp_model.LinearExpr:
    """
    Add pods that come to those that stay.
    """
    factors = [*left.coefficients, *(1 for _ in terms)]
    body = cp_model.LinearExpr.weighted_sum([*left.variables, *terms], factors)
    found: cp_model.LinearExpr = body + left.constant
    return found
