"""
Minimums in a tree: pods of a leaf, K of the children of a node, pods below it.
"""

from collections.abc import Mapping

from solver.effort.cp_sat import cp_model
from solver.encode.variables import Count, Linear
from solver.problem.gang_state import Standing


def add_minimums(
    model: cp_model.CpModel,
    state: Standing,
    active: Mapping[int, Count],
    totals: Mapping[int, Linear],
) -> None:
    """
    Ensure that every active node is satisfied: leaf minimum, K children, pods below.

    For a leaf need × active ≤ pods ≤ pending × active; for an inner node the sum of
    live and active children ≥ K × active, and pods below ≥ missing × active.
    """
    for at, node in enumerate(state.nodes):
        here = active.get(at)
        if here is None or here.variable is None:
            continue
        on = here.variable
        if node.parent >= 0:
            above = active[node.parent].variable
            if above is not None:
                model.add_implication(on, above)
        if node.leaf >= 0:
            leaf = state.leaves[node.leaf]
            pods = totals[node.leaf].expression
            model.add(pods <= len(leaf.pending) * on)
            model.add(pods >= max(1, leaf.need) * on)
        else:
            _add_inner(model, state, active, totals, at)


def add_no_surplus(
    model: cp_model.CpModel,
    state: Standing,
    active: Mapping[int, Count],
    totals: Mapping[int, Linear],
) -> None:
    """
    Ensure that a leaf gets its minimum only, and a node no more than K children.

    Where pods below a node ask for more, or a role comes after one of another node,
    what is needed is left open.  Siblings in order need no more: without the last of
    them the others hold.
    """
    above = {node.leaf: node.parent for node in state.nodes if node.leaf >= 0}
    if any(node.min_pods for node in state.nodes) or any(
        above[first] != above[i]
        for i, leaf in enumerate(state.leaves)
        for first in leaf.after
    ):
        return
    for at, node in enumerate(state.nodes):
        on = active[at].variable if at in active else None
        if on is None:
            continue
        if node.leaf >= 0:
            given, need = totals[node.leaf].expression, state.leaves[node.leaf].need
        else:
            more = [active[c].chosen for c in node.children if c in active]
            given = cp_model.LinearExpr.sum(more)
            need = node.min_groups - sum(state.nodes[c].live for c in node.children)
        model.add(given <= (0 if node.live else max(1, need)) * on)


def _add_inner(
    model: cp_model.CpModel,
    state: Standing,
    active: Mapping[int, Count],
    totals: Mapping[int, Linear],
    at: int,
) -> None:
    node = state.nodes[at]
    on = active[at].chosen
    below = Linear()
    for i in node.leaves:
        below.extend(totals[i])
    missing = max(1, node.min_pods - node.counted)
    model.add(below.expression >= missing * on)
    live = Linear()
    for child in node.children:
        if state.nodes[child].live:
            live.constant += 1
        elif child in active and active[child].variable is not None:
            live.add(active[child].variable, 1, 1)
    if live.constant < node.min_groups:
        model.add(live.expression >= node.min_groups * on)
