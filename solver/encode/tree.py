"""
Trees with choice: at least K of the children, pods over several shapes, roles, domains.
"""

from collections.abc import Mapping

from ortools.sat.python import cp_model

from models.topology import TopologyDemand
from solver.encode.demand import Demand
from solver.encode.node_classes import Classes
from solver.encode.variables import ChoiceVars, Count, Linear
from solver.problem.domains import OUTSIDE
from solver.problem.gang_state import Standing
from solver.problem.problem import Problem
from solver.problem.running_domains import running_domains


def add_choice(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    demand: Demand,
    state: Standing,
    root: Count | None,
) -> ChoiceVars:
    """
    Ensure that a gang's tree gets pods only where all its minimums hold afterwards.
    """
    vars_ = ChoiceVars(state=state)
    for at, node in enumerate(state.nodes):
        pending = sum(len(state.leaves[i].pending) for i in node.leaves)
        if at == 0 and root is not None:
            vars_.active[at] = root
        elif pending:
            vars_.active[at] = Count(model.new_bool_var(""), 1)
    _add_leaves(model, problem, classes, demand, vars_)
    totals = {i: _total(vars_, i) for i in range(len(state.leaves))}
    add_minimums(model, state, vars_.active, totals)
    add_role_order(model, state, vars_.active)
    for at in range(len(state.nodes)):
        _add_required(model, problem, classes, vars_, at)
        _add_preferred(model, problem, classes, vars_, at)
    return vars_


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


def add_role_order(
    model: cp_model.CpModel, state: Standing, active: Mapping[int, Count]
) -> None:
    """
    Ensure that a leaf gets no pod before each leaf it comes after has its minimum.
    """
    node_of = {node.leaf: at for at, node in enumerate(state.nodes) if node.leaf >= 0}
    for i, leaf in enumerate(state.leaves):
        here = active.get(node_of[i])
        if here is None or here.variable is None:
            continue
        for first in leaf.after:
            if state.leaves[first].need == 0:
                continue
            earlier = active.get(node_of[first])
            if earlier is None or earlier.variable is None:
                model.add(here.variable == 0)
            else:
                model.add_implication(here.variable, earlier.variable)


def _add_leaves(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    demand: Demand,
    vars_: ChoiceVars,
) -> None:
    state = vars_.state
    for i, leaf in enumerate(state.leaves):
        level = _cell_level(problem, classes, state, i)
        vars_.level[i] = level
        if not leaf.pending:
            continue
        shape = problem.shapes.of_leaf[state.key, i]
        cells: list[int | None] = [None]
        if level >= 0:
            cells = [*range(len(classes.domain_names[level])), -1]
        for cell in cells:
            upper = len(leaf.pending)
            count = Count(model.new_int_var(0, upper, ""), upper)
            vars_.counts[i, cell] = count
            demand.add(shape, (level, cell), count, 1)


def _cell_level(problem: Problem, classes: Classes, state: Standing, leaf: int) -> int:
    """
    Find the finest level that a leaf or a node above it asks for; -1 is none.
    """
    finest = (-1, -1)
    for node in state.nodes:
        if leaf not in node.leaves or node.topology is None:
            continue
        levels = problem.topologies[node.topology.topology].levels
        for level in (node.topology.required, node.topology.preferred):
            if level is not None:
                at = classes.levels.index((node.topology.topology, level))
                finest = max(finest, (levels.index(level), at))
    return finest[1]


def _total(vars_: ChoiceVars, leaf: int) -> Linear:
    total = Linear()
    for (i, _), count in vars_.counts.items():
        if i == leaf:
            total.add(count.variable, 1, count.upper)
    return total


def _inside(
    classes: Classes, vars_: ChoiceVars, at: int, level: int
) -> dict[int, Linear]:
    """
    Add up a node's pods per domain of a level, from the finer cells of its leaves.
    """
    sums: dict[int, Linear] = {}
    for (i, cell), count in vars_.counts.items():
        if i not in vars_.state.nodes[at].leaves or cell is None:
            continue
        outer = -1
        if cell >= 0:
            outer = classes.outer(vars_.level[i], cell, level)
            outer = outer if classes.is_domain(level, outer) else -1
        sums.setdefault(outer, Linear()).add(count.variable, 1, count.upper)
    return sums


def _add_required(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    vars_: ChoiceVars,
    at: int,
) -> None:
    """
    Ensure that all pods below a node are in one domain: the one where it runs, if any.
    """
    demand = vars_.state.nodes[at].topology
    here = vars_.active.get(at)
    if demand is None or demand.required is None or here is None:
        return
    level = classes.levels.index((demand.topology, demand.required))
    allowed = _pinned(problem, classes, vars_.state, at, demand, level)
    chosen = []
    for domain, pods in _inside(classes, vars_, at, level).items():
        if domain < 0 or (allowed is not None and domain not in allowed):
            model.add(pods.expression == 0)
            continue
        pick = model.new_bool_var("")
        vars_.inside[at, domain] = pick
        chosen.append(pick)
        model.add(pods.expression <= pods.most * pick)
    if here.variable is not None:
        model.add(cp_model.LinearExpr.sum(chosen) == here.variable)
    elif chosen:
        model.add_at_most_one(chosen)


def _pinned(
    problem: Problem,
    classes: Classes,
    state: Standing,
    at: int,
    demand: TopologyDemand,
    level: int,
) -> set[int] | None:
    assert demand.required is not None
    used = running_domains(problem, state, state.nodes[at], demand, demand.required)
    if not used:
        return None
    if len(used) > 1 or OUTSIDE in used:
        return set()
    return {classes.domain_names[level].index(next(iter(used)))}


def _add_preferred(
    model: cp_model.CpModel,
    problem: Problem,
    classes: Classes,
    vars_: ChoiceVars,
    at: int,
) -> None:
    """
    Ensure that a preferred domain counts as used once it holds a pod of the node.
    """
    demand = vars_.state.nodes[at].topology
    here = vars_.active.get(at)
    if demand is None or demand.preferred is None or here is None:
        return
    level = classes.levels.index((demand.topology, demand.preferred))
    names = classes.domain_names[level]
    node = vars_.state.nodes[at]
    running = running_domains(problem, vars_.state, node, demand, demand.preferred)
    known = {-1 if d == OUTSIDE else names.index(d) for d in running}
    opened = []
    for domain, pods in _inside(classes, vars_, at, level).items():
        if domain in known:
            continue
        used = model.new_bool_var("")
        vars_.used[at, domain] = used
        opened.append(used)
        model.add(pods.expression <= pods.most * used)
    if not known and here.variable is not None:
        model.add(cp_model.LinearExpr.sum(opened) >= here.variable)
