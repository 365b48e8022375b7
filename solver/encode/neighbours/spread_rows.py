"""
Rows about pods that are spread over the domains of a topology key.
"""

import numpy as np

from models.neighbours import Spread
from solver.effort.cp_sat import cp_model
from solver.encode.neighbours.domain_counts import DomainCounts, selects, sum_of
from solver.problem.pod_shapes import Shape


def keep_even(counts: DomainCounts, item: Shape, spread: Spread) -> None:
    """
    Ensure that no domain with such a pod has more than the skew above any other.

    Nobody relies on who is moved and not spread as well, but it may be one too many.
    """
    key, pair = spread.key, (spread.pods, spread.key)
    counting = counts.around.spread.counting(item.neighbours, spread, item.demand)
    inside = frozenset(counting.tolist())
    said = {shape: other.neighbours for shape, other in counts.items.items()}
    like = [s for s, x in said.items() if x.is_spread(*pair)]
    table, over = counts.by_domain(key, like, inside)
    if over or not inside:
        return
    cells = counts.around.domains.of(key)
    row, most = counts.around.spread.both(pair, cells, counting)
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
    for total in totals.values():
        counts.model.add(least <= total)
    late = [s for s, x in said.items() if x.comes_perhaps(*pair)]
    perhaps = counts.by_domain(key, late, inside)[0]
    items, asks = counts.items.items(), (item.neighbours.spread, item.demand)
    same = [s for s, x in items if (x.neighbours.spread, x.demand) == asks]
    for cell, here in counts.by_domain(key, same)[0].items():
        if cell in totals:
            total = totals[cell] + int(most[cell] - row[cell])
            total += cp_model.LinearExpr.sum(perhaps.get(cell, []))
            counts.model.add(total <= least + spread.skew).only_enforce_if(
                counts.some(here)
            )
