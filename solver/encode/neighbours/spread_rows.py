"""
Rows about pods that are spread over the domains of a topology key.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from models.neighbours import Spread
from solver.effort.cp_sat import cp_model
from solver.encode.neighbours.domain_counts import DomainCounts, selects, sum_of
from solver.problem.pod_shapes import Shape


def keep_even(counts: DomainCounts, item: Shape, spread: Spread) -> None:
    """
    Ensure that no domain with such a pod has more than the skew above any other.
    """
    key, pair = spread.key, (spread.pods, spread.key)
    counting = counts.around.spread.counting(item.neighbours, spread, item.demand)
    cells = counts.around.domains.of(key)
    like = [s for s, x in counts.items.items() if x.neighbours.is_spread(*pair)]
    table, over = counts.by_domain(key, like)
    if over or not len(counting) or not _is_inside(counts, like, counting.tolist()):
        return
    row, most = counts.around.spread.both(pair, cells, counting)
    inside = frozenset(counting.tolist())
    there = counts.there.sums(
        key, row, selects(spread.pods), relied_on=True, counting=inside
    )
    if not there.is_exact:
        return
    values = np.unique(cells[counting]).tolist()
    least = counts.model.new_int_var(0, 2**31, "")
    if len(values) < spread.domains:
        counts.model.add(least == 0)
    totals = {cell: sum_of(there.of(cell), table.get(cell, [])) for cell in values}
    for cell, total in totals.items():
        counts.model.add(least <= total)
        totals[cell] = total + int(most[cell] - row[cell])
    _bound(counts, item, spread, totals, least + spread.skew)


def _bound(
    counts: DomainCounts,
    item: Shape,
    spread: Spread,
    totals: Mapping[int, cp_model.LinearExpr],
    most: cp_model.LinearExpr,
) -> None:
    asks = item.neighbours.spread, item.demand
    shapes = [
        shape
        for shape, other in counts.items.items()
        if (other.neighbours.spread, other.demand) == asks
    ]
    for cell, here in counts.by_domain(spread.key, shapes)[0].items():
        row = counts.model.add(totals[cell] <= most)
        row.only_enforce_if(counts.some(here))


def _is_inside(
    counts: DomainCounts, shapes: Sequence[int], counting: Sequence[int]
) -> bool:
    nodes = set(counting)
    return all(
        nodes.issuperset(item.nodes)
        for item, terms in zip(counts.capacity.classes.items, counts.terms, strict=True)
        if any(shape in terms for shape in shapes)
    )
