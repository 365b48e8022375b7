"""
Neighbours: rows over the domains of topology keys and groups of pods with equal terms.
"""

from solver.effort.cp_sat import cp_model
from solver.encode.capacity import Capacity, take_no_more
from solver.encode.demand import Demand
from solver.encode.leaving.variables import Leaving
from solver.encode.neighbours.domain_counts import (
    DomainCounts,
    Table,
    selects,
    sum_of,
)
from solver.encode.neighbours.near_rows import keep_near
from solver.encode.neighbours.open_places import OpenPlaces
from solver.encode.neighbours.spread_rows import keep_even
from solver.encode.neighbours.staying import DomainSums, Staying, staying
from solver.encode.neighbours.volume_rows import give_volumes
from solver.place.round_state import around_now
from solver.problem.problem import Problem


def add_neighbours(
    model: cp_model.CpModel,
    problem: Problem,
    capacity: Capacity,
    demand: Demand,
    leaving: Leaving | None = None,
) -> OpenPlaces:
    """
    Ensure that pods are apart, near and spread as they ask, and have their volumes.

    With ``leaving`` that is once all have left who do, in the room there will be then.
    """
    around = around_now(problem)
    if around is None:
        return OpenPlaces()
    there = Staying(around) if leaving is None else staying(around, leaving)
    counts = DomainCounts(model, problem, capacity, there, leaving)
    rows = _Rows(counts)
    if not counts.items:
        return counts.open
    for pods, key in sorted(around.apart):
        rows.keep_apart(pods, key, beside_who_stays=leaving is not None)
    keep_near(counts)
    kinds = {(i.neighbours.spread, i.demand): s for s, i in counts.items.items()}
    for shape in sorted(kinds.values()):
        for spread in counts.items[shape].neighbours.spread:
            keep_even(counts, counts.items[shape], spread)
    give_volumes(counts)
    take_no_more(model, capacity, demand, counts.items)
    return counts.open


class _Rows:
    """
    Rows about pods that are apart from others.
    """

    def __init__(self, counts: DomainCounts) -> None:
        self.counts = counts
        self.model = counts.model

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
