"""
In which domains room for the pods of a tree node would cost least.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from solver.evict.greedy.node_offers import NodeOffers, Offers
from solver.place.round_state import RoundState
from solver.problem.gang_state import Standing, TreeNode
from solver.problem.node_room import Bools, Floats, Ints
from solver.problem.running_domains import used_cells


def cheapest_domains(
    work: RoundState,
    state: Standing,
    offers: NodeOffers,
    missing: Mapping[int, int],
    node: TreeNode,
    mask: Bools | None,
) -> Iterator[Bools]:
    """
    Walk the few domains in which the pods ``missing`` below a node would cost least.
    """
    demand = node.topology
    assert demand is not None
    assert demand.required is not None
    problem = work.problem
    cells = problem.domains.cells(demand.topology, demand.required)
    rows = work.placed.get(state.key, {})
    used = used_cells(problem, state, node, demand.required, rows)
    if 0 in used or len(used) > 1:
        return
    costs = np.zeros(len(cells.names))
    for leaf in node.leaves:
        if missing[leaf] > 0:
            costs += _costs_by_cell(
                work.room_for(state, leaf, mask),
                offers.of_all(leaf, missing[leaf], mask),
                missing[leaf],
                cells.of_node,
                len(costs),
            )
    costs[0] = np.inf
    order = np.argsort(costs, kind="stable")[: work.problem.tuning.evict.most_domains]
    for cell in [min(used)] if used else order.tolist():
        if np.isfinite(costs[cell]):
            inside = cells.mask([cell])
            yield inside if mask is None else inside & mask


def _costs_by_cell(
    free: Ints, offers: Offers, need: int, cell_of: Ints, number: int
) -> Floats:
    """
    Estimate per domain what the places of a leaf cost; infinite without enough.
    """
    rest = offers.most - offers.gain
    where = np.concatenate([np.arange(len(free)), offers.nodes, offers.nodes])
    prices = np.concatenate([np.zeros(len(free)), offers.ratio, offers.dearest])
    amounts = np.concatenate([free, offers.gain, rest])
    some = (amounts > 0) & np.isfinite(prices)
    where, prices, amounts = where[some], prices[some], amounts[some]
    cells = cell_of[where]
    order = np.lexsort((prices, cells))
    cells, prices, amounts = cells[order], prices[order], amounts[order]
    costs = np.full(number, np.inf)
    edges = np.searchsorted(cells, np.arange(number + 1))
    for cell in np.unique(cells).tolist():
        here = slice(edges[cell], edges[cell + 1])
        taken = np.minimum(np.cumsum(amounts[here]), need)
        if taken[-1] >= need:
            costs[cell] = float(np.diff(taken, prepend=0) @ prices[here])
    return costs
