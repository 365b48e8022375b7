"""
Preferred neighbours: the sum over domains of what pods that get places would lack.

As for required ones, a class that reaches over several domains is left out, so that the
sum stays a bound; so is what pods lack that got their places in an earlier step.
"""

from collections.abc import Sequence

import numpy as np

from models.neighbours import Preferred
from solver.effort.cp_sat import cp_model
from solver.encode.capacity import Capacity, take_no_more
from solver.encode.demand import Demand
from solver.encode.variables import Linear, Var
from solver.place.preferred_now import preferred_now
from solver.problem.neighbours.preferred_pods import PreferredPods
from solver.problem.pod_shapes import Shape
from solver.problem.problem import Problem


def preferred_sum(
    model: cp_model.CpModel, problem: Problem, capacity: Capacity, demand: Demand
) -> Linear:
    """
    Add up what all pods that get places would lack, weighted.
    """
    around = preferred_now(problem)
    rows = _PreferredRows(model, problem, capacity, around)
    for rule, own in sorted(rows.rules()):
        rows.add(rule, own=own)
    take_no_more(model, capacity, demand, rows.meant)
    return rows.total


class _PreferredRows:
    """
    The counts of pods with preferences, by shape and class.
    """

    def __init__(
        self,
        model: cp_model.CpModel,
        problem: Problem,
        capacity: Capacity,
        around: PreferredPods | None,
    ) -> None:
        self.total = Linear()
        self._model, self._capacity, self._around = model, capacity, around
        self._terms = [
            capacity.class_terms(at) for at in range(len(capacity.classes.items))
        ]
        shapes = sorted({shape for terms in self._terms for shape in terms})
        self._items: dict[int, Shape] = {s: problem.shapes.items[s] for s in shapes}
        states = problem.states.values()
        self._most = sum(len(leaf.pending) for s in states for leaf in s.leaves)

    def rules(self) -> set[tuple[Preferred, bool]]:
        """
        List the rules, and for each whether its own pods are meant too.
        """
        return {
            (rule, rule.pods in item.neighbours.preferred_by)
            for item in self._items.values()
            for rule in item.neighbours.preferred
        }

    @property
    def meant(self) -> list[int]:
        """
        List the shapes that somebody would like, or not.
        """
        names = {rule.pods for rule, _ in self.rules()}
        return [
            shape
            for shape, item in self._items.items()
            if names.intersection(item.neighbours.preferred_by)
        ]

    def _by_domain(
        self, key: str, shapes: Sequence[int]
    ) -> tuple[dict[int, list[Var]], list[Var]]:
        """
        Collect the counts of shapes per domain, and those of classes over several.
        """
        assert self._around is not None
        table: dict[int, list[Var]] = {}
        over: list[Var] = []
        cells = self._around.domains.of(key)
        for item, terms in zip(self._capacity.classes.items, self._terms, strict=True):
            here = [var for shape in shapes for var in terms.get(shape, ())]
            inside = np.unique(cells[list(item.nodes)]).tolist() if here else []
            if len(inside) > 1:
                over += here
            elif inside:
                table.setdefault(inside[0], []).extend(here)
        return table, over

    def add(self, rule: Preferred, *, own: bool) -> None:
        """
        Add what pods lack by a rule in each domain.
        """
        assert self._around is not None
        asks = [
            shape
            for shape, item in self._items.items()
            if rule in item.neighbours.preferred
            and (rule.pods in item.neighbours.preferred_by) == own
        ]
        named = [
            shape
            for shape, item in self._items.items()
            if rule.pods in item.neighbours.preferred_by
        ]
        there = self._around.num_there(rule)
        meant, over = self._by_domain(rule.key, named)
        is_near = rule.weight > 0
        for cell, wanting in self._by_domain(rule.key, asks)[0].items():
            found = [*meant.get(cell, ()), *(over if is_near else ())]
            if cell < 0 or there[cell] > 0 or not found:
                if (cell < 0 or not there[cell]) == is_near:
                    for var in wanting:
                        self.total.add(var, abs(rule.weight), self._most)
                continue
            self._add(rule, wanting, found, 1 + own)

    def _add(
        self, rule: Preferred, wanting: list[Var], meant: list[Var], least: int
    ) -> None:
        """
        Ensure that who wants others lacks them unless so many of these are there.
        """
        model, most = self._model, self._most
        some, lacks = model.new_bool_var(""), model.new_int_var(0, most, "")
        total = cp_model.LinearExpr.sum(meant)
        want = cp_model.LinearExpr.sum(wanting)
        if rule.weight > 0:
            model.add(total >= least * some)
            model.add(lacks >= want - most * some)
        else:
            model.add(total <= least - 1 + most * some)
            model.add(lacks >= want - most * (1 - some))
        self.total.add(lacks, abs(rule.weight), most)
