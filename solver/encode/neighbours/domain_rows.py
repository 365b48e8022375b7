"""
Neighbours: rows over the domains of topology keys and groups of pods with equal terms.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from models.neighbours import Near
from solver.effort.cp_sat import cp_model
from solver.encode.capacity import Capacity
from solver.encode.leaving.variables import Leaving
from solver.encode.neighbours.domain_counts import (
    DomainCounts,
    First,
    NeighbourVars,
    Table,
    selects,
    sum_of,
)
from solver.encode.neighbours.spread_rows import keep_even
from solver.encode.neighbours.staying import DomainSums, Staying, staying
from solver.encode.queue_rows import placed
from solver.encode.variables import Linear, TypeVars, Var
from solver.place.round_state import around_now
from solver.problem.problem import Problem


def add_neighbours(
    model: cp_model.CpModel,
    problem: Problem,
    capacity: Capacity,
    types: Sequence[TypeVars],
    leaving: Leaving | None = None,
) -> NeighbourVars:
    """
    Ensure that in each domain pods are apart, near and spread as they ask.

    With ``leaving`` that is once all have left who do, in the room there will be then.
    """
    around = around_now(problem)
    if around is None:
        return NeighbourVars()
    there = Staying(around) if leaving is None else staying(around, leaving)
    counts = DomainCounts(model, problem, capacity, there, leaving)
    rows = _Rows(counts)
    if not counts.items:
        return counts.found
    for pods, key in sorted(around.apart):
        rows.keep_apart(pods, key, beside_who_stays=leaving is not None)
    said = [item.neighbours for item in counts.items.values()]
    looked_for = sorted({one.near for one in said if one.near})
    for near in looked_for:
        rows.keep_near(near)
    rows.keep_one_first()
    for pair in combinations(looked_for, 2):
        rows.keep_pair_near(pair)
    kinds = {(i.neighbours.spread, i.demand): s for s, i in counts.items.items()}
    for shape in sorted(kinds.values()):
        for spread in counts.items[shape].neighbours.spread:
            keep_even(counts, counts.items[shape], spread)
    place_no_more(model, problem, capacity, types, counts.items)
    return counts.found


class _Rows:
    """
    Rows about pods that are apart from others, or near to them.
    """

    def __init__(self, counts: DomainCounts) -> None:
        self.counts = counts
        self.model = counts.model
        self.leads: dict[str, list[Var]] = {}
        self.begins: dict[tuple[Near, str], dict[int, Var]] = {}

    def keep_apart(self, pods: str, key: str, *, beside_who_stays: bool) -> None:
        """
        Ensure that a domain with a pod that is apart from some has none of these.

        Those who are there already are said of nodes where nobody leaves.
        """
        items = self.counts.items.items()
        meant = [s for s, item in items if pods in item.neighbours.selected]
        holds = [s for s, item in items if (pods, key) in item.neighbours.apart]
        both = self.counts.by_domain(key, [s for s in holds if s in meant])[0]
        only = self.counts.by_domain(key, [s for s in holds if s not in meant])[0]
        members = self.counts.by_domain(key, meant)[0]
        for cell, there in members.items():
            total = cp_model.LinearExpr.sum(there)
            if lonely := only.get(cell):
                self.model.add(total == 0).only_enforce_if(self.counts.some(lonely))
            if own := both.get(cell):
                self.model.add(cp_model.LinearExpr.sum(own) <= 1)
                if len(own) < len(there):
                    self.model.add(total <= 1).only_enforce_if(self.counts.some(own))
        if beside_who_stays:
            stays, around = self.counts.there, self.counts.around
            coming = self.counts.by_domain(key, holds)[0]
            others = around.members.get((pods, key))
            stay = stays.sums(key, others, selects(pods))
            self._keep_clear(coming, stay)
            others = around.holders.get((pods, key))
            stay = stays.sums(key, others, lambda one: (pods, key) in one.apart)
            self._keep_clear(members, stay)

    def _keep_clear(self, coming: Table, others: DomainSums) -> None:
        for cell, terms in coming.items():
            left = others.of(cell)
            if left.variables:
                row = self.model.add(sum_of(left, ()) <= 0)
                row.only_enforce_if(self.counts.some(terms))
            elif left.constant > 0:
                self.model.add(cp_model.LinearExpr.sum(terms) == 0)

    def keep_near(self, near: Near) -> None:
        """
        Ensure that a domain with a pod that looks for others has one, or the first.

        Only who looks for its like may be the first of them.
        """
        items = self.counts.items.items()
        asks = [s for s, item in items if item.neighbours.near == near]
        meant = [s for s, item in items if near.pods in item.neighbours.selected]
        own = [s for s in asks if s in meant]
        others = [s for s in meant if s not in asks]
        lead = None
        around = self.counts.around
        if any(around.is_first(self.counts.items[shape].neighbours) for shape in own):
            lead = self.model.new_bool_var("")
            self.leads.setdefault(near.pods, []).append(lead)
        first = []
        for key in near.keys:
            hosts = self._hosts(near, key)
            self._keep_beside(key, [s for s in asks if s not in own], meant, hosts)
            found = self._keep_beside(
                key, own, others, hosts, may_begin=lead is not None
            )
            if lead is not None:
                row = list(found.values())
                self.begins[near, key] = {cell: x for cell, (x, _, _) in found.items()}
                self.model.add(cp_model.LinearExpr.sum([x for x, _, _ in row]) <= lead)
                first.append(row)
        if lead is not None:
            self.counts.found.first.append((lead, first))

    def keep_one_first(self) -> None:
        """
        Ensure that of those that one selector selects only one is the first of all.
        """
        for leads in self.leads.values():
            self.model.add_at_most_one(leads)

    def _keep_beside(
        self,
        key: str,
        asks: Sequence[int],
        meant: Sequence[int],
        hosts: DomainSums,
        *,
        may_begin: bool = False,
    ) -> dict[int, First]:
        """
        Ensure that each domain with some pods has one of others, or begins with them.
        """
        there, over = self.counts.by_domain(key, meant)
        first: dict[int, First] = {}
        for cell, wanting in self.counts.by_domain(key, asks)[0].items():
            left = hosts.of(cell)
            if left.constant > 0 and not left.variables:
                continue
            found = [*there.get(cell, ()), *over]
            if may_begin:
                begin = self.model.new_bool_var("")
                first[cell] = begin, wanting, found
                found = [*found, begin]
            self.model.add(sum_of(left, found) >= self.counts.some(wanting))
        return first

    def keep_pair_near(self, pair: tuple[Near, Near]) -> None:
        """
        Ensure that pods of two kinds do not come only since each finds the other there.

        In a domain with any of them the one that comes first finds somebody else.
        """
        items = self.counts.items.items()
        asks = [s for s, item in items if item.neighbours.near in pair]
        names = {near.pods for near in pair}
        if not all(self._meets(near, pair) for near in pair):
            return
        others = [
            s
            for s, item in items
            if s not in asks and names.intersection(item.neighbours.selected)
        ]
        for key in {*pair[0].keys} & {*pair[1].keys}:
            hosts = [self._hosts(near, key) for near in pair]
            there, over = self.counts.by_domain(key, others)
            for cell, wanting in self.counts.by_domain(key, asks)[0].items():
                left = [sums.of(cell) for sums in hosts]
                if any(one.constant > 0 or one.variables for one in left):
                    continue
                begins = (self.begins.get((near, key), {}).get(cell) for near in pair)
                found = [
                    *there.get(cell, ()),
                    *over,
                    *(x for x in begins if x is not None),
                ]
                total = cp_model.LinearExpr.sum(found) if found else 0
                self.model.add(total >= self.counts.some(wanting))

    def _meets(self, near: Near, pair: tuple[Near, Near]) -> bool:
        """
        Tell whether pods of the other kind of a pair are looked for.
        """
        return any(
            near.pods in item.neighbours.selected
            for item in self.counts.items.values()
            if item.neighbours.near in pair and item.neighbours.near != near
        )

    def _hosts(self, near: Near, key: str) -> DomainSums:
        there, row = self.counts.there, self.counts.around.hosts.get((near.pods, key))
        return there.sums(key, row, selects(near.pods), relied_on=True)


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
