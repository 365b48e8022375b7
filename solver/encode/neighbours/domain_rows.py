"""
Neighbours: rows over the domains of topology keys and groups of pods with equal terms.

Classes do not reach over domains of keys that have few of them; where one does, rows
over its pods are left out, so the model stays a relaxation.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from models.neighbours import Near, Spread
from solver.effort.cp_sat import cp_model
from solver.encode.capacity import Capacity
from solver.encode.queue_rows import placed
from solver.encode.variables import Linear, TypeVars, Var
from solver.place.round_state import around_now
from solver.problem.neighbours.pods_around import PodsAround
from solver.problem.pod_shapes import Shape
from solver.problem.problem import Problem

Pairs = list[tuple[Var, int]]


@dataclass(slots=True)
class NeighbourVars:
    """
    What a hint needs: booleans with the counts that make them true, and least counts.

    ``first`` are where the first of its like may be: where none is, and one asks.
    """

    some: list[tuple[Var, Sequence[Var]]] = field(default_factory=list)
    least: list[tuple[Var, Sequence[tuple[int, Sequence[Var]]], bool]] = field(
        default_factory=list
    )
    first: list[Sequence[tuple[Var, Sequence[Var], Sequence[Var]]]] = field(
        default_factory=list
    )

    def hint(self, values: Mapping[int, int]) -> Pairs:
        """
        List what each would be, given the counts.
        """

        def total(terms: Iterable[Var]) -> int:
            return sum(values.get(var.index, 0) for var in terms)

        pairs = [(var, int(total(terms) > 0)) for var, terms in self.some]
        for var, sums, free in self.least:
            low = min((base + total(terms) for base, terms in sums), default=0)
            pairs.append((var, low if free else 0))
        for row in self.first:
            chosen = False
            for var, asks, there in row:
                here = not chosen and total(asks) > 0 and not total(there)
                chosen = chosen or here
                pairs.append((var, int(here)))
        return pairs


def add_neighbours(
    model: cp_model.CpModel,
    problem: Problem,
    capacity: Capacity,
    types: Sequence[TypeVars],
) -> NeighbourVars:
    """
    Ensure that in each domain pods are apart, near and spread as they ask.
    """
    around = around_now(problem)
    if around is None:
        return NeighbourVars()
    rows = _Rows(model, problem, capacity, around)
    if not rows.items:
        return rows.found
    for pods, key in sorted(around.apart):
        rows.keep_apart(pods, key)
    said = [item.neighbours for item in rows.items.values()]
    for near in sorted({one.near for one in said if one.near}):
        rows.keep_near(near)
    if around.settled:
        kinds = {(i.neighbours.spread, i.demand): s for s, i in rows.items.items()}
        for shape in sorted(kinds.values()):
            for spread in rows.items[shape].neighbours.spread:
                rows.keep_even(rows.items[shape], spread)
    place_no_more(model, problem, capacity, types, rows.items)
    return rows.found


Table = dict[int, list[Var]]


class _Rows:
    """
    The counts of pods with neighbours, by shape and class.
    """

    def __init__(
        self,
        model: cp_model.CpModel,
        problem: Problem,
        capacity: Capacity,
        around: PodsAround,
    ) -> None:
        self.model = model
        self.capacity = capacity
        self.around = around
        self.found = NeighbourVars()
        self.terms = [
            capacity.class_terms(at) for at in range(len(capacity.classes.items))
        ]
        shapes = sorted({shape for terms in self.terms for shape in terms})
        self.items: dict[int, Shape] = {
            shape: problem.shapes.items[shape]
            for shape in shapes
            if problem.shapes.items[shape].neighbours
        }

    def _by_domain(self, key: str, shapes: Sequence[int]) -> tuple[Table, list[Var]]:
        """
        Collect the counts of shapes per domain, and those of classes over several.
        """
        table: Table = {}
        over: list[Var] = []
        cells = self.around.domains.of(key)
        for item, terms in zip(self.capacity.classes.items, self.terms, strict=True):
            here = [var for shape in shapes for var in terms.get(shape, ())]
            inside = np.unique(cells[list(item.nodes)]).tolist() if here else []
            if len(inside) > 1:
                over += here
            elif inside and inside[0] >= 0:
                table.setdefault(inside[0], []).extend(here)
        return table, over

    def _some(self, terms: Sequence[Var]) -> Var:
        """
        Make a boolean that is true where there is any pod.
        """
        some = self.model.new_bool_var("")
        none = self.model.add(cp_model.LinearExpr.sum(list(terms)) == 0)
        none.only_enforce_if(~some)
        self.found.some.append((some, terms))
        return some

    def keep_apart(self, pods: str, key: str) -> None:
        """
        Ensure that a domain with a pod that is apart from some has none of these.
        """
        items = self.items.items()
        meant = [s for s, item in items if pods in item.neighbours.selected]
        holds = [s for s, item in items if (pods, key) in item.neighbours.apart]
        both = self._by_domain(key, [s for s in holds if s in meant])[0]
        only = self._by_domain(key, [s for s in holds if s not in meant])[0]
        members = self._by_domain(key, meant)[0]
        for cell, there in members.items():
            total = cp_model.LinearExpr.sum(there)
            if lonely := only.get(cell):
                self.model.add(total == 0).only_enforce_if(self._some(lonely))
            if own := both.get(cell):
                self.model.add(cp_model.LinearExpr.sum(own) <= 1)
                if len(own) < len(there):
                    self.model.add(total <= 1).only_enforce_if(self._some(own))

    def keep_near(self, near: Near) -> None:
        """
        Ensure that a domain with a pod that looks for others has one, or the first.
        """
        items = self.items.items()
        asks = [s for s, item in items if item.neighbours.near == near]
        meant = [s for s, item in items if near.pods in item.neighbours.selected]
        others = [s for s in meant if s not in asks]
        may_begin = not self.around.exists.get(near.pods) and set(asks) & set(meant)
        for key in near.keys:
            hosts = self.around.hosts.get((near.pods, key))
            there, over = self._by_domain(key, others)
            first: list[tuple[Var, Sequence[Var], Sequence[Var]]] = []
            for cell, wanting in self._by_domain(key, asks)[0].items():
                if hosts is not None and hosts[cell] > 0:
                    continue
                found = [*there.get(cell, ()), *over]
                if may_begin:
                    begin = self.model.new_bool_var("")
                    first.append((begin, wanting, found))
                    found = [*found, begin]
                row = cp_model.LinearExpr.sum(found) if found else 0
                self.model.add(row >= self._some(wanting))
            self.model.add_at_most_one([var for var, _, _ in first])
            self.found.first.append(first)

    def keep_even(self, item: Shape, spread: Spread) -> None:
        """
        Ensure that no domain with such a pod has more than the skew above any other.
        """
        key, pair = spread.key, (spread.pods, spread.key)
        counting = self.around.spread.counting(item.neighbours, spread, item.demand)
        cells = self.around.domains.of(key)
        like = [s for s, x in self.items.items() if x.neighbours.is_spread(*pair)]
        table, over = self._by_domain(key, like)
        base = self.around.spread.per_domain(pair, cells, counting)
        if over or not len(counting) or not self._is_inside(like, counting.tolist()):
            return
        values = np.unique(cells[counting]).tolist()
        least = self.model.new_int_var(0, 2**31, "")
        free = len(values) >= spread.domains
        if not free:
            self.model.add(least == 0)
        sums = [(int(base[cell]), table.get(cell, [])) for cell in values]
        self.found.least.append((least, sums, free))
        for there, terms in sums:
            self.model.add(least <= there + cp_model.LinearExpr.sum(list(terms)))
        mine = self._by_domain(
            key,
            [
                s
                for s, x in self.items.items()
                if (x.neighbours.spread, x.demand)
                == (item.neighbours.spread, item.demand)
            ],
        )[0]
        for cell, here in mine.items():
            total = int(base[cell]) + cp_model.LinearExpr.sum(table.get(cell, []))
            row = self.model.add(total <= least + spread.skew)
            row.only_enforce_if(self._some(here))

    def _is_inside(self, shapes: Sequence[int], counting: Sequence[int]) -> bool:
        """
        Tell whether all nodes that some shapes may be on count.
        """
        nodes = set(counting)
        return all(
            nodes.issuperset(item.nodes)
            for item, terms in zip(self.capacity.classes.items, self.terms, strict=True)
            if any(shape in terms for shape in shapes)
        )


def place_no_more(
    model: cp_model.CpModel,
    problem: Problem,
    capacity: Capacity,
    types: Sequence[TypeVars],
    shapes: Iterable[int],
) -> None:
    """
    Ensure that of some shapes no more pods have places than are placed: they count.
    """
    found = {shape: Linear() for shape in shapes}
    for kind in types:
        for vars_ in kind.states:
            for leaf, row in placed(vars_, kind.starts).items():
                shape = problem.shapes.of_leaf[vars_.state.key, leaf]
                if shape in found:
                    found[shape].extend(row)
    terms = [capacity.class_terms(at) for at in range(len(capacity.classes.items))]
    for shape, row in found.items():
        counts = [var for here in terms for var in here.get(shape, ())]
        total = cp_model.LinearExpr.sum(counts) if counts else 0
        model.add(total <= row.expression)
