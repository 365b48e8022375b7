"""
Rows about pods that must be near others: these come before them, or one comes first.

A place is a domain in which pods look for those of a selector.  It is opened by those
that stay or come and need no place of their own, by the first of its like, or by those
whose own places are open.  Where that can form a cycle, each place that is
opened so ranks after those, and nobody starts who finds only those that find it.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from models.neighbours import Near
from solver.effort.cp_sat import cp_model
from solver.encode.neighbours.domain_counts import DomainCounts, selects, sum_of
from solver.encode.neighbours.open_places import Begin, First, Place
from solver.encode.neighbours.staying import DomainSums
from solver.encode.variables import Var
from solver.problem.neighbours.spread_counts import Pair


def keep_near(counts: DomainCounts) -> None:
    """
    Ensure that pods come in some order, each near to those it looks for.
    """
    said = [item.neighbours for item in counts.items.values()]
    looked_for = sorted({one.near for one in said if one.near})
    rows = _NearRows(counts, looked_for)
    rows.keep_first()
    for pair in sorted({(near.pods, key) for near in looked_for for key in near.keys}):
        rows.open_places(pair)


class _NearRows:
    """
    Rows about places, by the selector that is looked for and the key.
    """

    def __init__(self, counts: DomainCounts, looked_for: list[Near]) -> None:
        self.counts = counts
        self.model = counts.model
        self.looked_for = looked_for
        self.own = self._own()
        self.leads: dict[First, Var] = {}
        self.ranks: dict[Place, Var] = {}
        self.needs = self._needs()
        self.hosts: dict[Pair, DomainSums] = {}

    def keep_first(self) -> None:
        """
        Ensure that whoever comes first of its like is not found by itself before.

        Of two of which each would have to come before the other only one is.
        """
        around, items = self.counts.around, self.counts.items
        for first, own in self.own.items():
            if around.is_first(items[own[0]].neighbours):
                self.leads[first] = self.model.new_bool_var("")
        for one, other in combinations(self.leads, 2):
            if self._finds(one, other) and self._finds(other, one):
                self.model.add_at_most_one(self.leads[one], self.leads[other])

    def open_places(self, pair: Pair) -> None:
        """
        Ensure that each place of a selector and key in which pods look is opened.
        """
        pods, key = pair
        counts, items = self.counts, self.counts.items
        asks = [
            shape
            for shape, item in items.items()
            if (near := item.neighbours.near) and near.pods == pods and key in near.keys
        ]
        hosts = self._hosts(pair)
        free, over = counts.by_domain(key, self._who_opens(pair))
        begins = self._begins(pair)
        ranked = self._ranked(pair)
        for cell, wanting in counts.by_domain(key, asks)[0].items():
            left = hosts.of(cell)
            if left.constant > 0 and not left.variables:
                continue
            place = pods, key, cell
            first = begins.get(cell, [])
            counts.open.begins += [(place, one) for one in first]
            found = [*free.get(cell, ()), *over, *(one.begins for one in first)]
            found += self._in_order(place, ranked.get(cell, {}))
            self.model.add(sum_of(left, found) >= counts.some(wanting))

    def _own(self) -> dict[First, list[int]]:
        """
        Collect the shapes that look for their like, by what others know of them.
        """
        found: dict[First, list[int]] = {}
        for shape, item in self.counts.items.items():
            near, selected = item.neighbours.near, item.neighbours.selected
            if near is not None and near.pods in selected:
                found.setdefault(First(near, selected), []).append(shape)
        return found

    def _finds(self, first: First, other: First) -> bool:
        """
        Tell whether pods that look for their like surely find another first.
        """
        domains = self.counts.around.domains
        where = np.all([domains.of(key) >= 0 for key in other.near.keys], axis=0)
        known = np.any([domains.of(key) >= 0 for key in first.near.keys], axis=0)
        return bool(known[where].all()) and first.near.pods in other.selected

    def _needs(self) -> dict[Pair, set[Pair]]:
        """
        Give for each selector and key what others need that may open its places.
        """
        direct: dict[Pair, set[Pair]] = {}
        said = {item.neighbours for item in self.counts.items.values()}
        pairs = {(near.pods, key) for near in self.looked_for for key in near.keys}
        for near, names in {(one.near, one.selected) for one in said if one.near}:
            needs = {(near.pods, key) for key in near.keys}
            for pair in pairs - needs:
                if pair[0] in names:
                    direct.setdefault(pair, set()).update(needs)
        return {pair: _reached(direct, pair) for pair in pairs}

    def _who_opens(self, pair: Pair) -> list[int]:
        """
        List the shapes whose pods open a place without a rank.
        """
        return [
            shape
            for shape, item in self.counts.items.items()
            if pair[0] in item.neighbours.selected
            and not self._is_ranked(pair, item.neighbours.near)
        ]

    def _is_ranked(self, pair: Pair, near: Near | None) -> bool:
        """
        Tell whether pods that look for some may need the places that they open.
        """
        return near is not None and any(
            pair == need or pair in self.needs[need]
            for need in ((near.pods, key) for key in near.keys)
        )

    def _hosts(self, pair: Pair) -> DomainSums:
        """
        Count those that stay and may be relied on, by domain.
        """
        if pair not in self.hosts:
            there, row = self.counts.there, self.counts.around.hosts.get(pair)
            sums = there.sums(pair[1], row, selects(pair[0]), relied_on=True)
            self.hosts[pair] = sums
        return self.hosts[pair]

    def _begins(self, pair: Pair) -> dict[int, list[Begin]]:
        """
        Ensure that the first of its like is in one domain, among its own pods.
        """
        found: dict[int, list[Begin]] = {}
        for first, lead in self.leads.items():
            if first.near.pods != pair[0] or pair[1] not in first.near.keys:
                continue
            own = self.counts.by_domain(pair[1], self.own[first])[0]
            row = [Begin(first, self.model.new_bool_var(""), own[at]) for at in own]
            for cell, one in zip(own, row, strict=True):
                found.setdefault(cell, []).append(one)
                self.model.add(one.begins <= cp_model.LinearExpr.sum(one.own))
            self.model.add(cp_model.LinearExpr.sum([x.begins for x in row]) <= lead)
        return found

    def _ranked(self, pair: Pair) -> dict[int, dict[tuple[Place, ...], list[Var]]]:
        """
        Collect pods that open places by the places that they need, by domain.
        """
        found: dict[int, dict[tuple[Place, ...], list[Var]]] = {}
        items = self.counts.items
        shapes = {
            shape: near
            for shape, item in items.items()
            if (near := item.neighbours.near) and pair[0] in item.neighbours.selected
            if self._is_ranked(pair, near)
            if pair[0] != near.pods or pair[1] not in near.keys
        }
        for at, terms in enumerate(self.counts.terms):
            cell = self.counts.cell_of(at, pair[1])
            for shape in sorted(shapes.keys() & terms.keys()):
                if cell is None:
                    break
                near = shapes[shape]
                places = [
                    (near.pods, key, where)
                    for key in near.keys
                    if (where := self.counts.cell_of(at, key)) is not None
                ]
                needs = tuple(
                    place
                    for place in places
                    if (left := self._hosts(place[:2]).of(place[2])).constant <= 0
                    or left.variables
                )
                found.setdefault(cell, {}).setdefault(needs, []).extend(terms[shape])
        return found

    def _in_order(
        self, place: Place, by_needs: Mapping[tuple[Place, ...], list[Var]]
    ) -> Iterator[Var]:
        """
        Ensure that whoever opens a place comes after those that it needs itself.
        """
        for needs, pods in by_needs.items():
            opens = self.model.new_bool_var("")
            self.model.add(opens <= cp_model.LinearExpr.sum(pods))
            for need in needs:
                later = self._rank(place) >= self._rank(need) + 1
                self.model.add(later).only_enforce_if(opens)
            yield opens

    def _rank(self, place: Place) -> Var:
        if place not in self.ranks:
            of = self.counts.around.domains.of
            most = sum(int(of(key).max(initial=-1)) + 1 for _, key in self.needs)
            self.ranks[place] = self.model.new_int_var(0, most, "")
        return self.ranks[place]


def _reached(direct: Mapping[Pair, set[Pair]], pair: Pair) -> set[Pair]:
    """
    Give all that some need, and what these need, and so on.
    """
    found: set[Pair] = set()
    left = [*direct.get(pair, ())]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += direct.get(one, ())
    return found
